// A session's history as the hub gives it, page by page, and the list that it is kept in.
//
// Rule: runs of pieces of one text are joined, so that what is kept does not grow with every chunk. A joined piece has the seq of its
// last, as the hub's own joined pages have.

import type { ACPEvent, MessageDeltaEvent, ThinkingDeltaEvent, ToolCallArgsDeltaEvent } from '../generated/agent-context';
import type { EventPage } from '../generated/api';
import { asHubError, pathOf } from '../hub/http';
import { SPENDING_TYPES } from './spending';

export const PAGE_EVENTS = 1_000;

export class HistoryPages {
  /** Whether the hub joins runs of pieces; an older one does not. */
  private joined = true;

  constructor(private readonly sessionId: string, private readonly get: <T>(path: string) => Promise<T>) {}

  /** The newest page, or the one around an entry. */
  first(around: number | undefined): Promise<EventPage> {
    return around === undefined ? this.page({ before: Number.MAX_SAFE_INTEGER }) : this.page({ after: Math.max(0, around - PAGE_EVENTS / 4) });
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

  /** The events about money and tokens, of the whole session. */
  spending(): Promise<EventPage> {
    return this.get<EventPage>(this.path({ types: SPENDING_TYPES, before: Number.MAX_SAFE_INTEGER }));
  }

  private path(query: Record<string, string | number>): string {
    return pathOf(['sessions', this.sessionId, 'history'], { ...query, limit: PAGE_EVENTS });
  }
}

type DeltaEvent = MessageDeltaEvent | ThinkingDeltaEvent | ToolCallArgsDeltaEvent;

/** A piece longer than this is not made longer: to copy it for every chunk would cost more than to keep another. */
const DELTA_MOST = 16_384;

/** Put an event behind the others; a piece of what the last one is a piece of goes into it. */
export function appendEvent(events: ACPEvent[], event: ACPEvent): void {
  const before = textBefore(events[events.length - 1], event);
  if (before === undefined) events.push(event);
  else events[events.length - 1] = { ...events[events.length - 1], seq: event.seq, timestamp: event.timestamp, delta: before + (event as DeltaEvent).delta } as DeltaEvent;
}

/** The text that an event goes on with, where the last event is a piece of the same. */
function textBefore(last: ACPEvent | undefined, next: ACPEvent): string | undefined {
  if (last === undefined || last.type !== next.type || next._meta !== undefined) return undefined;
  switch (last.type) {
    case 'message:delta':
    case 'thinking:delta':
      return last.messageId === (next as typeof last).messageId && last.delta.length < DELTA_MOST ? last.delta : undefined;
    case 'tool:args_delta':
      return last.toolCallId === (next as typeof last).toolCallId && last.delta.length < DELTA_MOST ? last.delta : undefined;
    default:
      return undefined;
  }
}

interface PacketPage {
  messages: { packet: { content?: { text?: unknown } } }[];
  nextAfter: number | null;
}

/** A text that was too long for one event, from the packets that it came in, page by page. */
export async function wholeText(url: string, get: <T>(path: string) => Promise<T>): Promise<string> {
  const pieces: string[] = [];
  for (let path: string | null = url; path !== null;) {
    const page: PacketPage = await get<PacketPage>(path);
    for (const { packet } of page.messages) if (typeof packet.content?.text === 'string') pieces.push(packet.content.text);
    path = page.nextAfter === null ? null : url.replace(/([?&]after=)\d+/, `$1${page.nextAfter}`);
  }
  return pieces.join('');
}
