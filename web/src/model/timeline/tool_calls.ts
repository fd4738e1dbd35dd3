// Tool calls and what they did: their course, the asks about them, files, git and the web.
//
// Rule: what a call did is told at the call. Where the call is not known, it stands for itself.

import { signal } from '@preact/signals';
import type { ACPEvent, ACPEventByPrefix, CustomEvent, FileBatchChange } from '../../generated/agent-context';
import { askedIds } from '../../hub/approval_meta';
import type { Asides } from './asides';
import { defined, entitled, isOver, newCall, tell } from './tool_call_state';
import type { ApprovalItem, Call, Change, ToolItem } from './items';
import { word } from './notices';
import { NOTHING_YET, put } from './tool_output';
import type { RunningTurn } from './turn';
import { placeOf, type Shelf } from './item_list';
import type { Subagents } from './subagents';

type Event<T extends ACPEvent['type']> = Extract<ACPEvent, { type: T }>;

export class Work {
  private readonly started = new Set<string>();

  constructor(
    private readonly shelf: Shelf, private readonly subagents: Subagents, private readonly asides: Asides, private readonly turn: RunningTurn,
  ) {}

  clear(): void {
    this.started.clear();
  }

  tool(event: ACPEventByPrefix<'tool:'>): string {
    const item = this.callFor(event);
    if (event.type === 'tool:args_delta') {
      item.args.value = item.args.peek() + event.delta;
      return item.key;
    }
    item.call.value = tell(item.call.peek(), event);
    if (isOver(item.call.peek())) {
      this.shelf.open.delete(item);
      if (event.type === 'tool:result') item.running.value = NOTHING_YET;
      this.shelf.changed = true; // a run of calls says what happened, and failed ones stand out
    }
    return item.key;
  }

  /** More of a running call's output; the result has all of it, so what comes after the result is not wanted. */
  putOut({ data, _meta }: CustomEvent): string | undefined {
    const item = this.shelf.callOf(word(data, 'toolCallId'));
    if (item === undefined) return undefined;
    item.call.value = entitled(item.call.peek(), _meta);
    const output = word(data, 'output');
    const offset = data['offset'];
    if (output !== undefined && typeof offset === 'number' && !isOver(item.call.peek())) {
      item.running.value = put(item.running.peek(), word(data, 'terminalId') ?? '', offset, output);
    }
    return item.key;
  }

  asked(event: Event<'approval:requested'>): string {
    const key = `a:${event.requestId}`;
    const call = this.shelf.callOf(event.toolCallId);
    if (this.shelf.find(key) === undefined) {
      const item: ApprovalItem = {
        kind: 'approval', key, ...placeOf(event), requestId: event.requestId, callId: event.toolCallId, asked: event, resolved: signal(undefined),
      };
      this.shelf.addBeside(item, call?.key);
    }
    for (const each of this.askedCalls(event)) {
      if (!isOver(each.call.peek())) change(each, { waits: true });
    }
    return key;
  }

  resolved(event: Event<'approval:resolved'>): string | undefined {
    const call = this.shelf.callOf(event.toolCallId);
    const item = this.shelf.find(`a:${event.requestId}`) as ApprovalItem | undefined;
    this.shelf.changed = true;
    for (const each of this.askedCalls(item?.asked ?? event)) change(each, { waits: false, decisions: [...each.call.peek().decisions, event] });
    if (item !== undefined) item.resolved.value = event;
    else if (call === undefined) return this.asides.notice(event, { name: 'decided', tone: 'quiet', aside: false, state: { data: event } });
    return item?.key ?? call?.key;
  }

  /** The calls that an answer is for: an ask that says nothing of its own is about several. */
  private askedCalls(event: Event<'approval:requested' | 'approval:resolved'>): ToolItem[] {
    return askedIds(event).map((id) => this.shelf.callOf(id)).filter((call): call is ToolItem => call !== undefined);
  }

  file(event: Event<'file:change'>): string {
    const { path, changeType, diff, linesAdded, linesRemoved } = event;
    this.turn.tally.file(path);
    return this.files(event, [withDiff({ path, changeType, ...defined({ diff, linesAdded, linesRemoved }) }, event._meta)]);
  }

  batch(event: Event<'file:batch'>): string {
    event.changes.forEach(({ path }) => this.turn.tally.file(path));
    return this.files(event, event.changes.map((each) => withDiff(each, event._meta)), event.description);
  }

  git(event: Event<'git:operation'>): string {
    const call = this.shelf.callOf(event.toolCallId);
    if (call !== undefined) change(call, { git: [...call.call.peek().git, event.operation] });
    return this.shelf.addBeside({
      kind: 'git', key: `g:${event.seq}`, ...placeOf(event), operation: event.operation, ...defined({ callId: event.toolCallId }),
    }, call?.key).key;
  }

  web(event: Event<'web:operation'>): string {
    const call = this.shelf.callOf(event.toolCallId);
    if (call === undefined) return this.shelf.add({ kind: 'web', key: `w:${event.seq}`, ...placeOf(event), operation: event.operation }).key;
    change(call, { web: [...call.call.peek().web, event.operation] });
    return call.key;
  }

  private files(event: Event<'file:change' | 'file:batch'>, changes: readonly Change[], text?: string): string {
    const call = this.shelf.callOf(event.toolCallId);
    if (call === undefined) return this.shelf.add({ kind: 'changes', key: `f:${event.seq}`, ...placeOf(event), changes, ...defined({ text }) }).key;
    change(call, { changes: [...call.call.peek().changes, ...changes] });
    this.shelf.changed = true;
    return call.key;
  }

  /** The call of an event. An id that starts again after its call was over is another call. */
  private callFor(event: ACPEventByPrefix<'tool:'>): ToolItem {
    const { toolCallId } = event;
    const known = this.shelf.callOf(toolCallId);
    const again = event.type === 'tool:start' && this.started.has(toolCallId) && known !== undefined && isOver(known.call.peek());
    if (event.type === 'tool:start') this.started.add(toolCallId);
    if (known !== undefined && !again) return known;
    const item: ToolItem = {
      kind: 'tool', key: again ? `c:${toolCallId}@${event.seq}` : `c:${toolCallId}`, ...placeOf(event), callId: toolCallId, args: signal(''),
      call: signal(newCall('name' in event ? event.name : '')), running: signal(NOTHING_YET),
    };
    this.shelf.calls.set(toolCallId, item);
    this.shelf.open.add(item);
    this.turn.heard();
    return this.subagents.adopted(item) ? item : this.subagents.add(item, word(event._meta, 'parentToolCallId'));
  }
}

function change(item: ToolItem, changes: Partial<Call>): void {
  item.call.value = { ...item.call.peek(), ...changes };
}

/** A long diff is not in its event, which says where it is. */
function withDiff(change: FileBatchChange, meta: Record<string, unknown> | undefined): Change {
  const url = change.diff === undefined ? word(meta?.['diff'] as Record<string, unknown> | undefined, 'url') : undefined;
  return { ...change, ...defined({ url, fragment: meta?.['fragment'] ? true : undefined }) };
}
