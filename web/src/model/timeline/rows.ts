// The rows of the list: items in their order, runs of calls folded into a group, sub-agents nested. Pure.
//
// Rule 1: a closed group or sub-agent hides nothing that needs somebody: what waits, runs or failed stays in view.
// Rule 2: a row's key is the key of what it shows, so that a row keeps its place and height when older pages come.
// Rule 3: what a closed row hides is not looked at beyond that: the cost is that of the list's length.

import type { ApprovalItem, Item, QuestionItem, SubagentItem } from './items';

export type Row =
  | { kind: 'item'; key: string; item: Item; depth: number }
  | { kind: 'group'; key: string; members: readonly Item[]; open: boolean; depth: number };

interface RowOptions {
  /** Whether somebody opened or closed it; undefined: nobody did. */
  isOpen(key: string): boolean | undefined;
  /** Show every detail. */
  details: boolean;
  /** The ask in whose card somebody types: it is shown as if it waited. */
  typedIn?: string | null;
}

const LEAST_CALLS = 2;

export function rowsOf(items: readonly Item[], options: RowOptions): Row[] {
  const rows: Row[] = [];
  collect(items, options, 0, rows);
  return rows;
}

function collect(items: readonly Item[], options: RowOptions, depth: number, rows: Row[]): void {
  const calls = callIds(items);
  const same = options.details ? new Set<Item>() : unchangedModes(items);
  const shown = items.filter((item) => isShown(item, options, calls) && !same.has(item));
  for (let index = 0; index < shown.length; ) {
    const end = endOfRun(shown, index);
    if (end > index) {
      addGroup(shown.slice(index, end), options, depth, rows);
      index = end;
    } else {
      addItem(shown[index]!, options, depth, rows);
      index += 1;
    }
  }
}

function addItem(item: Item, options: RowOptions, depth: number, rows: Row[]): void {
  rows.push({ kind: 'item', key: item.key, item, depth });
  if (item.kind !== 'subagent') return;
  if (options.isOpen(item.key)) collect(item.children, options, depth + 1, rows);
  else for (const child of waitingIn(item, options)) rows.push({ kind: 'item', key: child.key, item: child, depth: depth + 1 });
}

function addGroup(members: readonly Item[], options: RowOptions, depth: number, rows: Row[]): void {
  const key = groupKey(members[0]!);
  const open = options.isOpen(key) ?? false;
  rows.push({ kind: 'group', key, members, open, depth });
  for (const member of members) {
    if (open || isLoud(member, options)) rows.push({ kind: 'item', key: member.key, item: member, depth: depth + 1 });
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
function isLoud(item: Item, options: RowOptions): boolean {
  switch (item.kind) {
    case 'tool': return item.call.peek().status !== 'completed' && !item.call.peek().abandoned;
    case 'approval': return waits(item, options);
    case 'git': return item.operation.kind === 'commit' || item.operation.kind === 'pr_create' || item.operation.kind === 'push';
    default: return false;
  }
}

/** What waits for somebody anywhere below. */
function waitingIn(subagent: SubagentItem, options: RowOptions): Item[] {
  return subagent.children.flatMap((child) => {
    if (child.kind === 'subagent') return waitingIn(child, options);
    return (child.kind === 'approval' || child.kind === 'question') && waits(child, options) ? [child] : [];
  });
}

function waits(item: ApprovalItem | QuestionItem, { typedIn }: RowOptions): boolean {
  return item.resolved.peek() === undefined || typedIn === (item.kind === 'approval' ? item.requestId : item.questionId);
}

function callIds(items: readonly Item[]): Set<string> {
  const found = new Set<string>();
  for (const item of items) if (item.kind === 'tool' || item.kind === 'subagent') found.add(item.callId);
  return found;
}

/** Notices of a mode that it was in already. Plan mode has notices of its own. */
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
function isShown(item: Item, options: RowOptions, calls: ReadonlySet<string>): boolean {
  if (item.kind === 'notice') return !item.aside || options.details;
  if (item.kind === 'approval') return options.details || waits(item, options) || !calls.has(item.callId);
  return true;
}
