// One row of the conversation, whatever it is. Drawn again only when it is another row.

import type { JSX } from 'preact';
import { memo } from 'preact/compat';
import { whoIs } from '../../../hub/people';
import { t } from '../../../i18n';
import type { Item } from '../../../model/timeline/items';
import type { Row } from '../../../model/timeline/rows';
import { ApprovalRow, QuestionRow } from './approval';
import { ErrorRow } from './error';
import { GroupRow } from './group';
import { MessageRow } from './message';
import { beginningOf } from './own_text';
import { ChangesRow, GitRow, NoticeRow, PlanRow, TurnEndRow, WebRow } from './notices';
import { SubagentRow } from './subagent';
import { ThinkingRow } from './thinking';
import { ToolRow } from './tool_card';

interface RowProps {
  row: Row;
  /** Somebody came here by a link to it. */
  target: boolean;
}

export const RowView = memo(function RowView({ row, target }: RowProps): JSX.Element {
  const kind = row.kind === 'group' ? 'group' : row.item.kind;
  return (
    <div class={`session-row session-row-${kind}${target ? ' session-row-target' : ''}`} data-key={row.key} data-depth={row.depth || undefined}
      style={row.depth > 0 ? { '--depth': row.depth } : undefined} role="article" aria-label={labelOf(row)} tabIndex={-1}>
      {row.kind === 'group' ? <GroupRow row={row} /> : <ItemView item={row.item} />}
    </div>
  );
}, isSame);

function isSame(before: RowProps, after: RowProps): boolean {
  const [a, b] = [before.row, after.row];
  if (before.target !== after.target || a.kind !== b.kind || a.key !== b.key || a.depth !== b.depth) return false;
  if (a.kind === 'item') return b.kind === 'item' && a.item === b.item;
  return b.kind === 'group' && a.open === b.open && a.members.length === b.members.length && a.members.every((member, at) => member === b.members[at]);
}

function ItemView({ item }: { item: Item }): JSX.Element {
  switch (item.kind) {
    case 'message': return <MessageRow item={item} />;
    case 'thinking': return <ThinkingRow item={item} />;
    case 'tool': return <ToolRow item={item} />;
    case 'subagent': return <SubagentRow item={item} />;
    case 'approval': return <ApprovalRow item={item} />;
    case 'question': return <QuestionRow item={item} />;
    case 'notice': return <NoticeRow item={item} />;
    case 'changes': return <ChangesRow item={item} />;
    case 'git': return <GitRow item={item} />;
    case 'web': return <WebRow item={item} />;
    case 'plan': return <PlanRow item={item} />;
    case 'error': return <ErrorRow item={item} />;
    case 'turn_end': return <TurnEndRow item={item} />;
  }
}

function labelOf(row: Row): string | undefined {
  if (row.kind === 'group') return undefined;
  const { item } = row;
  if (item.kind === 'message') {
    const who = item.role === 'assistant' ? t('session.agent') : item.role === 'user' ? whoIs(item.state.peek().by ?? t('session.you')) : t('session.system');
    return t('session.saidBy', { who });
  }
  if (item.kind === 'approval') return t('session.approval');
  if (item.kind === 'question') return t('session.question');
  if (item.kind === 'plan') return t('session.plan');
  return undefined;
}

const TEXT_LINE = 22;
const CHARS_IN_LINE = 90;

/** A guess of a row's height, until it is drawn. */
export function guessHeight(row: Row): number {
  if (row.kind === 'group') return 38;
  const { item } = row;
  switch (item.kind) {
    case 'message': {
      const whole = item.text.peek();
      const text = item.role === 'user' ? beginningOf(whole) ?? whole : whole;
      return 56 + TEXT_LINE * Math.min(400, Math.ceil(text.length / CHARS_IN_LINE) + newlinesIn(text) / 2);
    }
    case 'tool': return item.call.peek().status === 'failed' ? 150 : 38;
    case 'approval': return item.resolved.peek() === undefined ? 260 : 36;
    case 'question': return item.resolved.peek() === undefined ? 240 : 60;
    case 'plan': return 180;
    case 'error': return 96;
    case 'subagent': return 38;
    case 'thinking': return 38;
    default: return 34;
  }
}

function newlinesIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1 && count < 400; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
