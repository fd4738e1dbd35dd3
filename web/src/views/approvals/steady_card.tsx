/** The frame of a card that takes no press while it has not held still, and its buttons, which show that. What is pressed all the same
 * is answered: a button that is disabled would swallow the press. */
import type { ComponentChildren, JSX } from 'preact';
import { useContext, useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { Button, type ButtonProps } from '../../ui';
import { Ended, endOf } from './resolution_line';
import { keepRest } from './keys';
import { CardOf, refuse, whyResting } from './refusals';
import { Resting, useSteady } from './steady';
import { focusCame, focusLeft, forgetGone } from './typing';

export function SteadyCard({ ask, kind, labelledBy, children }: { ask: string; kind: string; labelledBy: string; children: ComponentChildren }): JSX.Element {
  const card = useRef<HTMLElement>(null);
  const { resting, refusal } = useSteady(card);
  const end = endOf(ask);
  useEffect(() => keepRest(ask, refusal), [ask]);
  useLayoutEffect(() => forgetGone(ask));
  useEffect(() => () => forgetGone(ask), [ask]);
  // What is open above the page (a sheet) does not move with the card, and who reads on decides nothing.
  const guard = (event: Event): void => {
    const pressed = event.target as HTMLElement;
    if (pressed.closest('dialog, .approvals-folded') || !pressed.closest('button, .ui-button')) return;
    const why = refusal();
    if (why === null) return;
    event.preventDefault();
    event.stopPropagation();
    refuse(ask, why);
  };
  // Who holds a key down pressed once: what the first press opened is not what the next ones were meant for.
  const guardHeld = (event: KeyboardEvent): void => {
    const on = event.target as HTMLElement;
    if (!event.repeat || event.key !== 'Enter' || on.closest('dialog, textarea')) return;
    event.preventDefault();
    refuse(ask, 'held');
  };
  return (
    <article ref={card} class={`approvals-card approvals-card-${kind}`} aria-labelledby={labelledBy} tabIndex={-1} data-ask={ask} onClickCapture={guard} onKeyDownCapture={guardHeld}
      onFocusIn={(event) => focusCame(ask, event.target)} onFocusOut={(event) => focusLeft(ask, event.target)}>
      <CardOf.Provider value={ask}>
        <Resting.Provider value={resting}><Ended.Provider value={end}>{children}</Ended.Provider></Resting.Provider>
      </CardOf.Provider>
    </article>
  );
}

/** A button of a card: while the card takes no press, or its ask is over, nobody is made to think that it does. */
export function CardButton({ disabled, title, ...rest }: ButtonProps): JSX.Element {
  const resting = useContext(Resting);
  const ended = useContext(Ended) !== null;
  return <Button {...rest} disabled={disabled || ended} resting={resting !== null} title={resting === null ? title : whyResting(resting)} />;
}
