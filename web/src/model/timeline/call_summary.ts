// What a run of calls did, in numbers. Pure.

import type { Call, Item, ToolItem } from './items';

type Deed = 'read' | 'edited' | 'wrote' | 'ran' | 'searched' | 'fetched' | 'todos' | 'used';

interface Deeds {
  /** How often, in the order of the first time. Files are counted once each. */
  counts: { deed: Deed; count: number; name?: string }[];
  failed: number;
  running: number;
  linesAdded: number;
  linesRemoved: number;
  durationMs: number;
}

const BY_ROLE: Record<string, Deed> = { search: 'searched', todos: 'todos' };
const BY_CATEGORY: Record<string, Deed> = {
  file_read: 'read', file_write: 'wrote', file_edit: 'edited', terminal: 'ran', search: 'searched', web: 'fetched', git: 'ran',
};

/** What a call does: by what its tool is for, as the hub read it. */
export function deedOf(call: Pick<Call, 'category' | 'reading'>): Deed {
  return BY_ROLE[call.reading?.role ?? ''] ?? BY_CATEGORY[call.category] ?? 'used';
}

export function deedsOf(members: readonly Item[]): Deeds {
  const counted = new Map<string, { deed: Deed; name?: string; things: Set<string> }>();
  const deeds: Deeds = { counts: [], failed: 0, running: 0, linesAdded: 0, linesRemoved: 0, durationMs: 0 };
  for (const member of members) if (member.kind === 'tool') count(member, counted, deeds);
  deeds.counts = [...counted.values()].map(({ deed, name, things }) => ({ deed, count: things.size, ...(name !== undefined ? { name } : {}) }));
  return deeds;
}

function count(tool: ToolItem, counted: Map<string, { deed: Deed; name?: string; things: Set<string> }>, deeds: Deeds): void {
  const call = tool.call.peek();
  const deed = deedOf(call);
  const id = deed === 'used' ? `used ${call.name}` : deed;
  const entry = counted.get(id) ?? { deed, things: new Set<string>(), ...(deed === 'used' ? { name: call.name } : {}) };
  counted.set(id, entry);
  entry.things.add(subjectOf(tool));
  if (call.status === 'failed') deeds.failed += 1;
  else if (call.status !== 'completed' && !call.left) deeds.running += 1;
  for (const change of call.changes) {
    deeds.linesAdded += change.linesAdded ?? 0;
    deeds.linesRemoved += change.linesRemoved ?? 0;
  }
  deeds.durationMs += call.durationMs ?? 0;
}

/** What is counted once: a file for calls about files, else the call itself. */
function subjectOf(tool: ToolItem): string {
  const call = tool.call.peek();
  const deed = deedOf(call);
  if (deed !== 'read' && deed !== 'edited' && deed !== 'wrote') return tool.key;
  return call.changes[0]?.path ?? call.reading?.paths?.[0] ?? tool.key;
}
