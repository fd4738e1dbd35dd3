/** A small word or number beside a thing. */
import type { ComponentChildren, JSX } from 'preact';

interface BadgeProps {
  children: ComponentChildren;
  tone?: 'plain' | 'accent' | 'good' | 'warn' | 'bad';
  title?: string;
}

export function Badge({ children, tone = 'plain', title }: BadgeProps): JSX.Element {
  return <span class={`ui-badge ui-badge-${tone}`} title={title}>{children}</span>;
}
