/** The frame of a card that takes no press while it has not held still, and its buttons, which show that. */
import type { ComponentChildren, JSX } from 'preact';
import { useContext, useEffect, useRef } from 'preact/hooks';
import { Button, type ButtonProps } from '../../ui';
import { keepRest } from './keys';
import { Resting, useSteady } from './steady';

export function SteadyCard({ ask, kind, labelledBy, children }: { ask: string; kind: string; labelledBy: string; children: ComponentChildren }): JSX.Element {
  const card = useRef<HTMLElement>(null);
  const { resting, rests } = useSteady(card);
  useEffect(() => keepRest(ask, rests), [ask]);
  // What is open above the page (a sheet) does not move with the card.
  const guard = (event: Event): void => {
    if ((event.target as HTMLElement).closest('dialog') || !(event.target as HTMLElement).closest('button, .ui-button') || !rests()) return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <article ref={card} class={`approvals-card approvals-card-${kind}`} aria-labelledby={labelledBy} tabIndex={-1} data-ask={ask} onClickCapture={guard}>
      <Resting.Provider value={resting}>{children}</Resting.Provider>
    </article>
  );
}

/** A button of a card: while the card takes no press, nobody is made to think that it does. */
export function CardButton({ disabled, ...rest }: ButtonProps): JSX.Element {
  const resting = useContext(Resting);
  return <Button {...rest} disabled={disabled || resting} />;
}
