/// <reference lib="webworker" />
/**
 * The service worker: the page's shell without a network, and notifications.
 *
 * Rule 1: only the page itself is cached, never an answer of the API: what a session is like is the hub's to say.
 * Rule 2: the shell and its parts are of one build. A new build brings a new worker and a cache of its own.
 * Rule 3: acting from a notification is a request like any other: with the device's cookie, below its own path. Where that is not enough,
 * or nobody answers, the page opens instead; nothing is decided without authentication.
 * Rule 4: every push shows a notification. Browsers end the subscription of who does not (Safari), or show one of their own (Chrome).
 */
import { withSharedBasePath } from './hub/base_path';
import { placeOf, requestOf, shownOf, tagOf, type NoticeData } from './views/devices/push_notice';

declare const self: ServiceWorkerGlobalScope;
declare const __SHELL__: string[];
declare const __ASSETS__: string[];

const CACHE = `trunkline-${buildName(__ASSETS__)}`;
/** How long an opened page waits for the hub before it starts from the cache. */
const PATIENCE_MS = 3000;

self.addEventListener('install', (event) => event.waitUntil(install()));
self.addEventListener('activate', (event) => event.waitUntil(takeOver()));
self.addEventListener('fetch', (event) => {
  const answer = answerFor(event.request);
  if (answer) event.respondWith(answer);
});
self.addEventListener('push', (event) => event.waitUntil(inTurn(() => show(event.data))));
self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(act(event.notification.data as NoticeData, event.action));
});
self.addEventListener('pushsubscriptionchange', (event) => (event as ExtendableEvent).waitUntil(subscribeAgain(event as ChangedSubscription)));
self.addEventListener('message', (event) => {
  const message = event.data as { type?: unknown; asks?: unknown } | null;
  const asks = message?.type === 'pending' && Array.isArray(message.asks) ? message.asks.map(String) : null;
  if (asks) event.waitUntil(inTurn(() => closeResolved(asks)));
});

// The shell

async function install(): Promise<void> {
  const cache = await caches.open(CACHE);
  await cache.addAll(__SHELL__.map((path) => new Request(path, { cache: 'reload' })));
  await self.skipWaiting();
}

async function takeOver(): Promise<void> {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name.startsWith('trunkline-') && name !== CACHE).map((name) => caches.delete(name)));
  await self.clients.claim();
  const cache = await caches.open(CACHE);
  await Promise.all(__ASSETS__.map((path) => keepPart(cache, path)));
}

/** A part that cannot be had now is fetched when it is needed. */
async function keepPart(cache: Cache, path: string): Promise<void> {
  if (await cache.match(path)) return;
  await cache.add(path).catch(() => undefined);
}

function answerFor(request: Request): Promise<Response> | null {
  const url = new URL(request.url);
  if (request.method !== 'GET' || url.origin !== self.location.origin) return null;
  if (request.mode === 'navigate') return url.pathname === '/' ? page(request) : null;
  return url.pathname.startsWith('/assets/') || url.pathname.startsWith('/icons/') ? part(request) : null;
}

/** The page from the hub, and from the cache where the hub does not answer. */
async function page(request: Request): Promise<Response> {
  try {
    const answer = await fetch(request, { signal: AbortSignal.timeout(PATIENCE_MS) });
    if (answer.status < 500) return answer;
    return (await caches.match('/')) ?? answer;
  } catch (error) {
    const kept = await caches.match('/');
    if (!kept) throw error;
    return kept;
  }
}

/** A part has its content in its name: once fetched, it is right for ever. */
async function part(request: Request): Promise<Response> {
  const kept = await caches.match(request, { ignoreVary: true });
  if (kept) return kept;
  const answer = await fetch(request);
  if (answer.ok) await (await caches.open(CACHE)).put(request, answer.clone());
  return answer;
}

function buildName(files: string[]): string {
  let name = 0;
  for (const letter of files.join()) name = (Math.imul(name, 31) + letter.charCodeAt(0)) | 0;
  return (name >>> 0).toString(36);
}

// Notifications

let before: Promise<unknown> = Promise.resolve();

