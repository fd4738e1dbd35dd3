/** What stands in the composer's place while the node of a session is away: why, and what can be done. What was written is kept. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { awayReason } from '../../hub/cluster';
import { connection } from '../../hub/connection';
import { t } from '../../i18n';
import type { OpenSession } from '../../model/open_session';
import { Button, Icon } from '../../ui';
import { mayDo } from '../controls/availability';
import { MoveSheet, targetsFor } from './move_sheet';

export function Unreachable({ session }: { session: OpenSession }): JSX.Element {
  const [moving, setMoving] = useState(false);
  const view = session.state.value;
  const { node = '' } = view;
  return (
    <section class="composer-elsewhere" aria-label={t('cluster.unreachable')}>
      <p class="composer-elsewhere-words" role="status"><Icon name="wifi-off" size={16} /> {awayReason(view)}</p>
      <p>{t('cluster.readOnly', { node })}</p>
      {targetsFor(view).length > 0
        ? <p><Button icon="server" onClick={() => setMoving(true)}>{t('cluster.move')}</Button></p>
        : mayDo(connection.scope.value, 'control') && <p>{t('cluster.noOther', { node })}</p>}
      {moving && <MoveSheet session={session} onClose={() => setMoving(false)} />}
    </section>
  );
}
