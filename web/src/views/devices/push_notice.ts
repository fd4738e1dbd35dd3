/**
 * What a push says, as a notification, and what acting on it asks of the hub.
 *
 * Rule 1: pure; the service worker shows and sends. A push is read with care: what is no notice is shown as "something happened".
 * Rule 2: only what is of low or medium risk, and shown whole, is approved from a notification; of the rest one sees too little there.
 * What nobody would see is spelled out.
 * Rule 3: a notification of one thing replaces the one before it (its tag), and can be found again to be closed.
 * Rule 4: every push has something to show. That an ask was answered is shown in the place of that ask, without a sound.
 */

import { givenName, isTerminal } from '../../hub/login_name';
import { notices } from '../../i18n/en/notices';
import { spelledOut } from '../../text/unseen';

type NoticeKind = 'approval' | 'question' | 'finished' | 'failed' | 'resolved';
type Words = Record<keyof typeof notices, string>;

/** What the hub sends (`requestId` is our `ask`: the id of the approval or question). */
interface PushNotice {
  kind: NoticeKind;
  sessionId: string;
  title: string;
  body: string;
  ask?: string;
  riskLevel?: string;
  /** What the device may do from its notification. */
  actions: string[];
  /** How an ask ended, and by whom. */
  outcome: string;
  by: string;
}

/** What a notification carries, to act on later. */
export interface NoticeData {
  kind: NoticeKind | 'unknown';
  sessionId?: string;
  ask?: string;
}

interface ShownNotice {
  title: string;
  body: string;
  tag: string;
  data: NoticeData;
  actions: { action: 'approve' | 'deny' | 'open'; title: string }[];
  requireInteraction: boolean;
  /** It takes its place without a sound. */
  silent: boolean;
}

/** What a notification shows without being opened; what is longer is cut by the system. */
const WHOLE_MOST = 120;

/** The ask that something is about: its notification's tag. */
export function tagOf(data: NoticeData): string {
  return data.ask ? `ask:${data.ask}` : `session:${data.sessionId ?? ''}:${data.kind}`;
}

/** The notification of a push. */
export function shownOf(push: unknown, words: Words = notices): ShownNotice {
  const notice = readPushNotice(push);
  if (!notice) return { title: words.unknown, body: '', tag: 'unknown', data: { kind: 'unknown' }, actions: [], requireInteraction: false, silent: false };
  const data: NoticeData = { kind: notice.kind, sessionId: notice.sessionId };
  if (notice.ask) data.ask = notice.ask;
  const asks = notice.kind === 'approval' || notice.kind === 'question';
  const ended = notice.kind === 'resolved' ? endOf(notice, words) : null;
  const title = spelledOut(notice.title) || (notice.kind === 'resolved' ? words.over : words[notice.kind]);
  return { title, body: ended ?? spelledOut(notice.body), tag: tagOf(data), data, actions: actionsOf(notice, words), requireInteraction: asks, silent: ended !== null };
}

/** How an ask ended, in words. */
function endOf(notice: PushNotice, words: Words): string {
  const outcome = notice.outcome;
  if (outcome === 'approved' || outcome === 'denied' || outcome === 'answered' || outcome === 'dismissed') {
    return notice.by ? words[`${outcome}By`].replace('{by}', () => spelledOut(isTerminal(notice.by) ? words.terminal : givenName(notice.by) ?? words.anotherBrowser)) : words[outcome];
  }
  return outcome === 'expired' ? words.expired : words.over;
}

/** Where a notification leads. */
export function placeOf(data: NoticeData): string {
  return data.sessionId ? `/#/s/${encodeURIComponent(data.sessionId)}` : '/#/';
}

/** The request that an action stands for; null where it only opens the page. */
export function requestOf(data: NoticeData, action: string): { path: string; body: unknown } | null {
  if (data.kind !== 'approval' || !data.sessionId || !data.ask) return null;
  if (action !== 'approve' && action !== 'deny') return null;
  const path = `/sessions/${encodeURIComponent(data.sessionId)}/permissions/${encodeURIComponent(data.ask)}`;
  return { path, body: { decision: action === 'approve' ? 'allow' : 'deny' } };
}

function actionsOf(notice: PushNotice, words: Words): ShownNotice['actions'] {
  if (notice.kind !== 'approval' || !notice.ask || !notice.actions.length) return [];
  const safe = notice.riskLevel === 'low' || notice.riskLevel === 'medium';
  const look = !safe || notice.body.endsWith('…') || notice.body.length > WHOLE_MOST || !notice.actions.includes('approve');
  const first = look ? ({ action: 'open', title: words.look } as const) : ({ action: 'approve', title: words.approve } as const);
  return notice.actions.includes('deny') ? [first, { action: 'deny', title: words.deny }] : [first];
}

function readPushNotice(push: unknown): PushNotice | null {
  const fields = (typeof push === 'object' && push !== null ? push : {}) as Record<string, unknown>;
  const kind = fields.kind;
  if (kind !== 'approval' && kind !== 'question' && kind !== 'finished' && kind !== 'failed' && kind !== 'resolved') return null;
  if (typeof fields.sessionId !== 'string') return null;
  const ask = text(fields.requestId);
  return {
    kind, sessionId: fields.sessionId, title: text(fields.title), body: text(fields.body), outcome: text(fields.outcome), by: text(fields.by),
    actions: Array.isArray(fields.actions) ? fields.actions.map(String) : [],
    ...(ask ? { ask } : {}), ...(text(fields.riskLevel) ? { riskLevel: text(fields.riskLevel) } : {}),
  };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
