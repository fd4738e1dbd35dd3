// What a person wrote, as it is: of a long text its beginning, and all of it when somebody wants it.

import type { JSX } from 'preact';
import { t } from '../../../i18n';
import { ShowRest } from '../../../content/markdown/markdown';
import { VisibleText } from '../../../content/visible_text';
import { Button } from '../../../ui';
import { useOpenRow } from '../view_state';

/** More than a screen of a phone: what came before and after it is hard to find then. */
const LONG_LINES = 20;
const LONG_CHARACTERS = 3_000;
const SHOWN_LINES = 10;
const SHOWN_CHARACTERS = 1_500;

/** The beginning of a text that is too long to be shown whole; undefined where it is not. */
export function beginningOf(text: string): string | undefined {
  const lines = text.split('\n', LONG_LINES + 1);
  if (lines.length <= LONG_LINES && text.length <= LONG_CHARACTERS) return undefined;
  const first = lines.slice(0, SHOWN_LINES).join('\n');
  return first.length <= SHOWN_CHARACTERS ? first : cutAt(first, SHOWN_CHARACTERS);
}

/** Up to the last word that fits, or the last whole character. */
function cutAt(text: string, most: number): string {
  const cut = text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '');
  return /^\S/.test(text.slice(cut.length)) ? cut.replace(/(\s)\S{1,80}$/, '$1') : cut;
}

/** How many lines a text has. */
function linesIn(text: string): number {
  let count = 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

interface OwnTextProps {
  text: string;
  /** The row that it is in. */
  rowKey: string;
  /** What is not here yet: how long all of it is, and a way to fetch it. */
  rest?: { bytes: number; load: () => Promise<void> } | undefined;
}

export function OwnText({ text, rowKey, rest }: OwnTextProps): JSX.Element {
  const [open, toggle] = useOpenRow(rowKey);
  const beginning = open ? undefined : beginningOf(text);
  const show = ({ currentTarget }: MouseEvent): void => {
    (currentTarget as HTMLElement).closest<HTMLElement>('.session-row')?.focus({ preventScroll: true }); // the button goes
    toggle();
  };
  if (beginning !== undefined) {
    return (
      <>
        <p class="session-plain" dir="auto"><VisibleText text={beginning} /> …</p>
        <Button kind="quiet" icon="chevron-down" onClick={show}>{rest ? t('content.showMore') : t('content.showAll', { n: linesIn(text) })}</Button>
      </>
    );
  }
  return (
    <>
      <p class="session-plain" dir="auto"><VisibleText text={text} /></p>
      {rest && <ShowRest bytes={rest.bytes - new TextEncoder().encode(text).length} load={rest.load} />}
    </>
  );
}
