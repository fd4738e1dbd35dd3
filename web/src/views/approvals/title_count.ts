/** How many things wait for somebody, in front of the window's title and on the app's icon where there is one. */
import { effect } from '@preact/signals';
import { pending } from '../../hub/session_list';

/** A view may give the window another title at any time: the number is put in front of that one too. */
export function countInTitle(): void {
  effect(() => {
    const count = pending.value.length;
    writeCount(count);
    const icon = navigator as { setAppBadge?: (count: number) => Promise<void> };
    icon.setAppBadge?.(count).catch(() => undefined);
  });
  const title = document.querySelector('title');
  if (title) new MutationObserver(() => writeCount(pending.peek().length)).observe(title, { childList: true, characterData: true, subtree: true });
}

function writeCount(count: number): void {
  const plain = document.title.replace(/^\(\d+\) /, '');
  const wanted = count ? `(${count}) ${plain}` : plain;
  if (document.title !== wanted) document.title = wanted;
}
