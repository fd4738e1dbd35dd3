// The head of a session: what it is called, who works on it, how it stands, and what can be done with all of it.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { SessionStatus } from '../../generated/agent-context';
import { agentIcon, agentNameOf } from '../../hub/agents';
import { withBasePath } from '../../hub/base_path';
import { asHubError, http, pathOf } from '../../hub/http';
import { awayReason, secondsBehind } from '../../hub/cluster';
import { connection } from '../../hub/connection';
import { t } from '../../i18n';
import type { OpenSession } from '../../model/open_session';
import { isKnown } from '../../model/session_state';
import { write } from '../../route';
import { Badge, Button, Elapsed, Icon, Menu, Sheet, Spinner, toast, type MenuItem } from '../../ui';
import { MoveSheet, targetsFor } from '../composer/move_sheet';
import { mayDo } from '../controls/availability';
import { GiveBack } from './give_back';
import { useSessionView } from './view_state';
import { nameOfPath } from './rows/labels';
import { copyLink } from './rows/copy_link';
import { sandboxWords } from './sandbox';
import { SpendingSummary } from './spending';

export function Head({ tabs }: { tabs: JSX.Element }): JSX.Element {
  const { session } = useSessionView();
  const view = session.state.value;
  const [renaming, setRenaming] = useState(false);
  const [givingBack, setGivingBack] = useState(false);
  const [moving, setMoving] = useState(false);
  return (
    <header class="session-head">
      <div class="session-head-line">
        <a class="ui-icon-button session-back" href={write({ view: 'home' })} aria-label={t('session.back')} title={t('session.back')}><Icon name="arrow-left" size={18} /></a>
        <AgentIcon />
        <div class="session-names">
          <h1 class="session-title" dir="auto" title={view.title}>{nameOfSession(session)}</h1>
          <p class="session-where">
            <span>{agentNameOf(view)}</span>
            {view.node && <span class="session-node" title={t('cluster.runsOn', { node: view.node })}><Icon name="server" size={14} />{view.node}</span>}
            {isKnown(view) && <span class="session-folder" title={view.cwd}><Icon name="folder" size={14} />{nameOfPath(view.cwd)}</span>}
            {view.sandbox && <span class="session-sandbox" title={t('session.sandboxWhy')}><Icon name="shield" size={14} />{sandboxWords(view.sandbox)}</span>}
            <Behind />
            <Line />
          </p>
        </div>
        {isKnown(view) && <Status />}
        <SpendingSummary />
        <HeadMenu onRename={() => setRenaming(true)} onGiveBack={() => setGivingBack(true)} onMove={() => setMoving(true)} />
      </div>
      {tabs}
      {renaming && <Rename onClose={() => setRenaming(false)} />}
      {moving && <MoveSheet session={session} onClose={() => setMoving(false)} />}
      {givingBack && view.resumeCommand && <GiveBack sessionId={session.sessionId} command={view.resumeCommand} isHere={!view.watchOnly} onClose={() => setGivingBack(false)} />}
    </header>
  );
}

/** What to call it; a session of which nothing is known yet is not one without a title. */
export function nameOfSession({ state, loadState }: OpenSession): string {
  const isComing = !isKnown(state.value) && loadState.value === 'loading';
  return state.value.title || t(isComing ? 'session.loading' : 'session.untitled');
}

function AgentIcon(): JSX.Element {
  const { session } = useSessionView();
  const { agent, capabilities } = session.state.value;
  return <span class="session-agent-icon" aria-hidden="true">{capabilities?.agent.icon || agentIcon(agent) || '·'}</span>;
}

/** What its node has done and not sent yet. */
function Behind(): JSX.Element | null {
  const view = useSessionView().session.state.value;
  const { node = '' } = view;
  const n = secondsBehind(view);
  if (!n || awayReason(view)) return null;
  return <span class="session-connection" title={t('cluster.behindWhy', { node })}><Icon name="clock" size={14} />{t('cluster.behind', { n })}</span>;
}

/** The state of the connection to the hub, where it is not as it should be. */
function Line(): JSX.Element | null {
  const state = connection.state.value;
  if (state === 'online' || state === 'locked') return null;
  return <span class={`session-connection session-connection-${state}`}><Icon name="wifi-off" size={14} />{t(`session.${state}`)}</span>;
}

