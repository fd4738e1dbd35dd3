// What a run of calls did, in numbers. Pure.
//
// Rule: only what is over was done. What runs or waits is counted by itself.

import type { Call, Item, ToolItem } from './items';
import { isOver } from './tool_call_state';

type CallAction = 'read' | 'edited' | 'wrote' | 'ran' | 'searched' | 'fetched' | 'todos' | 'used';

/** How many are not over, and whether all of them are commands. */
interface Open {
  count: number;
  commands: boolean;
}

interface CallSummary {
  /** How often, in the order of the first time. Files are counted once each. */
  counts: { action: CallAction; count: number; name?: string }[];
  failed: number;
  /** Calls that nobody let happen: they did nothing, and nothing in them failed. */
  denied: number;
  running: Open;
  /** Calls that wait for somebody to decide. */
  waiting: Open;
  linesAdded: number;
  linesRemoved: number;
  durationMs: number;
}

const BY_ROLE: Record<string, CallAction> = { search: 'searched', todos: 'todos' };
const BY_CATEGORY: Record<string, CallAction> = {
  file_read: 'read', file_write: 'wrote', file_edit: 'edited', terminal: 'ran', search: 'searched', web: 'fetched', git: 'ran',
};

/** What a call does: by what its tool is for, as the hub read it. */
export function actionOf(call: Pick<Call, 'category' | 'reading'>): CallAction {
  return BY_ROLE[call.reading?.role ?? ''] ?? BY_CATEGORY[call.category] ?? 'used';
}

export function summaryOf(members: readonly Item[]): CallSummary {
  const counted = new Map<string, { action: CallAction; name?: string; things: Set<string> }>();
  const summary: CallSummary = { counts: [], failed: 0, denied: 0, running: none(), waiting: none(), linesAdded: 0, linesRemoved: 0, durationMs: 0 };
  for (const member of members) if (member.kind === 'tool') count(member, counted, summary);
  summary.counts = [...counted.values()].map(({ action, name, things }) => ({ action, count: things.size, ...(name !== undefined ? { name } : {}) }));
  return summary;
}

function count(tool: ToolItem, counted: Map<string, { action: CallAction; name?: string; things: Set<string> }>, summary: CallSummary): void {
  const call = tool.call.peek();
  if (call.status === 'failed' && call.error?.code === 'denied') {
    summary.denied += 1;
    return;
  }
  const action = actionOf(call);
  if (!isOver(call) && !call.abandoned) {
    const open = call.waits ? summary.waiting : summary.running;
    open.count += 1;
    open.commands &&= action === 'ran';
    return;
  }
  const id = action === 'used' ? `used ${call.name}` : action;
  const entry = counted.get(id) ?? { action, things: new Set<string>(), ...(action === 'used' ? { name: call.name } : {}) };
  counted.set(id, entry);
  entry.things.add(subjectOf(tool));
  if (call.status === 'failed') summary.failed += 1;
  for (const change of call.changes) {
    summary.linesAdded += change.linesAdded ?? 0;
    summary.linesRemoved += change.linesRemoved ?? 0;
  }
  summary.durationMs += call.durationMs ?? 0;
}

function none(): Open {
  return { count: 0, commands: true };
}

/** What is counted once: a file for calls about files, else the call itself. */
function subjectOf(tool: ToolItem): string {
  const call = tool.call.peek();
  const action = actionOf(call);
  if (action !== 'read' && action !== 'edited' && action !== 'wrote') return tool.key;
  return call.changes[0]?.path ?? call.reading?.paths?.[0] ?? tool.key;
}
