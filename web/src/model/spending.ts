// Money, tokens and context over time: points for small plots.

import { signal, type ReadonlySignal } from '@preact/signals';
import type { ACPEvent } from '../generated/agent-context';

export interface Point {
  at: number;
  value: number;
}

const POINTS_MOST = 400;

/** The types that it is fed with. */
export const SPENDING_TYPES = 'resource:cost,resource:context_window,resource:token_usage';

export class Spending {
  private readonly _cost = signal<readonly Point[]>([]);
  private readonly _context = signal<readonly Point[]>([]);
  private readonly _tokens = signal<readonly Point[]>([]);
  private last = 0;

  get cost(): ReadonlySignal<readonly Point[]> {
    return this._cost;
  }

  get context(): ReadonlySignal<readonly Point[]> {
    return this._context;
  }

  get tokens(): ReadonlySignal<readonly Point[]> {
    return this._tokens;
  }

  apply(event: ACPEvent): void {
    if (event.seq <= this.last) return;
    const at = Date.parse(event.timestamp);
    if (event.type === 'resource:cost') this._cost.value = more(this._cost.peek(), { at, value: event.cumulative.total });
    else if (event.type === 'resource:context_window') this._context.value = more(this._context.peek(), { at, value: event.percentage });
    else if (event.type === 'resource:token_usage') {
      this._tokens.value = more(this._tokens.peek(), { at, value: event.cumulative.inputTokens + event.cumulative.outputTokens });
    } else return;
    this.last = event.seq;
  }

  /** Begin anew with what was stored. */
  refill(events: readonly ACPEvent[]): void {
    this.last = 0;
    this._cost.value = this._context.value = this._tokens.value = [];
    for (const event of events) this.apply(event);
  }
}

/** One more point; when there are too many, every second of the old ones goes. */
function more(points: readonly Point[], point: Point): Point[] {
  const kept = points.length < POINTS_MOST ? points : points.filter((_, index) => index % 2 === 0);
  return [...kept, point];
}
