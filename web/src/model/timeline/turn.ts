// The turn that runs: whether the agent has said something, what moves on in it, what it takes, and its end.
//
// Rule: whatever a turn left open is closed at its end, so that nothing seems to go on for ever.

import { signal } from '@preact/signals';
import type { ACPEvent, ProgressEvent, SessionErrorEvent, SessionStatusChangedEvent } from '../../generated/agent-context';
import { defined, leave } from './tool_call_state';
import { word } from './notices';
import { placeOf, type Shelf } from './item_list';
import { TurnTally } from './turn_tally';

export class RunningTurn {
  /** It runs and the agent has not said anything in it yet. */
  readonly waiting = signal(false);
  readonly progress = signal<ProgressEvent | undefined>(undefined);
  tally = new TurnTally();

  constructor(private readonly shelf: Shelf) {}

  clear(): void {
    this.tally = new TurnTally();
    this.waiting.value = false;
    this.progress.value = undefined;
  }

  started(event: ACPEvent, turnId: string | undefined): void {
    this.tally = new TurnTally(turnId, Date.parse(event.timestamp));
    this.waiting.value = true;
  }

  /** The agent said or did something. */
  heard(): void {
    this.waiting.value = false;
  }

  status(event: SessionStatusChangedEvent): string | undefined {
    const stop = word(event._meta, 'stopReason');
    if (stop !== undefined) return this.ended(event, stop, word(event._meta, 'turnId'));
    if (event.to === 'idle' || event.to === 'completed' || event.to === 'error') this.close(event);
    return undefined;
  }

  ended(event: ACPEvent, stopReason: string, turnId: string | undefined): string {
    this.close(event);
    const took = this.tally.ended(turnId, Date.parse(event.timestamp));
    const empty = event._meta?.['empty'] === true;
    this.tally = new TurnTally();
    return this.shelf.add({ kind: 'turn_end', key: `e:${turnId ?? event.seq}`, ...placeOf(event), stopReason, empty, ...defined({ turnId }), ...took }).key;
  }

  failed(event: SessionErrorEvent): string {
    this.close(event);
    const turnId = word(event._meta, 'turnId');
    const { prompt, pictures } = this.tally;
    this.tally = new TurnTally();
    return this.shelf.add({ kind: 'error', key: `x:${event.seq}`, ...placeOf(event), error: event.error, pictures, ...defined({ turnId, prompt }) }).key;
  }

  /** Nothing goes on any more. */
  close(event: ACPEvent): void {
    this.waiting.value = false;
    this.progress.value = undefined;
    const { open } = this.shelf;
    for (const item of open) {
      if (item.kind === 'tool') item.call.value = leave(item.call.peek());
      else if (item.kind === 'message') item.state.value = { ...item.state.peek(), done: true };
      else item.state.value = { ...item.state.peek(), done: true, endedAt: Date.parse(event.timestamp) };
    }
    if (open.size > 0) this.shelf.changed = true;
    open.clear();
  }
}
