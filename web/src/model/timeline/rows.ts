// The rows of the list: items in their order, runs of calls folded into a group, sub-agents nested. Pure.
//
// Rule 1: a closed group or sub-agent hides nothing that needs somebody: what waits, runs or failed stays in view.
// Rule 2: a row's key is the key of what it shows, so that a row keeps its place and height when older pages come.
// Rule 3: what a closed row hides is not looked at beyond that: the cost is that of the list's length.

import type { ApprovalItem, Item, QuestionItem, SubagentItem } from './items';

export type Row =
  | { kind: 'item'; key: string; item: Item; depth: number }
  | { kind: 'group'; key: string; members: readonly Item[]; open: boolean; depth: number };

interface Showing {
  /** Whether somebody opened or closed it; undefined: nobody did. */
  isOpen(key: string): boolean | undefined;
  /** Show every detail. */
  details: boolean;
  /** The ask in whose card somebody types: it is shown as if it waited. */
  typedIn?: string | null;
}

const LEAST_CALLS = 2;

export function rowsOf(items: readonly Item[], showing: Showing): Row[] {
  const rows: Row[] = [];
  collect(items, showing, 0, rows);
  return rows;
}

function collect(items: readonly Item[], showing: Showing, depth: number, rows: Row[]): void {
  const calls = callIds(items);
  const same = showing.details ? new Set<Item>() : unchangedModes(items);
  const shown = items.filter((item) => isShown(item, showing, calls) && !same.has(item));
  for (let index = 0; index < shown.length; ) {
    const end = endOfRun(shown, index);
    if (end > index) {
      addGroup(shown.slice(index, end), showing, depth, rows);
      index = end;
    } else {
      addItem(shown[index]!, showing, depth, rows);
      index += 1;
    }
  }
}

function addItem(item: Item, showing: Showing, depth: number, rows: Row[]): void {
  rows.push({ kind: 'item', key: item.key, item, depth });
  if (item.kind !== 'subagent') return;
  if (showing.isOpen(item.key)) collect(item.children, showing, depth + 1, rows);
  else for (const child of waitingIn(item, showing)) rows.push({ kind: 'item', key: child.key, item: child, depth: depth + 1 });
}

function addGroup(members: readonly Item[], showing: Showing, depth: number, rows: Row[]): void {
  const key = groupKey(members[0]!);
  const open = showing.isOpen(key) ?? false;
  rows.push({ kind: 'group', key, members, open, depth });
  for (const member of members) {
    if (open || isLoud(member, showing)) rows.push({ kind: 'item', key: member.key, item: member, depth: depth + 1 });
  }
}

function groupKey(first: Item): string {
  return `G:${first.key}`;
}

/** Where the run that begins here ends: after its last call. The beginning itself where there is none worth folding. */
function endOfRun(items: readonly Item[], from: number): number {
  if (items[from]!.kind !== 'tool') return from;
  let calls = 0;
  let end = from;
  for (let index = from; index < items.length && isOfRun(items[index]!); index += 1) {
    if (items[index]!.kind === 'thinking') continue;
    end = index + 1;
    if (items[index]!.kind === 'tool') calls += 1;
  }
  return calls >= LEAST_CALLS ? end : from;
}

function isOfRun(item: Item): boolean {
  return item.kind === 'tool' || item.kind === 'thinking' || item.kind === 'approval' || item.kind === 'git' || (item.kind === 'notice' && item.aside);
}

/** What a closed group shows all the same. */
function isLoud(item: Item, showing: Showing): boolean {
  switch (item.kind) {
    case 'tool': return item.call.peek().status !== 'completed' && !item.call.peek().left;
    case 'approval': return waits(item, showing);
    case 'git': return item.operation.kind === 'commit' || item.operation.kind === 'pr_create' || item.operation.kind === 'push';
    default: return false;
  }
}

/** What waits for somebody anywhere below. */
function waitingIn(subagent: SubagentItem, showing: Showing): Item[] {
  return subagent.children.flatMap((child) => {
    if (child.kind === 'subagent') return waitingIn(child, showing);
    return (child.kind === 'approval' || child.kind === 'question') && waits(child, showing) ? [child] : [];
  });
}

function waits(item: ApprovalItem | QuestionItem, { typedIn }: Showing): boolean {
  return item.resolved.peek() === undefined || typedIn === (item.kind === 'approval' ? item.requestId : item.questionId);
}

function callIds(items: readonly Item[]): Set<string> {
  const found = new Set<string>();
  for (const item of items) if (item.kind === 'tool' || item.kind === 'subagent') found.add(item.callId);
  return found;
}

/** Tellings of a mode that it was in already. Plan mode is told by notices of its own. */
function unchangedModes(items: readonly Item[]): Set<Item> {
  const found = new Set<Item>();
  let mode: string | undefined;
  for (const item of items) {
    if (item.kind !== 'notice') continue;
    if (item.name === 'plan_entered' || item.name === 'plan_left') mode = undefined;
    if (item.name !== 'current_mode_update') continue;
    const { text } = item.state.peek();
    if (text === mode) found.add(item);
    mode = text;
  }
  return found;
}

/** Asides are for who wants them; a decision is shown on its call. */
function isShown(item: Item, showing: Showing, calls: ReadonlySet<string>): boolean {
  if (item.kind === 'notice') return !item.aside || showing.details;
  if (item.kind === 'approval') return showing.details || waits(item, showing) || !calls.has(item.callId);
  return true;
}
