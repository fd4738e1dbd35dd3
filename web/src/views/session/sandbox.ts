/** A sandbox in words. A file of its own: the form for a new session says the same, and needs nothing else of this view. */
import type { Sandboxed } from '../../generated/api';
import { t } from '../../i18n';

export function sandboxWords({ kind, network }: Sandboxed): string {
  return t(network ? 'session.sandboxOnline' : 'session.sandboxOffline', { kind });
}
