// The one fold from events to what the conversation shows, the same for live and for history.
//
// Rule 1: an event is taken in once; one that is not newer than the last is skipped.
// Rule 2: a chunk changes its own item's text and nothing else. Only a change of what there is makes `items` a new list.
// Rule 3: an item may be met first at any of its events: its beginning may be on a page that is not loaded.
// Rule 4: whatever a turn left open is closed at its end, so that nothing seems to go on for ever.

import { batch, signal, type ReadonlySignal } from '@preact/signals';
import type {
  ACPEvent, ACPEventByPrefix, CustomEvent, FileBatchChange, MessageCompleteEvent, ProgressEvent, SessionErrorEvent, SessionStatusChangedEvent,
} from '../generated/agent-context';
import { defined, entitled, isOver, leave, newCall, tell } from './calls';
import type {
  ApprovalItem, Call, Change, Item, MessageItem, NoticeItem, PlanItem, QuestionItem, SubagentItem, SubagentState, ThinkingItem, ToolItem,
} from './items';
import { noticeOf, unknownNotice, word, type Notice } from './notices';
import { NOTHING_YET, put } from './running';
import { TurnTally } from './turn_tally';

export type * from './items';

type Place = { seq: number; at: number };

/** Everything that was told of one session, in the order of its first sign. */
export class Timeline {
  readonly items: ReadonlySignal<readonly Item[]>;
  /** The turn runs and the agent has not said anything in it yet. */
  readonly waiting: ReadonlySignal<boolean>;
  /** What moves on in the running turn. */
  readonly progress: ReadonlySignal<ProgressEvent | undefined>;

  private readonly _items = signal<readonly Item[]>([]);
  private readonly _waiting = signal(false);
  private readonly _progress = signal<ProgressEvent | undefined>(undefined);
  private readonly list: Item[] = [];
  private readonly byKey = new Map<string, Item>();
  private readonly lists = new Map<string, Item[]>();
  private readonly started = new Set<string>();
  private readonly calls = new Map<string, ToolItem>();
  private readonly open = new Set<MessageItem | ThinkingItem | ToolItem>();
  private readonly ownerSeqs: number[] = [];
  private readonly ownerKeys: string[] = [];
  private tally = new TurnTally();
  private last = 0;
  private changed = false;

  constructor() {
    this.items = this._items;
    this.waiting = this._waiting;
    this.progress = this._progress;
  }

  /** The last entry that was taken in. */
  get seq(): number {
    return this.last;
  }

  apply(event: ACPEvent): void {
    batch(() => {
      this.take(event);
      this.publish();
    });
  }

  /** Many at once: a page of history. */
  applyAll(events: readonly ACPEvent[]): void {
    batch(() => {
      for (const event of events) this.take(event);
      this.publish();
    });
  }

  /** Forget everything and take these in: a page before what was known has come. */
  refold(events: readonly ACPEvent[]): void {
    this.list.length = this.ownerSeqs.length = this.ownerKeys.length = 0;
    for (const known of [this.byKey, this.lists, this.started, this.calls, this.open]) known.clear();
    this.tally = new TurnTally();
    this.last = 0;
    this.changed = true;
    batch(() => {
      this._waiting.value = false;
      this._progress.value = undefined;
      this.applyAll(events);
    });
  }

