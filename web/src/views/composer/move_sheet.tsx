/**
 * Having a session go on at another node of the cluster: to which, and what comes along and what may be lost, before it is done.
 *
 * Rule: where the node that has it is away, nobody can ask what it did last. That is said, and is the price.
 */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { NodeView, SessionView } from '../../generated/api';
import { awayReason, isCutOff, runners, takesSessions } from '../../hub/cluster';
import { connection } from '../../hub/connection';
import { http, pathOf } from '../../hub/http';
import { sessionList } from '../../hub/session_list';
import { t } from '../../i18n';
import type { OpenSession } from '../../model/open_session';
import { Button, Sheet, toast } from '../../ui';
import { mayDo } from '../controls/availability';
import { useControl } from '../controls/run_control';
import { Command } from './elsewhere';

/** The nodes that a session can go on at: those of its own node's pool. None where this browser may not say so. */
export function targetsFor({ node = '', watchOnly }: Pick<SessionView, 'node' | 'watchOnly'>): NodeView[] {
  if (!node || watchOnly || isCutOff.value || !mayDo(connection.scope.value, 'control')) return [];
  const pool = runners.value.find((each) => each.node === node)?.pool;
  return runners.value.filter((each) => each.node !== node && each.pool === pool && takesSessions(each));
}

export function MoveSheet({ session, onClose }: { session: OpenSession; onClose: () => void }): JSX.Element {
  const { node: from = '', turn, cwd, ...view } = session.state.value;
  const targets = targetsFor({ node: from, watchOnly: view.watchOnly });
  const [chosen, choose] = useState('');
  const { busy, act } = useControl();
  const to = targets.find(({ node }) => node === chosen)?.node ?? targets[0]?.node ?? '';
  const isAway = awayReason({ node: from, ...view }) !== '';
  const move = async (): Promise<void> => {
    const request = { node: to, ...(turn && !isAway ? { force: true } : {}) };
    const done = await act(async () => sessionList.put(await http.post<SessionView>(pathOf(['sessions', session.sessionId, 'move']), request)));
    if (!done) return;
    toast(t('cluster.moved', { node: to }), 'good');
    onClose();
    void session.load();
  };
  return (
    <Sheet title={t('cluster.moveTitle')} onClose={onClose}
      actions={<><Button onClick={onClose}>{t('common.cancel')}</Button>{to && <Button kind={isAway || turn ? 'danger' : 'primary'} busy={busy} onClick={() => void move()}>{t('cluster.moveDo', { node: to })}</Button>}</>}>
      <div class="composer-move">
        {targets.length > 1 && (
          <label>{t('cluster.moveTo')}
            <select value={to} onChange={(event) => choose(event.currentTarget.value)}>{targets.map(({ node }) => <option key={node} value={node}>{node}</option>)}</select>
          </label>
        )}
        <p>{t(isAway ? 'cluster.moveAway' : 'cluster.moveHere', { from })} {turn && !isAway && t('cluster.moveTurn')}</p>
        {to ? <p>{t('cluster.moveFolder', { folder: cwd, node: to })} {t('cluster.moveMemory')}</p> : <p>{t('cluster.noOther', { node: from })}</p>}
        {to && <Command command={`trunkline cluster move ${session.sessionId} ${to}`} words={t('cluster.inTerminal')} />}
      </div>
    </Sheet>
  );
}
