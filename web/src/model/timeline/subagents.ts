// Sub-agents: each takes the place of the call that started it, and what it says and does stands inside it.

import { signal } from '@preact/signals';
import type { ACPEventByPrefix } from '../../generated/agent-context';
import { defined } from './tool_call_state';
import type { Item, SubagentItem, SubagentState, ToolItem } from './items';
import { word } from './notices';
import { placeOf, type Place, type Shelf } from './item_list';

export class Subagents {
  constructor(private readonly shelf: Shelf) {}

  told(event: ACPEventByPrefix<'subagent:'>): string {
    const callId = 'parentToolCallId' in event ? event.parentToolCallId : event.subAgentId;
    const item = this.of(callId, placeOf(event));
    item.state.value = { ...item.state.peek(), ...toldBy(event) };
    if (event.type === 'subagent:completed') this.shelf.changed = true;
    return item.key;
  }

  /** Add an item where it belongs: inside the sub-agent of this call, or in the conversation itself. */
  add<T extends Item>(item: T, parentCallId: string | undefined): T {
    return this.shelf.add(item, parentCallId === undefined ? undefined : this.of(parentCallId, item).children);
  }

  /** A call whose sub-agent was met before it; false where there is none. */
  adopted(tool: ToolItem): boolean {
    const waiting = this.shelf.find(`c:${tool.callId}`);
    if (waiting?.kind !== 'subagent' || waiting.tool !== undefined) return false;
    this.shelf.replace(waiting, { ...waiting, tool });
    return true;
  }

  private of(callId: string, first: Place): SubagentItem {
    const key = this.shelf.callOf(callId)?.key ?? `c:${callId}`;
    const known = this.shelf.find(key);
    if (known?.kind === 'subagent') return known;
    const tool = known?.kind === 'tool' ? known : undefined;
    const { seq, at } = tool ?? first;
    const item: SubagentItem = { kind: 'subagent', key, seq, at, callId, tool, state: signal({ task: '', done: false, failed: false }), children: [] };
    return tool === undefined ? this.shelf.add(item) : this.shelf.replace(tool, item);
  }
}

function toldBy(event: ACPEventByPrefix<'subagent:'>): Partial<SubagentState> {
  switch (event.type) {
    case 'subagent:spawned':
      return {
        task: event.task, ...defined({ model: event.model, description: word(event._meta, 'description'), agentType: word(event._meta, 'type') }),
      };
    case 'subagent:progress':
      return { said: event.message, ...defined({ progress: event.progress }) };
    case 'subagent:completed':
      return { result: event.result, done: true, failed: event._meta?.['failed'] === true, ...defined({ tokens: event.tokenUsage }) };
  }
}
