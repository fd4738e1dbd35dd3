// One block of markdown as elements. A top-level block reads in the direction of its words, with all that is in it: an element with a
// direction of its own has no say in that of what is around it. Code has one: it reads from left to right.

import type { Token, Tokens } from 'marked';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../../i18n';
import type { BlockToken, OpenCode } from '../../text/markdown/lexer';
import type { Block } from '../../text/markdown/stream';
import { safeTree } from '../../text/markdown/sanitise';
import { Button } from '../../ui';
import { CodeBlock } from './code_block';
import { type Direction, Heading, Inline, Nodes } from './inline';
import { skipUnchanged } from '../skip_unchanged';
import { VisibleText } from '../visible_text';

const FIRST_ITEMS = 200;
const FIRST_CELLS = 2_000;
const MOST_COLUMNS = 200;
const MORE_TIMES = 4;

/** How many blocks were drawn since the page was loaded: what tests measure. */
export const drawn = { blocks: 0 };

/** A top-level block; drawn again only when it is another one. */
export const BlockView = skipUnchanged(({ block }: { block: Block }): JSX.Element => {
  drawn.blocks += 1;
  return <One token={block.token} open={block.open} dir="auto" />;
});

function One({ token, open, dir }: { token: BlockToken; open: boolean; dir?: Direction }): JSX.Element | null {
  switch (token.type) {
    case 'open_code': return <CodeBlock info={(token as OpenCode).info} live={token as OpenCode} />;
    case 'code': return <CodeBlock text={(token as Tokens.Code).text} info={(token as Tokens.Code).lang ?? ''} open={open} />;
    case 'heading': return <Heading depth={(token as Tokens.Heading).depth} dir={dir}><Inline tokens={(token as Tokens.Heading).tokens} /></Heading>;
    case 'paragraph': return <p dir={dir}><Inline tokens={(token as Tokens.Paragraph).tokens} /></p>;
    case 'blockquote': return <blockquote dir={dir}><Many tokens={(token as Tokens.Blockquote).tokens} open={open} /></blockquote>;
    case 'list': return <ListView list={token as Tokens.List} open={open} dir={dir} />;
    case 'table': return <TableView table={token as Tokens.Table} dir={dir} />;
    case 'hr': return <hr />;
    case 'html': return <Markup raw={token.raw} dir={dir} />;
    case 'text': return <Inline tokens={(token as Tokens.Text).tokens ?? [token as Token]} />;
    case 'space': case 'def': case 'checkbox': return null;
    default: return <p class="content-literal" dir={dir}><VisibleText text={token.raw} /></p>;
  }
}

function Many({ tokens, open }: { tokens: readonly Token[]; open: boolean }): JSX.Element {
  return <>{tokens.map((token, index) => <One key={index} token={token} open={open} />)}</>;
}

/** Of the items of a list, or the rows of a table, the first ones; the rest page by page. */
function useSome<T>(all: readonly T[], first: number): { some: readonly T[]; more: JSX.Element | null } {
  const [shown, setShown] = useState(first);
  const more = all.length > shown ? <Button kind="quiet" onClick={() => setShown(shown * MORE_TIMES)}>{t('content.moreEntries', { n: all.length - shown })}</Button> : null;
  return { some: more === null ? all : all.slice(0, shown), more };
}

function ListView({ list, open, dir }: { list: Tokens.List; open: boolean; dir: Direction }): JSX.Element {
  const { some, more } = useSome(list.items, FIRST_ITEMS);
  const items = [...some.map((item, index) => <ItemView key={index} item={item} open={open} />), more === null ? null : <li key="more">{more}</li>];
  return list.ordered ? <ol dir={dir} start={Number.isInteger(list.start) ? Number(list.start) : 1}>{items}</ol> : <ul dir={dir}>{items}</ul>;
}

function ItemView({ item, open }: { item: Tokens.ListItem; open: boolean }): JSX.Element {
  return (
    <li class={item.task ? 'content-task' : undefined}>
      {item.task && <input type="checkbox" checked={item.checked === true} disabled aria-label={t(item.checked === true ? 'content.taskDone' : 'content.taskOpen')} />}
      <Many tokens={item.tokens} open={open} />
    </li>
  );
}

function TableView({ table, dir }: { table: Tokens.Table; dir: Direction }): JSX.Element {
  const { some, more } = useSome(table.rows, Math.max(1, Math.floor(FIRST_CELLS / table.header.length)));
  if (table.header.length > MOST_COLUMNS) return <p class="content-literal"><VisibleText text={table.raw} /></p>;
  const cell = (each: Tokens.TableCell): string | undefined => (each.align === null ? undefined : `content-align-${each.align}`);
  return (
    <div class="content-table" dir={dir} tabIndex={0} role="group" aria-label={t('content.table')}>
      <table>
        <thead><tr>{table.header.map((each, index) => <th key={index} class={cell(each)} scope="col"><Inline tokens={each.tokens} /></th>)}</tr></thead>
        <tbody>{some.map((row, at) => <tr key={at}>{row.map((each, index) => <td key={index} class={cell(each)}><Inline tokens={each.tokens} /></td>)}</tr>)}</tbody>
      </table>
      {more}
    </div>
  );
}

/** HTML that an agent wrote: rendered where all of it is allowed, else shown as it is written. */
function Markup({ raw, dir }: { raw: string; dir: Direction }): JSX.Element | null {
  const markup = withoutHalfDetails(raw);
  if (markup.trim() === '') return null;
  const tree = safeTree(markup);
  if (tree === null) return <p class="content-literal"><VisibleText text={raw.trimEnd()} /></p>;
  return <div class="content-markup" dir={dir}><Nodes nodes={tree} /></div>;
}

/** `<details>` that ends in another block would hide nothing: its summary becomes a line. */
function withoutHalfDetails(raw: string): string {
  const opens = /<details[\s>]/i.test(raw);
  const closes = /<\/details\s*>/i.test(raw);
  if (opens === closes) return raw;
  return raw.replace(/<\/?details[^>]*>/gi, '').replace(/<(\/?)summary[^>]*>/gi, '<$1strong>');
}
