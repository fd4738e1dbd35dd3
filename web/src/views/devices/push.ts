/**
 * Notifications on this device: whether they can be had, and turning them on and off.
 *
 * Rule 1: what the browser does not offer is shown with its reason, never tried.
 * Rule 2: the hub gets only what the browser agreed to, and word of its end.
 */
import { http } from '../../hub/http';
import { hasWorker } from './worker';

export const KINDS = ['approval', 'question', 'finished', 'failed'] as const;
export type Kind = (typeof KINDS)[number];

export type PushState =
  | { is: 'insecure' } | { is: 'unsupported' } | { is: 'denied' } | { is: 'off' }
  | { is: 'on'; kinds: Kind[] };

interface PushInfo {
  publicKey: string;
  kinds: Kind[];
  subscription: { endpoint: string; kinds: Kind[] } | null;
}

const READY_MS = 8_000;

/** How it stands: in the browser and at the hub. */
export async function pushState(): Promise<PushState> {
  if (!globalThis.isSecureContext) return { is: 'insecure' };
  if (!hasWorker || !('PushManager' in globalThis) || !('Notification' in globalThis)) return { is: 'unsupported' };
  if (Notification.permission === 'denied') return { is: 'denied' };
  const registration = await navigator.serviceWorker.getRegistration('/');
  const own = await registration?.pushManager.getSubscription();
  if (!own) return { is: 'off' };
  const { subscription } = await http.get<PushInfo>('/push');
  return subscription?.endpoint === own.endpoint ? { is: 'on', kinds: subscription.kinds } : { is: 'off' };
}

/** Ask the browser, then tell the hub. */
export async function turnOn(kinds: readonly Kind[]): Promise<PushState> {
  if ((await Notification.requestPermission()) !== 'granted') return { is: Notification.permission === 'denied' ? 'denied' : 'off' };
  const { publicKey } = await http.get<PushInfo>('/push');
  const registration = await ready();
  const key = bytesOf(publicKey);
  const subscription = (await kept(registration, key)) ?? (await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key }));
  await register(subscription, kinds);
  return { is: 'on', kinds: [...kinds] };
}

/** Be notified of other things from now on. */
export async function chooseKinds(kinds: readonly Kind[]): Promise<PushState> {
  const registration = await ready();
  const subscription = await registration.pushManager.getSubscription();
  if (!subscription) return { is: 'off' };
  await register(subscription, kinds);
  return { is: 'on', kinds: [...kinds] };
}

export async function turnOff(): Promise<PushState> {
  const registration = await navigator.serviceWorker.getRegistration('/');
  const subscription = await registration?.pushManager.getSubscription();
  await http.del('/push', subscription ? { endpoint: subscription.endpoint } : undefined);
  await subscription?.unsubscribe();
  return { is: 'off' };
}

async function register(subscription: PushSubscription, kinds: readonly Kind[]): Promise<void> {
  const { endpoint, keys } = subscription.toJSON();
  await http.post('/push', { endpoint, keys: { p256dh: keys?.['p256dh'], auth: keys?.['auth'] }, kinds });
}

/** A subscription that was made with the hub's key; one of another hub's is of no use and goes. */
async function kept(registration: ServiceWorkerRegistration, key: Uint8Array): Promise<PushSubscription | null> {
  const subscription = await registration.pushManager.getSubscription();
  const with_ = subscription?.options.applicationServerKey;
  if (!subscription || (with_ && isSame(new Uint8Array(with_), key))) return subscription;
  await subscription.unsubscribe();
  return null;
}

async function ready(): Promise<ServiceWorkerRegistration> {
  const late = new Promise<never>((_, reject) => setTimeout(() => reject(new Error('the service worker did not start')), READY_MS));
  return Promise.race([navigator.serviceWorker.ready, late]);
}

/** base64url, as keys of Web Push are written. */
export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const plain = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(plain, (letter) => letter.charCodeAt(0));
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}
