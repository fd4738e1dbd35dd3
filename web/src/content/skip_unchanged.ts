// Parts that are drawn anew only when what they show is another thing.

import { Component, type ComponentChild, type FunctionComponent } from 'preact';

/** The component, skipped while its props are the same; lists are compared by what is in them. */
export function skipUnchanged<P extends object>(Inner: FunctionComponent<P>): new (props: P) => Component<P> {
  return class extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      return (Object.keys(next) as (keyof P)[]).some((key) => !same(this.props[key], next[key]));
    }

    override render(): ComponentChild {
      return Inner(this.props as P) as ComponentChild;
    }
  };
}

function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
  return a.every((each, index) => each === b[index]);
}
