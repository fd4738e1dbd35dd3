// The one fold from events to what the conversation shows, the same for live and for history.
//
// Rule 1: an event is taken in once; one that is not newer than the last is skipped.
// Rule 2: a chunk changes its own item's text and nothing else. Only a change of what there is makes `items` a new list.
// Rule 3: an item may be met first at any of its events: its beginning may be on a page that is not loaded.

import { batch, signal, type ReadonlySignal } from '@preact/signals';
import type { ACPEvent, CustomEvent, ProgressEvent } from '../../generated/agent-context';
import { Approvals } from './approvals';
import { readText } from './event_fields';
import { ItemList } from './item_list';
import type { Item, ToolItem } from './items';
import { Messages } from './messages';
import { noticeOf, Notices, unknownNotice } from './notices';
import { Subagents } from './subagents';
import { ToolCalls } from './tool_calls';
import { RunningTurn } from './turn';

/** Everything that happened in one session, in the order of its first sign. */
export class Timeline {
  readonly items: ReadonlySignal<readonly Item[]>;

  private readonly published = signal<readonly Item[]>([]);
  private readonly list = new ItemList();
  private readonly turn = new RunningTurn(this.list);
  private readonly notices = new Notices(this.list);
  private readonly approvals = new Approvals(this.list, this.notices, this.turn);
  private readonly subagents = new Subagents(this.list);
  private readonly messages = new Messages(this.list, this.subagents, this.turn);
  private readonly toolCalls = new ToolCalls(this.list, this.subagents, this.turn);
  private readonly ownerSeqs: number[] = [];
  private readonly ownerKeys: string[] = [];
  private lastSeq = 0;

  constructor() {
    this.items = this.published;
  }

  /** The turn runs and the agent has not begun to answer yet. */
  get waiting(): ReadonlySignal<boolean> {
    return this.turn.waiting;
  }

  /** What moves on in the running turn. */
  get progress(): ReadonlySignal<ProgressEvent | undefined> {
    return this.turn.progress;
  }

  /** The last entry that was taken in. */
  get seq(): number {
    return this.lastSeq;
  }

  /** Take events in: one that just came, or a page of history. */
  apply(events: readonly ACPEvent[]): void {
    batch(() => {
      for (const event of events) {
        if (event.seq <= this.lastSeq) continue;
        this.lastSeq = event.seq;
        const owner = this.fold(event);
        if (owner === undefined) continue;
        this.ownerSeqs.push(event.seq);
        this.ownerKeys.push(owner);
      }
      if (this.list.changed) this.published.value = this.list.list.slice();
      this.list.changed = false;
    });
  }

  /** Forget everything and take these in: a page before what was known has come. */
  refold(events: readonly ACPEvent[]): void {
    this.ownerSeqs.length = this.ownerKeys.length = this.lastSeq = 0;
    batch(() => {
      for (const part of [this.list, this.turn, this.toolCalls]) part.clear();
      this.apply(events);
    });
  }

  /** The item that shows an entry, or the next one that is shown at all. */
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
    return this.list.find(key);
  }

  /** The call of a tool by its id; of several with one id, the last. */
  callOf(callId: string): ToolItem | undefined {
    return this.list.callOf(callId);
  }

  /** Gives the key of the item that shows the event. */
  private fold(event: ACPEvent): string | undefined {
    switch (event.type) {
      case 'message:start':
      case 'message:delta':
      case 'message:complete':
        return this.messages.onMessage(event);
      case 'thinking:start':
      case 'thinking:delta':
      case 'thinking:complete':
        return this.messages.onThinking(event);
      case 'tool:args_delta':
      case 'tool:start':
      case 'tool:executing':
      case 'tool:result':
      case 'tool:error':
        return this.toolCalls.onCall(event);
      case 'approval:requested':
        return this.approvals.onRequested(event);
      case 'approval:resolved':
        return this.approvals.onResolved(event);
      case 'file:change':
        return this.toolCalls.onFile(event);
      case 'file:batch':
        return this.toolCalls.onFileBatch(event);
      case 'git:operation':
        return this.toolCalls.onGit(event);
      case 'web:operation':
        return this.toolCalls.onWeb(event);
      case 'subagent:spawned':
      case 'subagent:progress':
      case 'subagent:completed':
        return this.subagents.onEvent(event);
      case 'progress:plan_mode':
        return this.notices.onPlan(event);
      case 'progress:update':
        this.turn.progress.value = event;
        return undefined;
      case 'interaction:question':
        return this.approvals.onQuestion(event);
      case 'session:error':
        return this.turn.onFailed(event);
      case 'session:status_changed':
        return this.turn.onStatus(event);
      case 'resource:token_usage':
        this.turn.tally.addTokens(event.delta);
        return undefined;
      case 'resource:cost':
        this.turn.tally.addCost(event.delta);
        return undefined;
      case 'resource:context_window':
      case 'environment:info':
      case 'progress:todo_update':
        return undefined;
      case 'custom':
        return this.foldCustom(event);
      case 'session:started':
      case 'session:resumed':
      case 'session:paused':
      case 'session:completed':
      case 'interaction:notification':
      case 'resource:rate_limit':
        return this.notices.add(event, noticeOf(event));
      default:
        return this.notices.add(event, unknownNotice(event));
    }
  }

  private foldCustom(event: CustomEvent): string | undefined {
    const { data } = event;
    switch (`${event.namespace}/${event.eventName}`) {
      case 'trunkline/turn_started':
        this.turn.onStarted(event, readText(data, 'turnId'));
        return undefined;
      case 'trunkline/turn_ended':
        return this.turn.onEnded(event, readText(data, 'stopReason') ?? 'end_turn', readText(data, 'turnId'));
      case 'trunkline/question_resolved':
        return this.approvals.onAnswer(event);
      case 'acp/tool_call_update':
      case 'trunkline/terminal_output':
        return this.toolCalls.onOutput(event);
      case 'agent/background_turn':
        if (readText(data, 'state') === 'ended') this.turn.close(event);
        return this.notices.add(event, noticeOf(event));
      case 'trunkline/user_content':
        return `m:${readText(data, 'messageId') ?? ''}`;
      default:
        return this.notices.add(event, noticeOf(event));
    }
  }
}
