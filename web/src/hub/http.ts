/**
 * Asking the hub over HTTP. The browser's cookie says who asks, below its own path; requests go to our own origin only.
 *
 * Rule 1: every failure is a HubError: the hub's own code and words where it answered, `unreachable` where it did not.
 * An answer that is cut off, or does not come in time, is no answer.
 * Rule 2: an answer of 401 calls who listens with `onUnauthorized`: the connection finds out whether we are still let in.
 */
import type { ErrorBody } from '../generated/api';
import { t } from '../i18n';
import { withBasePath, setBasePath } from './base_path';

/** How long it may take until an answer begins: to a question, to an order (an agent may have to start), to a file. */
const READ_MS = 30_000;
const WRITE_MS = 150_000;
const UPLOAD_MS = 600_000;
/** And until it has ended. */
const BODY_MS = 120_000;

export class HubError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly status: number = 0,
    readonly details: unknown = undefined,
    readonly recoverable: boolean = false,
  ) {
    super(message);
    this.name = 'HubError';
  }

  /** An error body, of an answer or of a frame. */
  static of(body: ErrorBody, status = 0): HubError {
    return new HubError(body.code, body.message, status, body.details, body.recoverable);
  }
}

/** Any failure as one of ours. */
export function asHubError(error: unknown): HubError {
  if (error instanceof HubError) return error;
  return new HubError('failed', error instanceof Error ? error.message : String(error));
}

type UnauthorizedListener = () => void;
const listeners = new Set<UnauthorizedListener>();

/** Called when the hub does not know this browser (any more). */
export function onUnauthorized(listener: UnauthorizedListener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** An answer, read to its end. */
interface Answer {
  status: number;
  ok: boolean;
  text: string;
}

async function sendRequest(method: string, path: string, body?: BodyInit, headers: Record<string, string> = {}, patienceMs = timeoutFor(method)): Promise<string> {
  if (!path.startsWith('/') || path.startsWith('//')) throw new TypeError(`not a path of the hub: ${path}`);
  const answer = await withTimeout(patienceMs, (signal) => fetch(withBasePath(path), { method, body: body ?? null, headers, credentials: 'same-origin', cache: 'no-store', signal }));
  if (!answer.ok) throw failure(answer);
  return answer.text;
}

/** A connection that stalls is given up: to wait for ever looks like working. */
async function withTimeout(patienceMs: number, fetching: (signal: AbortSignal) => Promise<Response>): Promise<Answer> {
  const patience = new AbortController();
  const giveUp = (): void => patience.abort();
  let timer = setTimeout(giveUp, patienceMs);
  try {
    const answer = await fetching(patience.signal);
    clearTimeout(timer);
    timer = setTimeout(giveUp, BODY_MS);
    return { status: answer.status, ok: answer.ok, text: await answer.text() };
  } catch {
    throw new HubError('unreachable', t(patience.signal.aborted ? 'common.stalled' : 'common.unreachable'), 0, undefined, true);
  } finally {
    clearTimeout(timer);
  }
}

function timeoutFor(method: string): number {
  return method === 'GET' ? READ_MS : WRITE_MS;
}

function failure(answer: Answer): HubError {
  if (answer.status === 401) listeners.forEach((listener) => listener());
  return HubError.of(errorBody(answer), answer.status);
}

function errorBody(answer: Answer): ErrorBody {
  try {
    const body = JSON.parse(answer.text) as Partial<ErrorBody>;
    if (typeof body.code === 'string') return { recoverable: false, message: body.code, ...body } as ErrorBody;
  } catch {
    // Not JSON: somebody between us and the hub answered.
  }
  return { code: 'failed', message: t('common.hubAnswered', { status: answer.status }), recoverable: answer.status >= 500 };
}

async function sendJson<T>(method: string, path: string, body?: unknown, more: Record<string, string> = {}): Promise<T> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const headers: Record<string, string> = { Accept: 'application/json', ...more };
  if (text !== undefined) headers['Content-Type'] = 'application/json';
  const answer = await sendRequest(method, path, text, headers);
  return !answer && method !== 'GET' ? (undefined as T) : readJson<T>(answer);
}

/** A line that was cut within the head leaves an answer without its length: whatever came of the body then passes for all of it. */
function readJson<T>(answer: string): T {
  try {
    return JSON.parse(answer) as T;
  } catch {
    throw new HubError('unreachable', t('common.unreachable'), 0, undefined, true);
  }
}

export const http = {
  get: <T>(path: string): Promise<T> => sendJson<T>('GET', path),
  post: <T>(path: string, body?: unknown, headers?: Record<string, string>): Promise<T> => sendJson<T>('POST', path, body, headers),
  /** Log in or pair: from then on requests go where the new cookie counts. */
  enter: async <T>(path: '/auth/login' | '/pair/claim', body: unknown): Promise<T> => {
    const answer = await sendJson<T>('POST', path, body);
    setBasePath(answer);
    return answer;
  },
  put: <T>(path: string, body?: unknown, headers?: Record<string, string>): Promise<T> => sendJson<T>('PUT', path, body, headers),
  patch: <T>(path: string, body?: unknown): Promise<T> => sendJson<T>('PATCH', path, body),
  del: <T = void>(path: string, body?: unknown): Promise<T> => sendJson<T>('DELETE', path, body),
  upload: async (path: string, form: FormData): Promise<unknown> => JSON.parse(await sendRequest('POST', path, form, {}, UPLOAD_MS)),
  text: (path: string): Promise<string> => sendRequest('GET', path),
};

/** An address: its parts are quoted, what is undefined is left out of the query. */
export function pathOf(parts: string[], query: Record<string, string | number | undefined> = {}): string {
  const path = `/${parts.map(encodeURIComponent).join('/')}`;
  const given = Object.entries(query).filter(([, value]) => value !== undefined).map(([key, value]) => [key, String(value)]);
  return given.length ? `${path}?${new URLSearchParams(given)}` : path;
}
