/**
 * The pairing code that this page was opened with, until it is used or put away. It is in no address any more (see route.ts).
 */
import { effect, signal } from '@preact/signals';
import { lateSecret, secret } from '../../route';

export const pairingCode = signal<string | null>(secret?.kind === 'pair' ? secret.value : null);

effect(() => {
  const late = lateSecret.value;
  if (late?.kind === 'pair') pairingCode.value = late.value;
});
