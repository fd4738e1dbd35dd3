// Why a call failed, in the words that came with it.
//
// Rule 1: what stands in the output below is not shown a second time.
// Rule 2: controls are carried out as a terminal would, and a long text is cut; more of it is shown when somebody wants it.

import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { t } from '../../../i18n';
import { VisibleText } from '../../../content/visible_text';
import { ansiLines, plainOf } from '../../../text/terminal/ansi';
import { Button } from '../../../ui';

const SHOWN_FIRST = 1_000;
/** More than this is not worth reading in a line of red; the end of it says why. */
const READ_MOST = 20_000;

export function ToolError({ message, output }: { message: string; output: string }): JSX.Element | null {
  const [whole, setWhole] = useState(false);
  const text = useMemo(() => withoutOutput(printedOf(message), printedOf(output)), [message, output]);
  if (text === '') return null;
  const cut = !whole && text.length > SHOWN_FIRST;
  return (
    <p class="session-error-text">
      <VisibleText text={cut ? `${text.slice(0, SHOWN_FIRST)}…` : text} />
      {cut && <Button kind="quiet" onClick={() => setWhole(true)}>{t('content.showMore')}</Button>}
    </p>
  );
}

function printedOf(text: string): string {
  return plainOf(ansiLines(text.slice(-READ_MOST))).trim();
}

/** What a message says beside what was printed; '' where it says nothing more. */
export function withoutOutput(message: string, output: string): string {
  if (output === '') return message;
  const same = (text: string): string => text.replace(/\s+/g, ' ');
  if (same(output).includes(same(message)) || (message.length >= READ_MOST / 2 && same(output).endsWith(same(message).slice(-1_000)))) return '';
  const at = message.indexOf(output);
  return at === -1 ? message : `${message.slice(0, at)}${message.slice(at + output.length)}`.trim();
}
