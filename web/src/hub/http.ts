/**
 * Asking the hub over HTTP. The browser's cookie says who asks; requests go to our own origin only.
 *
 * Rule 1: every failure is a HubError: the hub's own code and words where it answered, `unreachable` where it did not.
 * Rule 2: an answer of 401 is told to who listens with `onUnauthorized`: the line to the hub finds out whether we are still let in.
 */
import type { ErrorBody } from '../generated/api';
import { t } from '../i18n';

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

type Listener = () => void;
const listeners = new Set<Listener>();

/** Be told when the hub does not know this browser (any more). */
export function onUnauthorized(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

async function ask(method: string, path: string, body?: BodyInit, headers: Record<string, string> = {}): Promise<Response> {
  if (!path.startsWith('/') || path.startsWith('//')) throw new TypeError(`not a path of the hub: ${path}`);
  let answer: Response;
  try {
    answer = await fetch(path, { method, body: body ?? null, headers, credentials: 'same-origin', cache: 'no-store' });
  } catch {
    throw new HubError('unreachable', t('common.unreachable'), 0, undefined, true);
  }
  if (!answer.ok) throw await failure(answer);
  return answer;
}

async function failure(answer: Response): Promise<HubError> {
  const body = await errorBody(answer);
  if (answer.status === 401) listeners.forEach((listener) => listener());
  return HubError.of(body, answer.status);
}

async function errorBody(answer: Response): Promise<ErrorBody> {
  try {
    const body = (await answer.json()) as Partial<ErrorBody>;
    if (typeof body.code === 'string') return { recoverable: false, message: body.code, ...body } as ErrorBody;
  } catch {
    // Not JSON: somebody between us and the hub answered.
  }
  return { code: 'failed', message: t('common.hubAnswered', { status: answer.status }), recoverable: answer.status >= 500 };
}

async function json<T>(method: string, path: string, body?: unknown, more: Record<string, string> = {}): Promise<T> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const headers: Record<string, string> = { Accept: 'application/json', ...more };
  if (text !== undefined) headers['Content-Type'] = 'application/json';
  const answer = await ask(method, path, text, headers);
  const said = await answer.text();
  return (said ? JSON.parse(said) : undefined) as T;
}

export const http = {
  get: <T>(path: string): Promise<T> => json<T>('GET', path),
  post: <T>(path: string, body?: unknown, headers?: Record<string, string>): Promise<T> => json<T>('POST', path, body, headers),
  put: <T>(path: string, body?: unknown): Promise<T> => json<T>('PUT', path, body),
  patch: <T>(path: string, body?: unknown): Promise<T> => json<T>('PATCH', path, body),
  del: <T = void>(path: string, body?: unknown): Promise<T> => json<T>('DELETE', path, body),
  upload: async (path: string, form: FormData): Promise<unknown> => (await ask('POST', path, form)).json(),
  text: async (path: string): Promise<string> => (await ask('GET', path)).text(),
};

/** An address: its parts are quoted, what is undefined is left out of the query. */
export function pathOf(parts: string[], query: Record<string, string | number | undefined> = {}): string {
  const path = `/${parts.map(encodeURIComponent).join('/')}`;
  const given = Object.entries(query).filter(([, value]) => value !== undefined).map(([key, value]) => [key, String(value)]);
  return given.length ? `${path}?${new URLSearchParams(given)}` : path;
}