const TONES: Partial<Record<SessionStatus, 'accent' | 'warn' | 'bad' | 'good'>> = {
  running: 'accent', thinking: 'accent', waiting_for_approval: 'warn', waiting_for_input: 'warn', paused: 'warn', error: 'bad',
};
/** Statuses of which people want to know why; what waits for them stands in the conversation. */
const EXPLAINED = new Set<SessionStatus>(['paused', 'completed', 'error']);
const BUSY = new Set<SessionStatus>(['running', 'thinking', 'starting']);

/** A reason that is written for people. The code of an error is none: its words stand in the conversation. */
function inWords(reason: string | undefined): string | undefined {
  return reason !== undefined && /^[a-z]+(_[a-z]+)+$/.test(reason) ? undefined : reason;
}

function Status(): JSX.Element {
  const { session } = useSessionView();
  const away = awayReason(session.state.value);
  const { status, turn, watchOnly, line, paused, failed } = session.state.value;
  const words = t(`session.status_${status}`);
  const reason = inWords(paused ? paused.reason ?? undefined : session.reason.value.text);
  const why = reason ?? (status === 'error' ? failed?.message : undefined);
  if (away) return <div class="session-status" role="status" aria-live="polite"><Badge tone="warn" title={away}><Icon name="wifi-off" size={12} /><span class="session-status-words">{t('cluster.unreachable')}</span></Badge></div>;
  return (
    <div class="session-status" role="status" aria-live="polite">
      {watchOnly && <span class="session-status-watched"><Badge title={t(line ? 'session.lineWhy' : 'session.watchOnlyWhy')}>{t(line ? 'session.line' : 'session.watchOnly')}</Badge></span>}
      {reason !== undefined && EXPLAINED.has(status) && <span class="session-reason">{reason}</span>}
      <Badge tone={TONES[status]} title={why !== undefined ? t('session.statusBecause', { status: words, reason: why }) : words}>
        {BUSY.has(status) && <Spinner size={12} />}
        <span class="session-status-words">{words}</span>
      </Badge>
      {turn && <span class="session-elapsed" aria-hidden="true"><Elapsed since={turn.startedAt} /></span>}
    </div>
  );
}

function HeadMenu({ onRename, onGiveBack, onMove }: { onRename: () => void; onGiveBack: () => void; onMove: () => void }): JSX.Element {
  const { session, openRows } = useSessionView();
  const { sessionId } = session;
  const { resumeCommand } = session.state.value;
  const exportAs = (format: string): void => download(pathOf(['sessions', sessionId, 'export'], { format }));
  const items: MenuItem[] = [
    { label: t('session.copyLink'), icon: 'link', onSelect: () => void copyLink(sessionId) },
    { label: t('common.rename'), icon: 'edit', onSelect: onRename },
    { label: t('session.exportMarkdown'), icon: 'download', onSelect: () => exportAs('markdown') },
    { label: t('session.exportJson'), icon: 'download', onSelect: () => exportAs('json') },
    ...(resumeCommand && mayDo(connection.scope.value, 'control') ? [{ label: t('session.giveBack'), icon: 'terminal' as const, onSelect: onGiveBack }] : []),
    ...(targetsFor(session.state.value).length ? [{ label: t('cluster.move'), icon: 'server' as const, onSelect: onMove }] : []),
    {
      label: openRows.details.value ? t('session.hideDetails') : t('session.showDetails'), icon: 'list',
      onSelect: () => (openRows.details.value = !openRows.details.peek()),
    },
  ];
  return <Menu label={t('session.menu')} items={items} />;
}

/** The browser's own download: the hub names the file. */
function download(path: string): void {
  const anchor = document.createElement('a');
  anchor.href = withBasePath(path);
  anchor.download = '';
  anchor.click();
}

function Rename({ onClose }: { onClose: () => void }): JSX.Element {
  const { session } = useSessionView();
  const [title, setTitle] = useState(session.state.peek().title);
  const [busy, setBusy] = useState(false);
  const save = (event: Event): void => {
    event.preventDefault();
    setBusy(true);
    http.patch(pathOf(['sessions', session.sessionId]), { title }).then(onClose, (error: unknown) => {
      setBusy(false);
      toast(t('session.renameFailed', { why: asHubError(error).message }), 'bad');
    });
  };
  return (
    <Sheet title={t('session.renameTitle')} onClose={onClose}>
      <form class="session-rename" onSubmit={save}>
        <label>{t('session.renameLabel')}<input type="text" dir="auto" value={title} maxLength={200} autofocus onInput={(event) => setTitle(event.currentTarget.value)} /></label>
        <Button type="submit" kind="primary" busy={busy} disabled={title.trim() === ''}>{t('common.save')}</Button>
      </form>
    </Sheet>
  );
}