/** One after the other: Chromium forgets a notification that is being shown while somebody asks for the list of them. */
function inTurn(work: () => Promise<void>): Promise<void> {
  const done = before.then(work);
  before = done.catch(() => undefined);
  return done;
}

async function show(data: PushMessageData | null): Promise<void> {
  const shown = shownOf(readPush(data));
  const seen = await isSeen(shown.data);
  const silent = shown.silent || seen;
  const options: NotificationOptions & { actions: unknown; renotify: boolean } = {
    body: shown.body, tag: shown.tag, data: shown.data, actions: shown.actions, renotify: !silent, silent,
    requireInteraction: shown.requireInteraction, icon: '/icons/icon-192.png', badge: '/icons/badge-96.png',
  };
  await self.registration.showNotification(shown.title, options);
  await closeSettled(shown.tag);
  // It was shown, as browsers demand; with the page before somebody's eyes that is enough.
  if (seen) await closeTagged(shown.tag);
}

/** What only tells that an ask was answered has been there long enough when the next push comes. */
async function closeSettled(but: string): Promise<void> {
  for (const notification of await self.registration.getNotifications()) {
    if (notification.tag !== but && (notification.data as NoticeData | null)?.kind === 'resolved') notification.close();
  }
}

function readPush(data: PushMessageData | null): unknown {
  try {
    return data?.json();
  } catch {
    return null;
  }
}

/** Whether somebody has this session, or of what was answered the page at all, before their eyes: then the page itself tells. */
async function isSeen(data: NoticeData): Promise<boolean> {
  const place = data.kind === 'resolved' ? '/' : placeOf(data);
  const windows = await self.clients.matchAll({ type: 'window' });
  return windows.some((each) => each.focused && each.visibilityState === 'visible' && each.url.includes(place));
}

async function act(data: NoticeData, action: string): Promise<void> {
  const request = requestOf(data, action);
  if (request && (await send(request))) return;
  await open(placeOf(data));
}

async function send(request: { path: string; body: unknown }): Promise<boolean> {
  try {
    const answer = await fetch(await withSharedBasePath(request.path), {
      method: 'POST', credentials: 'same-origin', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(request.body),
    });
    return answer.ok;
  } catch {
    return false;
  }
}

async function open(place: string): Promise<void> {
  const windows = await self.clients.matchAll({ type: 'window' });
  const window = windows.find((each) => each.focused) ?? windows[0];
  if (!window) {
    await self.clients.openWindow(place);
    return;
  }
  await window.focus().catch(() => undefined); // A browser may not let us; the page goes there all the same.
  window.postMessage({ type: 'go', place });
}

async function closeTagged(tag: string): Promise<void> {
  for (const notification of await self.registration.getNotifications({ tag })) notification.close();
}

/** The page knows what still waits: notifications of anything else are closed. */
async function closeResolved(asks: string[]): Promise<void> {
  const open = new Set(asks.map((ask) => tagOf({ kind: 'approval', ask })));
  const shown = await self.registration.getNotifications();
  for (const notification of shown) {
    if (notification.tag.startsWith('ask:') && !open.has(notification.tag)) notification.close();
  }
}

/** What the browser sends when its push service gave a subscription up. */
interface ChangedSubscription extends ExtendableEvent {
  newSubscription?: PushSubscription | null;
  oldSubscription?: PushSubscription | null;
}

/** the hub gets the new address, for the same things as before. */
async function subscribeAgain({ newSubscription, oldSubscription }: ChangedSubscription): Promise<void> {
  const known = (await (await fetch(await withSharedBasePath('/push'), { credentials: 'same-origin' })).json()) as { publicKey?: string; subscription?: { kinds: string[] } | null };
  if (!known.subscription) return;
  const options = oldSubscription?.options ?? { userVisibleOnly: true, applicationServerKey: known.publicKey ?? null };
  const made = newSubscription ?? (await self.registration.pushManager.subscribe(options));
  const { endpoint, keys } = made.toJSON();
  await send({ path: '/push', body: { endpoint, keys: { p256dh: keys?.['p256dh'], auth: keys?.['auth'] }, kinds: known.subscription.kinds } });
}
