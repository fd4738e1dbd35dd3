/**
 * Sessions that change hands: who has one, and the requests that take it over or give it back.
 *
 * Rule: while another program has a session, the hub is asked to answer once that has ended; nothing is asked in between.
 */
import type { HandoverView, SessionView, Way } from '../generated/api';
import { http, pathOf } from './http';

/** How long the hub is asked to wait for a program to end; below the patience for any answer. */
const WAIT_S = 20;

export function handoverOf(sessionId: string, wait = false): Promise<HandoverView> {
  return http.get<HandoverView>(pathOf(['sessions', sessionId, 'handover'], wait ? { wait: WAIT_S } : {}));
}

/** The session that goes on here: itself, or the one that begins with it. */
export function takeOver(sessionId: string, how: Way['how']): Promise<SessionView> {
  return http.post<SessionView>(pathOf(['sessions', sessionId, 'take-over']), { how });
}

export function giveBack(sessionId: string): Promise<HandoverView> {
  return http.post<HandoverView>(pathOf(['sessions', sessionId, 'give-back']), {});
}
