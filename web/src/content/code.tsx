// A file, or a piece of one: line numbers that a copy does not take, colours, and one line that is pointed at.

import type { JSX } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { t } from '../i18n';
import { languageByPath } from '../text/code/language';
import { fileWithin, withoutNumbers } from '../text/code/line_numbers';
import { pieces, type TokenLines } from '../text/code/tokens';
import { Copy } from '../ui';
import '../style/content/index.css';
import { Pieces } from './visible_text';
import { useTokens } from './use_tokens';
import { Windowed } from './windowed';

interface CodeViewProps {
  text: string;
  path?: string | undefined;
  /** The number of the first line; where it is not given, numbers in the text itself are used. */
  firstLine?: number | undefined;
  /** A line to show and to point at. */
  line?: number | null | undefined;
  /** Take all the room there is, instead of a box that scrolls. */
  whole?: boolean;
}

export const ROW_HEIGHT = 20;
const LONGEST_SHOWN = 2_000_000;

export function CodeView({ text, path = '', firstLine, line, whole = false }: CodeViewProps): JSX.Element {
  const code = useMemo(() => (firstLine === undefined ? fileWithin(text) ?? withoutNumbers(text) : null) ?? { text, firstLine: firstLine ?? 1 }, [text, firstLine]);
  const shown = code.text.length > LONGEST_SHOWN ? code.text.slice(0, LONGEST_SHOWN) : code.text;
  const lines = useMemo(() => shown.replace(/\n$/, '').split('\n'), [shown]);
  const tokens = useTokens(shown, languageByPath(path));
  const at = line == null ? undefined : line - code.firstLine;
  const digits = String(code.firstLine + lines.length).length;
  return (
    <div class={whole ? 'content-code content-code-whole' : 'content-code'}>
      <div class="content-code-tools"><Copy text={code.text} label={t('content.copyCode')} /></div>
      <div class="content-code-box" tabIndex={0} role="group" aria-label={path === '' ? t('content.code') : t('content.codeOf', { path })} style={{ '--digits': String(digits) }}>
        <div class="content-code-lines">
          <Windowed count={lines.length} rowHeight={ROW_HEIGHT} reveal={at}>
            {(start, end) => <Lines lines={lines} start={start} end={end} first={code.firstLine} tokens={tokens} at={at} />}
          </Windowed>
        </div>
      </div>
      {shown !== code.text && <p class="content-note">{t('content.cutFile')}</p>}
    </div>
  );
}

function Lines({ lines, start, end, first, tokens, at }: {
  lines: readonly string[]; start: number; end: number; first: number; tokens: TokenLines | null; at: number | undefined;
}): JSX.Element {
  return (
    <>
      {lines.slice(start, end).map((line, index) => (
        <CodeLine key={start + index} number={first + start + index} here={start + index === at}>
          <Pieces pieces={pieces(line, tokens?.[start + index])} />
        </CodeLine>
      ))}
    </>
  );
}

function CodeLine({ number, here, children }: { number: number; here: boolean; children: JSX.Element }): JSX.Element {
  const row = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (here) row.current?.scrollIntoView({ block: 'center' });
  }, [here]);
  return (
    <div ref={row} class={here ? 'content-line content-line-here' : 'content-line'} aria-current={here ? 'location' : undefined}>
      <span class="content-number" data-n={number} />
      <code>{children}{'\n'}</code>
    </div>
  );
}