  /** The item that tells of an entry, or of the next one that is told of at all. */
  ownerOf(seq: number): string | undefined {
    let low = 0;
    let high = this.ownerSeqs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.ownerSeqs[middle]! < seq) low = middle + 1;
      else high = middle;
    }
    return this.ownerKeys[low] ?? this.ownerKeys[this.ownerKeys.length - 1];
  }

  find(key: string): Item | undefined {
    return this.byKey.get(key);
  }

  /** The call of a tool by its id; of several with one id, the last. */
  callOf(callId: string): ToolItem | undefined {
    return this.calls.get(callId);
  }

  private take(event: ACPEvent): void {
    if (event.seq <= this.last) return;
    this.last = event.seq;
    const owner = this.route(event);
    if (owner === undefined) return;
    this.ownerSeqs.push(event.seq);
    this.ownerKeys.push(owner);
  }

  private publish(): void {
    if (!this.changed) return;
    this.changed = false;
    this._items.value = this.list.slice();
  }

  /** Gives the key of the item that tells of the event. */
  private route(event: ACPEvent): string | undefined {
    switch (event.type) {
      case 'message:start':
      case 'message:delta':
      case 'message:complete':
        return this.message(event);
      case 'thinking:start':
      case 'thinking:delta':
      case 'thinking:complete':
        return this.thinking(event);
      case 'tool:args_delta':
      case 'tool:start':
      case 'tool:executing':
      case 'tool:result':
      case 'tool:error':
        return this.tool(event);
      case 'approval:requested':
      case 'approval:resolved':
        return this.approval(event);
      case 'file:change':
        this.tally.file(event.path);
        return this.changes(event, [changeOf(event)], event.toolCallId);
      case 'file:batch':
        event.changes.forEach((change) => this.tally.file(change.path));
        return this.changes(event, event.changes.map((change) => withDiff(change, event._meta)), event.toolCallId, event.description);
      case 'git:operation':
        return this.git(event);
      case 'web:operation':
        return this.web(event);
      case 'subagent:spawned':
      case 'subagent:progress':
      case 'subagent:completed':
        return this.subagent(event);
      case 'progress:plan_mode':
        return this.plan(event);
      case 'progress:update':
        this._progress.value = event;
        return undefined;
      case 'interaction:question':
        return this.question(event);
      case 'session:error':
        return this.failed(event);
      case 'session:status_changed':
        return this.status(event);
      case 'resource:token_usage':
        this.tally.spent(event.delta);
        return undefined;
      case 'resource:cost':
        this.tally.paid(event.delta);
        return undefined;
      case 'resource:context_window':
      case 'environment:info':
      case 'progress:todo_update':
        return undefined;
      case 'custom':
        return this.custom(event);
      case 'session:started':
      case 'session:resumed':
      case 'session:paused':
      case 'session:completed':
      case 'interaction:notification':
      case 'resource:rate_limit':
        return this.notice(event, noticeOf(event));
      default:
        return this.notice(event, unknownNotice(event));
    }
  }

  // --- what is said and thought

  private message(event: ACPEventByPrefix<'message:'>): string {
    const item = this.messageItem(event);
    const { text, state } = item;
    if (event.type === 'message:start') {
      const meta = event._meta;
      state.value = { ...state.peek(), ...defined({ by: word(meta, 'by'), turnId: word(meta, 'turnId'), replayed: meta?.['replayed'] ? true : undefined }) };
    } else if (event.type === 'message:delta') {
      text.value = text.peek() + event.delta;
    } else {
      const whole = textOf(event);
      if (whole !== text.peek()) text.value = whole;
      const images = event.content.filter((part) => part.type === 'image');
      state.value = { ...state.peek(), done: true, images, ...defined({ model: event.model, by: word(event._meta, 'by') }) };
      this.open.delete(item);
      if (event.role === 'user') this.tally.prompted(whole, images.map(({ url }) => url));
    }
    return item.key;
  }

  private messageItem(event: ACPEventByPrefix<'message:'>): MessageItem {
    const key = `m:${event.messageId}`;
    const known = this.byKey.get(key) as MessageItem | undefined;
    if (known !== undefined) return known;
    const item: MessageItem = {
      kind: 'message', key, ...placeOf(event), messageId: event.messageId, role: event.role, text: signal(''),
      state: signal({ done: false, images: [] }),
    };
    this.open.add(item);
    if (event.role === 'assistant') this.heard();
    return this.add(item, word(event._meta, 'parentToolCallId'));
  }

  private thinking(event: ACPEventByPrefix<'thinking:'>): string {
    const key = `t:${event.messageId}`;
    const item = (this.byKey.get(key) as ThinkingItem | undefined) ?? this.thought(event, key);
    if (event.type === 'thinking:delta') {
      item.text.value = item.text.peek() + event.delta;
    } else if (event.type === 'thinking:complete') {
      if (event.content !== item.text.peek()) item.text.value = event.content;
      item.state.value = { done: true, redacted: event.redacted ?? false, endedAt: Date.parse(event.timestamp) };
      this.open.delete(item);
    }
    return key;
  }

  private thought(event: ACPEventByPrefix<'thinking:'>, key: string): ThinkingItem {
    const item: ThinkingItem = {
      kind: 'thinking', key, ...placeOf(event), messageId: event.messageId, text: signal(''), state: signal({ done: false, redacted: false }),
    };
    this.open.add(item);
    this.heard();
    return this.add(item, word(event._meta, 'parentToolCallId'));
  }

  // --- tool calls and what they did

  private tool(event: ACPEventByPrefix<'tool:'>): string {
    const item = this.toolItem(event);
    if (event.type === 'tool:args_delta') {
      item.args.value = item.args.peek() + event.delta;
      return item.key;
    }
    item.call.value = tell(item.call.peek(), event);
    if (isOver(item.call.peek())) {
      this.open.delete(item);
      if (event.type === 'tool:result') item.running.value = NOTHING_YET;
      this.changed = true; // a run of calls says what happened, and failed ones stand out
    }
    return item.key;
  }

  private toolItem(event: ACPEventByPrefix<'tool:'>): ToolItem {
    const known = this.calls.get(event.toolCallId);
    const again = event.type === 'tool:start' && this.started.has(event.toolCallId) && known !== undefined && isOver(known.call.peek());
    if (event.type === 'tool:start') this.started.add(event.toolCallId);
    if (known !== undefined && !again) return known;
    const key = again ? `c:${event.toolCallId}@${event.seq}` : `c:${event.toolCallId}`;
    const name = 'name' in event ? event.name : '';
    const item: ToolItem = {
      kind: 'tool', key, ...placeOf(event), callId: event.toolCallId, args: signal(''), call: signal(newCall(name)), running: signal(NOTHING_YET),
    };
    this.calls.set(event.toolCallId, item);
    this.open.add(item);
    this.heard();
    const waiting = this.byKey.get(`c:${event.toolCallId}`);
    if (waiting?.kind === 'subagent' && waiting.tool === undefined) return this.adopt(waiting, item);
    return this.add(item, word(event._meta, 'parentToolCallId'));
  }

  private changeCall(item: ToolItem, changes: Partial<Call>): void {
    item.call.value = { ...item.call.peek(), ...changes };
  }

  private approval(event: ACPEventByPrefix<'approval:'>): string {
    const key = `a:${event.requestId}`;
    const call = this.calls.get(event.toolCallId);
    let item = this.byKey.get(key) as ApprovalItem | undefined;
    if (event.type === 'approval:requested') {
      if (item === undefined) {
        item = {
          kind: 'approval', key, ...placeOf(event), requestId: event.requestId, callId: event.toolCallId, asked: event, resolved: signal(undefined),
        };
        this.addBeside(item, call?.key);
      }
      if (call !== undefined && !isOver(call.call.peek())) this.changeCall(call, { waits: true });
      return key;
    }
    this.changed = true;
    if (call !== undefined) this.changeCall(call, { waits: false, decisions: [...call.call.peek().decisions, event] });
    if (item !== undefined) item.resolved.value = event;
    else if (call === undefined) return this.notice(event, { name: 'decided', tone: 'quiet', aside: false, state: { data: event } })!;
    return item?.key ?? call!.key;
  }

  private changes(event: ACPEvent, changes: readonly Change[], callId: string | undefined, text?: string): string {
    const call = callId !== undefined ? this.calls.get(callId) : undefined;
    if (call !== undefined) {
      this.changeCall(call, { changes: [...call.call.peek().changes, ...changes] });
      this.changed = true;
      return call.key;
    }
    return this.add({ kind: 'changes', key: `f:${event.seq}`, ...placeOf(event), changes, ...defined({ text }) }).key;
  }

  private git(event: Extract<ACPEvent, { type: 'git:operation' }>): string {
    const call = event.toolCallId !== undefined ? this.calls.get(event.toolCallId) : undefined;
    if (call !== undefined) this.changeCall(call, { git: [...call.call.peek().git, event.operation] });
    const item: Item = {
      kind: 'git', key: `g:${event.seq}`, ...placeOf(event), operation: event.operation, ...defined({ callId: event.toolCallId }),
    };
    this.addBeside(item, call?.key);
    return item.key;
  }

  private web(event: Extract<ACPEvent, { type: 'web:operation' }>): string {
    const call = event.toolCallId !== undefined ? this.calls.get(event.toolCallId) : undefined;
    if (call === undefined) return this.add({ kind: 'web', key: `w:${event.seq}`, ...placeOf(event), operation: event.operation }).key;
    this.changeCall(call, { web: [...call.call.peek().web, event.operation] });
    return call.key;
  }

  // --- sub-agents

  private subagent(event: ACPEventByPrefix<'subagent:'>): string {
    const callId = 'parentToolCallId' in event ? event.parentToolCallId : event.subAgentId;
    const item = this.subagentItem(callId, event);
    item.state.value = { ...item.state.peek(), ...toldOfSubagent(event) };
    if (event.type === 'subagent:completed') this.changed = true;
    return item.key;
  }

  /** The sub-agent of a call; it takes the place of the call in the list. */
  private subagentItem(callId: string, event: ACPEvent): SubagentItem {
    const key = this.calls.get(callId)?.key ?? `c:${callId}`;
    const known = this.byKey.get(key);
    if (known?.kind === 'subagent') return known;
    const tool = known?.kind === 'tool' ? known : undefined;
    const item: SubagentItem = {
      kind: 'subagent', key, seq: tool?.seq ?? event.seq, at: tool?.at ?? Date.parse(event.timestamp), callId, tool,
      state: signal({ task: '', done: false, failed: false }), children: [],
    };
    if (tool === undefined) return this.add(item);
    return this.replace(tool, item);
  }

  /** A call that is met after its sub-agent. */
  private adopt(subagent: SubagentItem, tool: ToolItem): ToolItem {
    this.replace(subagent, { ...subagent, tool });
    return tool;
  }

  private replace<T extends Item>(old: Item, item: T): T {
    const list = this.lists.get(old.key) ?? this.list;
    list[list.lastIndexOf(old)] = item;
    this.byKey.set(item.key, item);
    this.changed = true;
    return item;
  }

  // --- plans, questions, notices

  private plan(event: Extract<ACPEvent, { type: 'progress:plan_mode' }>): string {
    if (event.plan === undefined) {
      return this.notice(event, { name: event.active ? 'plan_entered' : 'plan_left', tone: 'quiet', aside: false, state: {} })!;
    }
    const before = this.list.findLast((item): item is PlanItem | MessageItem => item.kind === 'plan' || (item.kind === 'message' && item.role === 'user'));
    if (before?.kind === 'plan' && before.plan.peek() === event.plan) return before.key;
    return this.add({ kind: 'plan', key: `p:${event.seq}`, ...placeOf(event), plan: signal(event.plan) }).key;
  }

  private question(event: Extract<ACPEvent, { type: 'interaction:question' }>): string {
    const key = `q:${event.questionId}`;
    if (this.byKey.has(key)) return key;
    const item: QuestionItem = { kind: 'question', key, ...placeOf(event), questionId: event.questionId, asked: event, resolved: signal(undefined) };
    this.heard();
    return this.add(item).key;
  }

  private custom(event: CustomEvent): string | undefined {
    const { data } = event;
    switch (`${event.namespace}/${event.eventName}`) {
      case 'trunkline/turn_started':
        this.tally = new TurnTally(word(data, 'turnId'), Date.parse(event.timestamp));
        this._waiting.value = true;
        return undefined;
      case 'trunkline/turn_ended':
        return this.turnEnded(event, word(data, 'stopReason') ?? 'end_turn', word(data, 'turnId'), event._meta?.['empty'] === true);
      case 'trunkline/question_resolved':
        return this.answered(event);
      case 'acp/tool_call_update':
      case 'trunkline/terminal_output':
        return this.putOut(event);
      case 'agent/background_turn':
        if (word(data, 'state') === 'ended') this.closeOpen(event);
        return this.notice(event, noticeOf(event));
      case 'trunkline/user_content':
        return `m:${word(data, 'messageId') ?? ''}`;
      default:
        return this.notice(event, noticeOf(event));
    }
  }

  private answered(event: CustomEvent): string | undefined {
    const { data } = event;
    const item = this.byKey.get(`q:${word(data, 'questionId') ?? ''}`) as QuestionItem | undefined;
    if (item === undefined) return this.notice(event, noticeOf(event));
    const content = data['content'] as Record<string, unknown> | undefined;
    item.resolved.value = {
      action: word(data, 'action') ?? 'accept', at: Date.parse(event.timestamp), ...defined({ content, by: word(event._meta, 'by') }),
    };
    this.changed = true;
    return item.key;
  }

  /** More of a running call's output; the result has all of it, so what comes after the result is not wanted. */
  private putOut({ data, _meta }: CustomEvent): string | undefined {
    const item = this.calls.get(word(data, 'toolCallId') ?? '');
    if (item === undefined) return undefined;
    item.call.value = entitled(item.call.peek(), _meta);
    const output = word(data, 'output');
    const offset = data['offset'];
    if (output !== undefined && typeof offset === 'number' && !isOver(item.call.peek())) {
      item.running.value = put(item.running.peek(), word(data, 'terminalId') ?? '', offset, output);
    }
    return item.key;
  }

  private notice(event: ACPEvent, notice: Notice | undefined): string | undefined {
    if (notice === undefined) return undefined;
    const key = notice.subject !== undefined ? `n:${notice.subject}` : `n:${event.seq}`;
    const known = this.byKey.get(key) as NoticeItem | undefined;
    if (known !== undefined) {
      known.state.value = notice.state;
      return key;
    }
    const { name, tone, aside, state } = notice;
    return this.add({ kind: 'notice', key, ...placeOf(event), name, tone, aside, state: signal(state) }).key;
  }

  // --- turns

  private status(event: SessionStatusChangedEvent): string | undefined {
    const stop = word(event._meta, 'stopReason');
    if (stop !== undefined) return this.turnEnded(event, stop, word(event._meta, 'turnId'), event._meta?.['empty'] === true);
    if (event.to === 'idle' || event.to === 'completed') this.closeOpen(event);
    return undefined;
  }

  private turnEnded(event: ACPEvent, stopReason: string, turnId: string | undefined, empty: boolean): string {
    this.closeOpen(event);
    const took = this.tally.ended(turnId, Date.parse(event.timestamp));
    this.tally = new TurnTally();
    return this.add({ kind: 'turn_end', key: `e:${turnId ?? event.seq}`, ...placeOf(event), stopReason, empty, ...defined({ turnId }), ...took }).key;
  }

  private failed(event: SessionErrorEvent): string {
    this.closeOpen(event);
    const turnId = word(event._meta, 'turnId');
    const { prompt, pictures } = this.tally;
    this.tally = new TurnTally();
    return this.add({ kind: 'error', key: `x:${event.seq}`, ...placeOf(event), error: event.error, pictures, ...defined({ turnId, prompt }) }).key;
  }

  private closeOpen(event: ACPEvent): void {
    this._waiting.value = false;
    this._progress.value = undefined;
    for (const item of this.open) {
      if (item.kind === 'tool') item.call.value = leave(item.call.peek());
      else if (item.kind === 'message') item.state.value = { ...item.state.peek(), done: true };
      else item.state.value = { ...item.state.peek(), done: true, endedAt: Date.parse(event.timestamp) };
    }
    if (this.open.size > 0) this.changed = true;
    this.open.clear();
  }

  private heard(): void {
    this._waiting.value = false;
  }

  // --- the lists

  private add<T extends Item>(item: T, parentCallId?: string): T {
    const list = parentCallId !== undefined ? this.childrenOf(parentCallId, item) : this.list;
    list.push(item);
    this.lists.set(item.key, list);
    this.byKey.set(item.key, item);
    this.changed = true;
    return item;
  }

  /** Where the item that it belongs to is, at the end. */
  private addBeside(item: Item, key: string | undefined): void {
    const list = (key !== undefined ? this.lists.get(key) : undefined) ?? this.list;
    list.push(item);
    this.lists.set(item.key, list);
    this.byKey.set(item.key, item);
    this.changed = true;
  }

  private childrenOf(callId: string, child: Item): Item[] {
    const key = this.calls.get(callId)?.key ?? `c:${callId}`;
    const known = this.byKey.get(key);
    if (known?.kind === 'subagent') return known.children;
    const event = { seq: child.seq, timestamp: new Date(child.at).toISOString() } as ACPEvent;
    return this.subagentItem(callId, event).children;
  }
}

function placeOf(event: { seq: number; timestamp: string }): Place {
  return { seq: event.seq, at: Date.parse(event.timestamp) };
}

function textOf(event: MessageCompleteEvent): string {
  return event.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

function changeOf(event: Extract<ACPEvent, { type: 'file:change' }>): Change {
  const { path, changeType, diff, linesAdded, linesRemoved } = event;
  return withDiff({ path, changeType, ...defined({ diff, linesAdded, linesRemoved }) }, event._meta);
}

/** A long diff is not in its event, which says where it is. */
function withDiff(change: FileBatchChange, meta: Record<string, unknown> | undefined): Change {
  const url = change.diff === undefined ? word(meta?.['diff'] as Record<string, unknown> | undefined, 'url') : undefined;
  return { ...change, ...defined({ url, fragment: meta?.['fragment'] ? true : undefined }) };
}

function toldOfSubagent(event: ACPEventByPrefix<'subagent:'>): Partial<SubagentState> {
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
