// The one fold from events to what the conversation shows, the same for live and for history.
//
// Rule 1: an event is taken in once; one that is not newer than the last is skipped.
// Rule 2: a chunk changes its own item's text and nothing else. Only a change of what there is makes `items` a new list.
// Rule 3: an item may be met first at any of its events: its beginning may be on a page that is not loaded.

import { batch, signal, type ReadonlySignal } from '@preact/signals';
import type { ACPEvent, CustomEvent, ProgressEvent } from '../../generated/agent-context';
import { Asides } from './asides';
import type { Item, ToolItem } from './items';
import { noticeOf, unknownNotice, word } from './notices';
import { RunningTurn } from './turn';
import { Shelf } from './item_list';
import { Speech } from './messages';
import { Subagents } from './subagents';
import { Work } from './tool_calls';

export type * from './items';

/** Everything that was told of one session, in the order of its first sign. */
export class Timeline {
  readonly items: ReadonlySignal<readonly Item[]>;

  private readonly published = signal<readonly Item[]>([]);
  private readonly shelf = new Shelf();
  private readonly turn = new RunningTurn(this.shelf);
  private readonly asides = new Asides(this.shelf, this.turn);
  private readonly subagents = new Subagents(this.shelf);
  private readonly speech = new Speech(this.shelf, this.subagents, this.turn);
  private readonly work = new Work(this.shelf, this.subagents, this.asides, this.turn);
  private readonly ownerSeqs: number[] = [];
  private readonly ownerKeys: string[] = [];
  private last = 0;

  constructor() {
    this.items = this.published;
  }

  /** The turn runs and the agent has not said anything in it yet. */
  get waiting(): ReadonlySignal<boolean> {
    return this.turn.waiting;
  }

  /** What moves on in the running turn. */
  get progress(): ReadonlySignal<ProgressEvent | undefined> {
    return this.turn.progress;
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
    this.ownerSeqs.length = this.ownerKeys.length = this.last = 0;
    batch(() => {
      for (const part of [this.shelf, this.turn, this.work]) part.clear();
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
    return this.shelf.find(key);
  }

  /** The call of a tool by its id; of several with one id, the last. */
  callOf(callId: string): ToolItem | undefined {
    return this.shelf.callOf(callId);
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
    if (!this.shelf.changed) return;
    this.shelf.changed = false;
    this.published.value = this.shelf.list.slice();
  }

  /** Gives the key of the item that tells of the event. */
  private route(event: ACPEvent): string | undefined {
    switch (event.type) {
      case 'message:start':
      case 'message:delta':
      case 'message:complete':
        return this.speech.said(event);
      case 'thinking:start':
      case 'thinking:delta':
      case 'thinking:complete':
        return this.speech.thought(event);
      case 'tool:args_delta':
      case 'tool:start':
      case 'tool:executing':
      case 'tool:result':
      case 'tool:error':
        return this.work.tool(event);
      case 'approval:requested':
        return this.work.asked(event);
      case 'approval:resolved':
        return this.work.resolved(event);
      case 'file:change':
        return this.work.file(event);
      case 'file:batch':
        return this.work.batch(event);
      case 'git:operation':
        return this.work.git(event);
      case 'web:operation':
        return this.work.web(event);
      case 'subagent:spawned':
      case 'subagent:progress':
      case 'subagent:completed':
        return this.subagents.told(event);
      case 'progress:plan_mode':
        return this.asides.plan(event);
      case 'progress:update':
        this.turn.progress.value = event;
        return undefined;
      case 'interaction:question':
        return this.asides.question(event);
      case 'session:error':
        return this.turn.failed(event);
      case 'session:status_changed':
        return this.turn.status(event);
      case 'resource:token_usage':
        this.turn.tally.spent(event.delta);
        return undefined;
      case 'resource:cost':
        this.turn.tally.paid(event.delta);
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
        return this.asides.notice(event, noticeOf(event));
      default:
        return this.asides.notice(event, unknownNotice(event));
    }
  }

  private custom(event: CustomEvent): string | undefined {
    const { data } = event;
    switch (`${event.namespace}/${event.eventName}`) {
      case 'trunkline/turn_started':
        this.turn.started(event, word(data, 'turnId'));
        return undefined;
      case 'trunkline/turn_ended':
        return this.turn.ended(event, word(data, 'stopReason') ?? 'end_turn', word(data, 'turnId'));
      case 'trunkline/question_resolved':
        return this.asides.answered(event);
      case 'acp/tool_call_update':
      case 'trunkline/terminal_output':
        return this.work.putOut(event);
      case 'agent/background_turn':
        if (word(data, 'state') === 'ended') this.turn.close(event);
        return this.asides.notice(event, noticeOf(event));
      case 'trunkline/user_content':
        return `m:${word(data, 'messageId') ?? ''}`;
      default:
        return this.asides.notice(event, noticeOf(event));
    }
  }
}
