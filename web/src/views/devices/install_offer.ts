/** The browser's offer to install the page. It comes once, early: whoever wants to show it later has to keep it. */
import { signal } from '@preact/signals';

interface InstallPrompt extends Event {
  prompt(): Promise<unknown>;
}

export const offer = signal<InstallPrompt | null>(null);

/** Begin to listen. */
export function keepInstallOffer(): void {
  addEventListener('beforeinstallprompt', (event) => {
    event.preventDefault();
    offer.value = event as InstallPrompt;
  });
  addEventListener('appinstalled', () => (offer.value = null));
}
