/**
 * A dialog: in the middle of a wide screen, from below on a narrow one.
 *
 * Rule: it is the browser's own modal dialog, which keeps the focus inside, closes with Escape and gives the focus back.
 */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { t } from '../i18n';
import { IconButton } from './button';

interface SheetProps {
  title: string;
  children: ComponentChildren;
  onClose: () => void;
  /** Buttons at its end. */
  actions?: ComponentChildren;
  wide?: boolean;
}

export function Sheet({ title, children, onClose, actions, wide }: SheetProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const shown = dialog.current;
    if (shown && !shown.open) shown.showModal();
    return () => shown?.close();
  }, []);
  const outside = (event: MouseEvent): void => {
    if (event.target === dialog.current) onClose();
  };
  const escaped = (event: Event): void => {
    event.preventDefault();
    onClose();
  };
  return (
    <dialog ref={dialog} class={wide ? 'ui-sheet ui-sheet-wide' : 'ui-sheet'} aria-labelledby={heading} onCancel={escaped} onClick={outside}>
      <div class="ui-sheet-body">
        <header class="ui-sheet-head">
          <h2 id={heading}>{title}</h2>
          <IconButton icon="close" label={t('common.close')} onClick={onClose} />
        </header>
        <div class="ui-sheet-content">{children}</div>
        {actions && <footer class="ui-sheet-actions">{actions}</footer>}
      </div>
    </dialog>
  );
}
