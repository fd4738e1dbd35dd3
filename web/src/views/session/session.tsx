// One session: its head, the conversation with the composer below it, and its files and artifacts, beside it where there is viewState.
//
// Rule 1: the session lives as long as the view of its session; tabs and permalinks change inside it.

import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { t } from '../../i18n';
import { openSession, type OpenSession } from '../../model/open_session';
import { go } from '../../route';
import '../../style/session/index.css';
import { Button, IconButton, lazy, Spinner, Tabs, useMedia, WIDE, type Tab } from '../../ui';
import { Composer } from '../composer/composer';
import { Controls } from '../controls/controls';
import { SessionViewContext, useSessionView } from './view_state';
import { Conversation } from './conversation/conversation';
import { Head, nameOfSession } from './head';
import { makeViewState } from './view_state';
import { TodoCard } from './todos';

const FilesTab = lazy(() => import('../files/files').then((part) => part.FilesTab));
const ArtifactsTab = lazy(() => import('../files/artifacts').then((part) => part.ArtifactsTab));

type TabName = 'timeline' | 'files' | 'artifacts';

interface SessionViewProps {
  id: string;
  tab: TabName;
  seq?: number | undefined;
}

export function SessionView({ id, tab, seq }: SessionViewProps): JSX.Element {
  const viewState = useMemo(() => makeViewState(openSession(id)), [id]);
  useEffect(() => () => viewState.session.close(), [viewState]);
  const wide = useMedia(WIDE);
  const beside = wide && tab !== 'timeline';
  if (hasNothing(viewState.session)) return <Unloaded session={viewState.session} />;
  return (
    <SessionViewContext.Provider value={viewState}>
      <section class={beside ? 'session session-beside' : 'session'}>
        <PageTitle />
        <Head tabs={<SessionTabs id={id} tab={tab} />} />
        <div class="session-body">
          {(wide || tab === 'timeline') && <Main seq={seq} />}
          {tab !== 'timeline' && <Side id={id} tab={tab} closable={wide} />}
        </div>
      </section>
    </SessionViewContext.Provider>
  );
}

/** What was loaded once stays, also when it cannot be loaded anew. */
function hasNothing({ loadState, timeline }: OpenSession): boolean {
  return loadState.value === 'gone' || (loadState.value === 'failed' && timeline.seq === 0);
}

function Main({ seq }: { seq: number | undefined }): JSX.Element {
  const { session, scroller } = useSessionView();
  const toOwn = (): void => void session.toEnd().then(() => scroller.toEnd());
  if (session.loadState.value === 'loading' && session.timeline.items.value.length === 0) {
    return <div class="session-main session-loading"><Spinner size={24} label={t('session.loading')} /></div>;
  }
  return (
    <div class="session-main">
      <TodoCard />
      <Conversation seq={seq} />
      <div class="session-foot">
        <Controls session={session} />
        <Composer session={session} onSent={toOwn} />
      </div>
    </div>
  );
}

function Side({ id, tab, closable }: { id: string; tab: TabName; closable: boolean }): JSX.Element {
  const { artifacts, turn } = useSessionView().session.state.value;
  const news = `${artifacts} ${turn?.turnId ?? ''}`;
  return (
    <aside class="session-side" aria-label={t('session.sidePanel')}>
      {closable && <div class="session-side-close"><IconButton icon="close" label={t('session.closePanel')} onClick={() => go({ view: 'session', id, tab: 'timeline' })} /></div>}
      {tab === 'files' ? <FilesTab sessionId={id} news={news} /> : <ArtifactsTab sessionId={id} news={news} />}
    </aside>
  );
}

function SessionTabs({ id, tab }: { id: string; tab: TabName }): JSX.Element {
  const { session } = useSessionView();
  const { artifacts } = session.state.value;
  const tabs: Tab<TabName>[] = [
    { id: 'timeline', label: t('session.conversation') },
    { id: 'files', label: t('session.files') },
    { id: 'artifacts', label: t('session.artifacts'), ...(artifacts > 0 ? { count: artifacts } : {}) },
  ];
  return <Tabs label={t('session.tabs')} tabs={tabs} selected={tab} onSelect={(to) => go({ view: 'session', id, tab: to })} />;
}

function Unloaded({ session }: { session: OpenSession }): JSX.Element {
  const gone = session.loadState.value === 'gone';
  return (
    <div class="ui-empty" role="alert">
      <p>{gone ? t('session.gone') : t('session.loadFailed', { why: session.error.value?.message ?? '' })}</p>
      {gone ? <a class="ui-button" href="#/">{t('session.back')}</a> : <Button icon="refresh" onClick={() => void session.load()}>{t('common.retry')}</Button>}
    </div>
  );
}

/** The page is called after the session. */
function PageTitle(): null {
  const { session } = useSessionView();
  const { status } = session.state.value;
  const title = nameOfSession(session);
  const waits = status === 'waiting_for_approval' || status === 'waiting_for_input';
  useEffect(() => {
    document.title = `${waits ? '● ' : ''}${title} · ${t('common.appName')}`;
    return () => {
      document.title = t('common.appName');
    };
  }, [title, waits]);
  return null;
}
