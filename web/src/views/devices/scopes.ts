/** What a device may do, in words. */
import type { Key } from '../../i18n';
import type { Scope } from '../controls/availability';

export const SCOPES: Record<Scope, Key> = { view: 'devices.scopeView', approve: 'devices.scopeApprove', control: 'devices.scopeControl', admin: 'devices.scopeAdmin' };

/** What that means, as far as the words leave it open. */
export const SCOPES_MORE: Record<Scope, Key> = {
  view: 'devices.scopeViewMore', approve: 'devices.scopeApproveMore', control: 'devices.scopeControlMore', admin: 'devices.scopeAdminMore',
};
