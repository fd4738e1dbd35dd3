/** Lines that may be too many for the screen: the first of them, how many more there are, and all of them on request. */
import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { t } from '../../../i18n';
import { Icon } from '../../../ui';

export function Folded({ children }: { children: ComponentChildren }): JSX.Element {
  const lines = useRef<HTMLPreElement>(null);
  const [open, setOpen] = useState(false);
  const hidden = useHiddenLines(lines, open);
  return (
    <div class="approvals-folded">
      <pre ref={lines} class={open ? 'approvals-unfolded' : undefined}><code>{children}</code></pre>
      {hidden > 0 && <button type="button" class="approvals-more" onClick={() => setOpen(true)}><Icon name="chevron-down" size={16} />{t('approvals.moreLines', { n: hidden })}</button>}
    </div>
  );
}

/** How many lines are cut off, as they are broken on this screen. Known before the browser paints, and when the screen is turned. */
function useHiddenLines(lines: { current: HTMLElement | null }, open: boolean): number {
  const [hidden, setHidden] = useState(0);
  useLayoutEffect(() => {
    const box = lines.current;
    if (box === null || typeof ResizeObserver === 'undefined') return undefined;
    const look = (): void => setHidden(hiddenIn(box));
    look();
    const observer = new ResizeObserver(look);
    observer.observe(box);
    return () => observer.disconnect();
  }, [open]);
  return hidden;
}

function hiddenIn(box: HTMLElement): number {
  if (box.scrollHeight - box.clientHeight < 1) return 0;
  const style = getComputedStyle(box);
  const [line, top] = [Number.parseFloat(style.lineHeight), Number.parseFloat(style.paddingTop)];
  return Math.round((box.scrollHeight - top) / line) - Math.floor((box.clientHeight - top) / line);
}
