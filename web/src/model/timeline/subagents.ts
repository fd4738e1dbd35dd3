// Sub-agents: each takes the place of the call that started it, and what it writes and does stands inside it.

import { signal } from '@preact/signals';
import type { ACPEventByPrefix } from '../../generated/agent-context';
import { defined, readText, startOf, type ItemStart } from './event_fields';
import type { ItemList } from './item_list';
import type { Item, SubagentItem, SubagentState, ToolItem } from './items';

export class Subagents {
  constructor(private readonly items: ItemList) {}

  onEvent(event: ACPEventByPrefix<'subagent:'>): string {
    const callId = 'parentToolCallId' in event ? event.parentToolCallId : event.subAgentId;
    const item = this.of(callId, startOf(event));
    item.state.value = { ...item.state.peek(), ...changesOf(event) };
    if (event.type === 'subagent:completed') this.items.changed = true;
    return item.key;
  }

  /** Add an item where it belongs: inside the sub-agent of this call, or in the conversation itself. */
  add<T extends Item>(item: T, parentCallId: string | undefined): T {
    return this.items.add(item, parentCallId === undefined ? undefined : this.of(parentCallId, item).children);
  }

  /** A call whose sub-agent was met before it; false where there is none. */
  adopt(tool: ToolItem): boolean {
    const waiting = this.items.find(`c:${tool.callId}`);
    if (waiting?.kind !== 'subagent' || waiting.tool !== undefined) return false;
    this.items.replace(waiting, { ...waiting, tool });
    return true;
  }

  private of(callId: string, first: ItemStart): SubagentItem {
    const key = this.items.callOf(callId)?.key ?? `c:${callId}`;
    const known = this.items.find(key);
    if (known?.kind === 'subagent') return known;
    const tool = known?.kind === 'tool' ? known : undefined;
    const { seq, at } = tool ?? first;
    const item: SubagentItem = { kind: 'subagent', key, seq, at, callId, tool, state: signal({ task: '', done: false, failed: false }), children: [] };
    return tool === undefined ? this.items.add(item) : this.items.replace(tool, item);
  }
}

function changesOf(event: ACPEventByPrefix<'subagent:'>): Partial<SubagentState> {
  switch (event.type) {
    case 'subagent:spawned':
      return {
        task: event.task, ...defined({ model: event.model, description: readText(event._meta, 'description'), agentType: readText(event._meta, 'type') }),
      };
    case 'subagent:progress':
      return { lastMessage: event.message, ...defined({ progress: event.progress }) };
    case 'subagent:completed':
      return { result: event.result, done: true, failed: event._meta?.['failed'] === true, ...defined({ tokens: event.tokenUsage }) };
  }
}
