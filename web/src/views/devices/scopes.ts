/** What a device may do, in words. */
import type { Key } from '../../i18n';
import type { Scope } from '../controls/availability';

export const SCOPES: Record<Scope, Key> = { view: 'devices.scopeView', approve: 'devices.scopeApprove', control: 'devices.scopeControl', admin: 'devices.scopeAdmin' };
