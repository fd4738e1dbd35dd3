// What one turn took, counted from what was told while it ran.

import type { CostBreakdown, TokenUsage } from '../../generated/agent-context';
import { defined } from './tool_call_state';
import type { TurnEndItem } from './items';

type Took = Pick<TurnEndItem, 'durationMs' | 'tokens' | 'cost' | 'currency' | 'filesChanged'>;

export class TurnTally {
  /** What was asked for. */
  prompt: string | undefined;
  /** The addresses of its pictures. */
  pictures: readonly string[] = [];
  private tokens: TokenUsage | undefined;
  private cost: number | undefined;
  private currency: string | undefined;
  private readonly files = new Set<string>();

  constructor(private readonly turnId?: string, private readonly startedAt?: number) {}

  prompted(text: string, pictures: readonly string[]): void {
    this.prompt = text;
    this.pictures = pictures;
  }

  spent(delta: TokenUsage): void {
    this.tokens = {
      inputTokens: (this.tokens?.inputTokens ?? 0) + delta.inputTokens,
      outputTokens: (this.tokens?.outputTokens ?? 0) + delta.outputTokens,
      cacheReadTokens: (this.tokens?.cacheReadTokens ?? 0) + (delta.cacheReadTokens ?? 0),
      cacheWriteTokens: (this.tokens?.cacheWriteTokens ?? 0) + (delta.cacheWriteTokens ?? 0),
    };
  }

  paid(delta: CostBreakdown): void {
    this.cost = (this.cost ?? 0) + delta.total;
    this.currency = delta.currency;
  }

  file(path: string): void {
    this.files.add(path);
  }

  /** The sum, where all of the turn was seen; else what is known of it. */
  ended(turnId: string | undefined, at: number): Took {
    const whole = this.startedAt !== undefined && (turnId === undefined || turnId === this.turnId);
    return {
      filesChanged: this.files.size,
      ...(whole ? defined({ durationMs: at - this.startedAt!, tokens: this.tokens, cost: this.cost, currency: this.currency }) : {}),
    };
  }
}
