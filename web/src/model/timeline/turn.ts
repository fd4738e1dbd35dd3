// The turn that runs: whether the agent has begun to answer, what moves on in it, what it takes, and its end.
//
// Rule: whatever a turn left open is closed at its end, so that nothing seems to go on for ever.

import { signal } from '@preact/signals';
import type { ACPEvent, CostBreakdown, ProgressEvent, SessionErrorEvent, SessionStatusChangedEvent, TokenUsage } from '../../generated/agent-context';
import { defined, readText, startOf } from './event_fields';
import type { ItemList } from './item_list';
import type { TurnEndItem } from './items';
import { abandon } from './tool_call_state';

export class RunningTurn {
  /** It runs and the agent has not begun to answer yet. */
  readonly waiting = signal(false);
  readonly progress = signal<ProgressEvent | undefined>(undefined);
  tally = new TurnTally();

  constructor(private readonly items: ItemList) {}

  clear(): void {
    this.tally = new TurnTally();
    this.waiting.value = false;
    this.progress.value = undefined;
  }

  onStarted(event: ACPEvent, turnId: string | undefined): void {
    this.tally = new TurnTally(turnId, Date.parse(event.timestamp));
    this.waiting.value = true;
  }

  /** The agent wrote or did something. */
  markActive(): void {
    this.waiting.value = false;
  }

  onStatus(event: SessionStatusChangedEvent): string | undefined {
    const stop = readText(event._meta, 'stopReason');
    if (stop !== undefined) return this.onEnded(event, stop, readText(event._meta, 'turnId'));
    if (event.to === 'idle' || event.to === 'completed' || event.to === 'error') this.close(event);
    return undefined;
  }

  onEnded(event: ACPEvent, stopReason: string, turnId: string | undefined): string {
    this.close(event);
    const took = this.tally.total(turnId, Date.parse(event.timestamp));
    const empty = event._meta?.['empty'] === true;
    this.tally = new TurnTally();
    return this.items.add({ kind: 'turn_end', key: `e:${turnId ?? event.seq}`, ...startOf(event), stopReason, empty, ...defined({ turnId }), ...took }).key;
  }

  onFailed(event: SessionErrorEvent): string {
    this.close(event);
    const turnId = readText(event._meta, 'turnId');
    const { prompt, pictures } = this.tally;
    this.tally = new TurnTally();
    return this.items.add({ kind: 'error', key: `x:${event.seq}`, ...startOf(event), error: event.error, pictures, ...defined({ turnId, prompt }) }).key;
  }

  /** Nothing goes on any more. */
  close(event: ACPEvent): void {
    this.waiting.value = false;
    this.progress.value = undefined;
    const { open } = this.items;
    for (const item of open) {
      if (item.kind === 'tool') item.call.value = abandon(item.call.peek());
      else if (item.kind === 'message') item.state.value = { ...item.state.peek(), done: true };
      else item.state.value = { ...item.state.peek(), done: true, endedAt: Date.parse(event.timestamp) };
    }
    if (open.size > 0) this.items.changed = true;
    open.clear();
  }
}

type TurnCost = Pick<TurnEndItem, 'durationMs' | 'tokens' | 'cost' | 'currency' | 'filesChanged'>;

/** What one turn took, counted from the events that came while it ran. */
class TurnTally {
  /** The text of the prompt. */
  prompt: string | undefined;
  /** The addresses of its pictures. */
  pictures: readonly string[] = [];
  private tokens: TokenUsage | undefined;
  private cost: number | undefined;
  private currency: string | undefined;
  private readonly files = new Set<string>();

  constructor(private readonly turnId?: string, private readonly startedAt?: number) {}

  setPrompt(text: string, pictures: readonly string[]): void {
    this.prompt = text;
    this.pictures = pictures;
  }

  addTokens(delta: TokenUsage): void {
    this.tokens = {
      inputTokens: (this.tokens?.inputTokens ?? 0) + delta.inputTokens,
      outputTokens: (this.tokens?.outputTokens ?? 0) + delta.outputTokens,
      cacheReadTokens: (this.tokens?.cacheReadTokens ?? 0) + (delta.cacheReadTokens ?? 0),
      cacheWriteTokens: (this.tokens?.cacheWriteTokens ?? 0) + (delta.cacheWriteTokens ?? 0),
    };
  }

  addCost(delta: CostBreakdown): void {
    this.cost = (this.cost ?? 0) + delta.total;
    this.currency = delta.currency;
  }

  addFile(path: string): void {
    this.files.add(path);
  }

  /** The sum, where all of the turn was seen; else what is known of it. */
  total(turnId: string | undefined, at: number): TurnCost {
    const whole = this.startedAt !== undefined && (turnId === undefined || turnId === this.turnId);
    return {
      filesChanged: this.files.size,
      ...(whole ? defined({ durationMs: at - this.startedAt!, tokens: this.tokens, cost: this.cost, currency: this.currency }) : {}),
    };
  }
}
