/**
 * The page's side of its service worker: start it, keep its notifications true, go where a notification leads.
 *
 * Rule: where the browser offers none (plain HTTP, private windows), the page works without.
 */
import { effect } from '@preact/signals';
import { askId, pending, sessionList } from '../../hub/session_list';
import { trusted } from '../../trusted_types';
import { keepInstallOffer } from './install_offer';

/** Whether this page can have a service worker at all. */
export const hasWorker = globalThis.isSecureContext && 'serviceWorker' in navigator;

/** Start it once the page is there; in development there is none to start. */
export function startWorker(): void {
  keepInstallOffer();
  if (!hasWorker || !import.meta.env.PROD) return;
  navigator.serviceWorker.register(trusted().createScriptURL('/sw.js'), { scope: '/', updateViaCache: 'none' }).catch(() => undefined);
  navigator.serviceWorker.addEventListener('message', (event) => onMessage(event.data));
  effect(sendPending);
}

/** A notification was pressed while the page was open. */
function onMessage(data: unknown): void {
  const message = data as { type?: unknown; place?: unknown } | null;
  if (message?.type !== 'go' || typeof message.place !== 'string') return;
  const fragment = message.place.indexOf('#');
  if (fragment >= 0) location.hash = message.place.slice(fragment);
}

/** What waits, so that notifications of what is decided are closed. */
function sendPending(): void {
  const asks = pending.value.map(askId);
  if (sessionList.loaded.value) navigator.serviceWorker.controller?.postMessage({ type: 'pending', asks });
}
