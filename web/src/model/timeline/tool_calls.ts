// Tool calls and what they did: their course, their output, files, git and the web.
//
// Rule: what a call did is shown at the call. Where the call is not known, it stands for itself.

import { signal } from '@preact/signals';
import type { ACPEvent, ACPEventByPrefix, CustomEvent, FileBatchChange } from '../../generated/agent-context';
import { defined, readText, startOf } from './event_fields';
import type { ItemList } from './item_list';
import type { Change, ToolItem } from './items';
import type { Subagents } from './subagents';
import { applyToolEvent, changeCall, isOver, newCall, withTitle } from './tool_call_state';
import { NO_OUTPUT, putOutput } from './tool_output';
import type { RunningTurn } from './turn';

type EventOf<T extends ACPEvent['type']> = Extract<ACPEvent, { type: T }>;

export class ToolCalls {
  private readonly started = new Set<string>();

  constructor(private readonly items: ItemList, private readonly subagents: Subagents, private readonly turn: RunningTurn) {}

  clear(): void {
    this.started.clear();
  }

  onCall(event: ACPEventByPrefix<'tool:'>): string {
    const item = this.callFor(event);
    if (event.type === 'tool:args_delta') {
      item.args.value = item.args.peek() + event.delta;
      return item.key;
    }
    item.call.value = applyToolEvent(item.call.peek(), event);
    if (isOver(item.call.peek())) {
      this.items.open.delete(item);
      if (event.type === 'tool:result') item.partialOutput.value = NO_OUTPUT;
      this.items.changed = true; // a run of calls sums up what happened, and failed ones stand out
    }
    return item.key;
  }

  /** More of a running call's output; the result has all of it, so what comes after the result is not wanted. */
  onOutput({ data, _meta }: CustomEvent): string | undefined {
    const item = this.items.callOf(readText(data, 'toolCallId'));
    if (item === undefined) return undefined;
    item.call.value = withTitle(item.call.peek(), _meta);
    const output = readText(data, 'output');
    const offset = data['offset'];
    if (output !== undefined && typeof offset === 'number' && !isOver(item.call.peek())) {
      item.partialOutput.value = putOutput(item.partialOutput.peek(), readText(data, 'terminalId') ?? '', offset, output);
    }
    return item.key;
  }

  onFile(event: EventOf<'file:change'>): string {
    const { path, changeType, diff, linesAdded, linesRemoved } = event;
    this.turn.tally.addFile(path);
    return this.addChanges(event, [withDiff({ path, changeType, ...defined({ diff, linesAdded, linesRemoved }) }, event._meta)]);
  }

  onFileBatch(event: EventOf<'file:batch'>): string {
    event.changes.forEach(({ path }) => this.turn.tally.addFile(path));
    return this.addChanges(event, event.changes.map((each) => withDiff(each, event._meta)), event.description);
  }

  onGit(event: EventOf<'git:operation'>): string {
    const call = this.items.callOf(event.toolCallId);
    if (call !== undefined) changeCall(call, { git: [...call.call.peek().git, event.operation] });
    return this.items.addBeside({
      kind: 'git', key: `g:${event.seq}`, ...startOf(event), operation: event.operation, ...defined({ callId: event.toolCallId }),
    }, call?.key).key;
  }

  onWeb(event: EventOf<'web:operation'>): string {
    const call = this.items.callOf(event.toolCallId);
    if (call === undefined) return this.items.add({ kind: 'web', key: `w:${event.seq}`, ...startOf(event), operation: event.operation }).key;
    changeCall(call, { web: [...call.call.peek().web, event.operation] });
    return call.key;
  }

  private addChanges(event: EventOf<'file:change' | 'file:batch'>, changes: readonly Change[], text?: string): string {
    const call = this.items.callOf(event.toolCallId);
    if (call === undefined) return this.items.add({ kind: 'changes', key: `f:${event.seq}`, ...startOf(event), changes, ...defined({ text }) }).key;
    changeCall(call, { changes: [...call.call.peek().changes, ...changes] });
    this.items.changed = true;
    return call.key;
  }

  /** The call of an event. An id that starts again after its call was over is another call. */
  private callFor(event: ACPEventByPrefix<'tool:'>): ToolItem {
    const { toolCallId } = event;
    const known = this.items.callOf(toolCallId);
    const again = event.type === 'tool:start' && this.started.has(toolCallId) && known !== undefined && isOver(known.call.peek());
    if (event.type === 'tool:start') this.started.add(toolCallId);
    if (known !== undefined && !again) return known;
    const item: ToolItem = {
      kind: 'tool', key: again ? `c:${toolCallId}@${event.seq}` : `c:${toolCallId}`, ...startOf(event), callId: toolCallId, args: signal(''),
      call: signal(newCall('name' in event ? event.name : '')), partialOutput: signal(NO_OUTPUT),
    };
    this.items.calls.set(toolCallId, item);
    this.items.open.add(item);
    this.turn.markActive();
    return this.subagents.adopt(item) ? item : this.subagents.add(item, readText(event._meta, 'parentToolCallId'));
  }
}

/** A long diff is not in its event, which says where it is. */
function withDiff(change: FileBatchChange, meta: Record<string, unknown> | undefined): Change {
  const url = change.diff === undefined ? readText(meta?.['diff'] as Record<string, unknown> | undefined, 'url') : undefined;
  return { ...change, ...defined({ url, fragment: meta?.['fragment'] ? true : undefined }) };
}
