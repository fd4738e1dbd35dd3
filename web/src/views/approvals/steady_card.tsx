/** The frame of a card that takes no press while it has not held still, and its buttons, which show that. */
import type { ComponentChildren, JSX } from 'preact';
import { useContext, useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { Button, type ButtonProps } from '../../ui';
import { Ended, endOf } from './resolution_line';
import { keepRest } from './keys';
import { Resting, useSteady } from './steady';
import { focusCame, focusLeft, forgetGone } from './typing';

export function SteadyCard({ ask, kind, labelledBy, children }: { ask: string; kind: string; labelledBy: string; children: ComponentChildren }): JSX.Element {
  const card = useRef<HTMLElement>(null);
  const { resting, rests } = useSteady(card);
  const end = endOf(ask);
  useEffect(() => keepRest(ask, rests), [ask]);
  useLayoutEffect(() => forgetGone(ask));
  useEffect(() => () => forgetGone(ask), [ask]);
  // What is open above the page (a sheet) does not move with the card, and who reads on decides nothing.
  const guard = (event: Event): void => {
    const pressed = event.target as HTMLElement;
    if (pressed.closest('dialog, .approvals-folded') || !pressed.closest('button, .ui-button') || !rests()) return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <article ref={card} class={`approvals-card approvals-card-${kind}`} aria-labelledby={labelledBy} tabIndex={-1} data-ask={ask} onClickCapture={guard}
      onFocusIn={(event) => focusCame(ask, event.target)} onFocusOut={(event) => focusLeft(ask, event.target)}>
      <Resting.Provider value={resting}><Ended.Provider value={end}>{children}</Ended.Provider></Resting.Provider>
    </article>
  );
}

/** A button of a card: while the card takes no press, or its ask is over, nobody is made to think that it does. */
export function CardButton({ disabled, ...rest }: ButtonProps): JSX.Element {
  const resting = useContext(Resting);
  const ended = useContext(Ended) !== null;
  return <Button {...rest} disabled={disabled || resting || ended} />;
}
