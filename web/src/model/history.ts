// Pages of a session's history, as the hub gives them.

import type { EventPage } from '../generated/api';
import { asHubError, pathOf } from '../hub/http';
import { SPENDING_TYPES } from './spending';

export const PAGE = 1_000;

export class JournalPages {
  /** Whether the hub joins runs of pieces; an older one does not. */
  private joined = true;

  constructor(private readonly sessionId: string, private readonly get: <T>(path: string) => Promise<T>) {}

  /** The newest page, or the one around an entry. */
  first(around: number | undefined): Promise<EventPage> {
    return around === undefined ? this.page({ before: Number.MAX_SAFE_INTEGER }) : this.page({ after: Math.max(0, around - PAGE / 4) });
  }

  /** A page with runs of pieces joined, where the hub can. */
  async page(cursor: { after?: number; before?: number }): Promise<EventPage> {
    if (!this.joined) return this.get<EventPage>(this.path(cursor));
    try {
      return await this.get<EventPage>(this.path({ ...cursor, joined: 'true' }));
    } catch (error) {
      if (asHubError(error).status !== 400) throw error;
      this.joined = false;
      return this.get<EventPage>(this.path(cursor));
    }
  }

  /** What tells of money and tokens, of the whole session. */
  spending(): Promise<EventPage> {
    return this.get<EventPage>(this.path({ types: SPENDING_TYPES, before: Number.MAX_SAFE_INTEGER }));
  }

  private path(query: Record<string, string | number>): string {
    return pathOf(['sessions', this.sessionId, 'history'], { ...query, limit: PAGE });
  }
}
