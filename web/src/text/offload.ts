// Work that would stop the page from answering, done in one worker: colouring code.
//
// Rule 1: the worker is started when it is first needed, from this page's own build. Where there is none, the answer is null and the
// page shows what it has: plain text.
// Rule 2: an answer that takes too long ends the worker; the next question starts another. A text that hurt it once is not sent again.

import workerAddress from './offload.worker?worker&url';
import { trusted } from '../trusted_types';
import type { Token } from './code/tokens';

/** What the worker colours. */
type Work = { text: string; language: string };
export type Question = Work & { id: number };
export type Answer = { id: number; result: Token[][] } | { id: number; failed: string };

interface Waiting {
  resolve(result: Token[][] | null): void;
  timer: ReturnType<typeof setTimeout>;
}

const LONGEST_MS = 8_000;
const waiting = new Map<number, Waiting>();
let worker: Worker | null = null;
let lastId = 0;

/** Ask the worker; null where it cannot say. */
export function offload(work: Work): Promise<Token[][] | null> {
  const running = started();
  if (running === null) return Promise.resolve(null);
  lastId += 1;
  const id = lastId;
  return new Promise((resolve) => {
    waiting.set(id, { resolve, timer: setTimeout(stop, LONGEST_MS) });
    running.postMessage({ ...work, id } satisfies Question);
  });
}

function started(): Worker | null {
  if (typeof Worker === 'undefined') return null;
  if (worker !== null) return worker;
  try {
    worker = new Worker(trusted().createScriptURL(workerAddress) as unknown as string, { type: 'module', name: 'trunkline' });
  } catch {
    return null; // a browser that forbids workers still shows plain text
  }
  worker.addEventListener('message', (event: MessageEvent<Answer>) => settle(event.data));
  worker.addEventListener('error', stop);
  return worker;
}

function settle(answer: Answer): void {
  const found = waiting.get(answer.id);
  if (found === undefined) return;
  waiting.delete(answer.id);
  clearTimeout(found.timer);
  found.resolve('failed' in answer ? null : answer.result);
}

function stop(): void {
  worker?.terminate();
  worker = null;
  for (const { resolve, timer } of waiting.values()) {
    clearTimeout(timer);
    resolve(null);
  }
  waiting.clear();
}
