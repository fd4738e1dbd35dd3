/**
 * All sessions, the hub's and those that the agents know of, by what they need.
 *
 * Rule 1: what waits for somebody is at the top and never folded away, and no search hides it. What is on a node that is away waits for
 * that node: nobody can answer it.
 * Rule 2: filters and search change what is shown, never what is true: the lists stay live. They hold for all sessions of the hub:
 * what fits and is not loaded is asked for.
 */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import '../../style/home.css';
import type { Pending, SessionView } from '../../generated/api';
import { agentName, agents as catalog, loadAgents } from '../../hub/agents';
import { dismissJournalProblem, journalProblem, loadJournalHealth } from '../../hub/journal_health';
import { awayReason, isCutOff, nodes, ownNode } from '../../hub/cluster';
import { connection } from '../../hub/connection';
import { pending, sessions, sessionList } from '../../hub/session_list';
import { t } from '../../i18n';
import { write } from '../../route';
import { Button, Icon, IconButton, Spinner } from '../../ui';
import { DeleteSheet, RenameSheet } from './rename_delete';
import type { Discovered } from './discovered';
import { DiscoveredList, FoundRow, runningElsewhere } from './discovered_list';
import { agentsToFilter, distinct, grouped, GROUPS, projectOf, filterOf, wanted, type Group, type Wanted } from './groups';
import { HomeSearchHits } from './search_hits';
import { OpenById } from './open_by_id';
import { clearFilters, filters, listState, keepListState, useListState } from './list_state';
import { SessionRow } from './session_row';
import { isSearchable, search, searchAgain, searchFor } from './search';
import { TakeTour } from './tour';

const SHOWN: Record<Group, number> = { waiting: Infinity, running: Infinity, away: 10, idle: 25, finished: 10 };

/** How long the typing pauses before the hub is asked. */
const SEEK_MS = 250;

type Dialog = { kind: 'rename' | 'delete'; view: SessionView } | null;

export function HomeView(): JSX.Element {
  const { agent, cwd, node } = filters;
  const list = useRef<HTMLDivElement>(null);
  useListState(list);
  const dialog = useSignal<Dialog>(null);
  const online = connection.state.value === 'online';
  useEffect(() => {
    if (!online) return;
    void loadAgents();
    void loadJournalHealth();
    searchAgain();
  }, [online]);
  const want: Wanted = { agent: agent.value, cwd: cwd.value, node: node.value, text: search.value.query };
  const hasOlder = sessionList.hasOlder.value;
  useEffect(() => {
    const sought = filterOf(want);
    if (sought === null || !online || !hasOlder) return undefined;
    const timer = setTimeout(() => void sessionList.search(sought).catch(() => undefined), SEEK_MS); // that the hub is away is shown elsewhere
    return () => clearTimeout(timer);
  }, [want.agent, want.cwd, want.node, want.text, online, hasOlder]);
  const searching = search.value.query.trim() !== '';
  return (
    <div class="home" ref={list}>
      <h1 class="visually-hidden">{t('home.title')}</h1>
      <div class="home-tools">
        <SearchField />
        <Filters />
      </div>
      <StorageNotice />
      {isCutOff.value && <p class="home-hint home-storage" role="status">{t('cluster.cutOffNotice', { node: ownNode.value })}</p>}
      <Content want={want} searching={searching} onDialog={(to) => (dialog.value = to)} onClear={clearFilters} />
      {dialog.value?.kind === 'rename' && <RenameSheet view={dialog.value.view} onClose={() => (dialog.value = null)} />}
      {dialog.value?.kind === 'delete' && <DeleteSheet view={dialog.value.view} onClose={() => (dialog.value = null)} />}
    </div>
  );
}

function SearchField(): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return;
      event.preventDefault();
      field.current?.focus();
    };
    document.addEventListener('keydown', pressed);
    return () => document.removeEventListener('keydown', pressed);
  }, []);
  return (
    <div class="home-search" role="search">
      <Icon name="search" size={16} />
      <input ref={field} type="search" dir="auto" aria-label={t('home.search')} placeholder={t('home.searchHint')} value={search.value.query} enterkeyhint="search"
        onInput={(event) => searchFor(event.currentTarget.value)} autocomplete="off" spellcheck={false} />
      {search.value.query && <IconButton icon="close" size={16} label={t('home.clearSearch')} onClick={() => searchFor('')} />}
    </div>
  );
}

function isWriting(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

function Filters(): JSX.Element | null {
  const { agent, cwd, node } = filters;
  const all = sessions.value;
  const known = catalog.value.agents;
  const hasOlder = sessionList.hasOlder.value;
  const agents = useMemo(() => agentsToFilter(all, known, hasOlder), [all, known, hasOlder]);
  const folders = useMemo(() => distinct(all.map((view) => view.cwd)), [all]);
  const places = nodes.value.filter(({ role, sessions: count }) => role !== 'gateway' || count > 0).map((each) => each.node);
  if (agents.length < 2 && folders.length < 2 && places.length < 2 && !agent.value && !cwd.value && !node.value) return null;
  return (
    <div class="home-filters">
      <select aria-label={t('home.filterAgent')} value={agent.value} onChange={(event) => (agent.value = event.currentTarget.value)}>
        <option value="">{t('home.allAgents')}</option>
        {agents.map((name) => <option key={name} value={name}>{agentName(name)}</option>)}
      </select>
      <select aria-label={t('home.filterProject')} value={cwd.value} onChange={(event) => (cwd.value = event.currentTarget.value)}>
        <option value="">{t('home.allProjects')}</option>
        {folders.map((path) => <option key={path} value={path} title={path}>{projectOf(path)}</option>)}
      </select>
      {(places.length > 1 || node.value) && (
        <select aria-label={t('cluster.node')} value={node.value} onChange={(event) => (node.value = event.currentTarget.value)}>
          <option value="">{t('cluster.allNodes')}</option>
          {distinct([...places, ...(node.value ? [node.value] : [])]).map((name) => <option key={name} value={name}>{name}</option>)}
        </select>
      )}
    </div>
  );
}

interface ContentProps {
  want: Wanted;
  searching: boolean;
  onDialog: (dialog: Dialog) => void;
  onClear: () => void;
}

function Content({ want, searching, onDialog, onClear }: ContentProps): JSX.Element {
  if (!sessionList.loaded.value) return connection.state.value === 'offline' ? <NothingKnown /> : <div class="ui-waiting"><Spinner size={24} label={t('common.loading')} /></div>;
  const asks = asksBySession(pending.value);
  // What waits for somebody waits, whatever words are searched for.
  const nothing = searching && !isSearchable(want.text);
  const fitting = sessions.value.filter((view) => (asks.has(view.id) ? wanted(view, { ...want, text: '' }) : !nothing && wanted(view, want)));
  const groups = grouped(fitting, new Set(asks.keys()), (view) => awayReason(view) !== '');
  return (
    <>
      {GROUPS.map((group) => {
        const views = groups.get(group) ?? [];
        const found = group === 'running' ? runningElsewhere(want) : [];
        return views.length + found.length > 0 && <SessionGroup key={group} group={group} views={views} found={found} asks={asks} onDialog={onDialog} />;
      })}
      {!sessions.value.length && !searching && <Empty />}
      {sessions.value.length > 0 && !fitting.length && !searching && (sessionList.searching.value ? <div class="ui-waiting"><Spinner size={24} label={t('common.loading')} /></div> : <NoneFit onClear={onClear} />)}
      {searching && <HomeSearchHits listed={new Set(fitting.map((view) => view.id))} />}
      {sessionList.hasOlder.value && !searching && <Button kind="quiet" class="home-older" onClick={() => void sessionList.loadOlder()}>{t('home.loadOlder')}</Button>}
      <DiscoveredList want={want} />
      {sessions.value.length > 0 && !searching && <OpenById />}
      {!isSecureContext && <p class="home-hint home-insecure">{t('common.insecure')}</p>}
    </>
  );
}

function asksBySession(asks: readonly Pending[]): Map<string, Pending[]> {
  const found = new Map<string, Pending[]>();
  for (const ask of asks) found.set(ask.sessionId, [...(found.get(ask.sessionId) ?? []), ask]);
  return found;
}

interface GroupProps {
  group: Group;
  views: SessionView[];
  /** Those of other programs that belong here too. */
  found: Discovered[];
  asks: Map<string, Pending[]>;
  onDialog: (dialog: Dialog) => void;
}

function SessionGroup({ group, views, found, asks, onDialog }: GroupProps): JSX.Element {
  const all = useSignal(listState().whole.includes(group));
  const showAll = (): void => {
    all.value = true;
    keepListState({ whole: [...listState().whole, group] });
  };
  const shown = all.value ? views : views.slice(0, SHOWN[group]);
  return (
    <section class="home-group" aria-labelledby={`home-${group}`}>
      <header class="home-group-head"><h2 id={`home-${group}`}>{t(group === 'away' ? 'cluster.unreachableGroup' : `home.${group}`)} <span class="home-count">{views.length + found.length}</span></h2></header>
      <ul class="home-list">
        {shown.map((view) => (
          <SessionRow key={view.id} view={view} asks={asks.get(view.id) ?? []}
            onRename={() => onDialog({ kind: 'rename', view })} onDelete={() => onDialog({ kind: 'delete', view })} />
        ))}
        {found.map((one) => <FoundRow key={`${one.agent} ${one.id}`} one={one} />)}
      </ul>
      {views.length > shown.length && (
        <Button kind="quiet" onClick={showAll}>{t('home.showMore', { n: views.length - shown.length })}</Button>
      )}
    </section>
  );
}

function Empty(): JSX.Element {
  return (
    <div class="ui-empty home-empty">
      <Icon name="terminal" size={40} />
      <h2>{t('home.emptyTitle')}</h2>
      <p>{t('home.emptyText')}</p>
      <p class="home-empty-ways">
        <a class="ui-button ui-button-primary" href={write({ view: 'new' })}><Icon name="plus" size={16} />{t('home.emptyNew')}</a>
        <TakeTour />
      </p>
      <p class="home-hint">{t('home.tourHint')}</p>
      <OpenById />
    </div>
  );
}

/** The page was opened while the hub was away. */
function NothingKnown(): JSX.Element {
  return (
    <div class="ui-empty">
      <Icon name="terminal" size={40} />
      <h2>{t('home.unknownTitle')}</h2>
      <p>{t('home.unknownText')}</p>
    </div>
  );
}

function NoneFit({ onClear }: { onClear: () => void }): JSX.Element {
  return (
    <div class="ui-empty">
      <p>{t('home.noneFit')}</p>
      <Button onClick={onClear}>{t('home.clearFilters')}</Button>
    </div>
  );
}

/** What is wrong with the hub's storage, if anything: shown where people look first. */
function StorageNotice(): JSX.Element | null {
  const view = journalProblem.value;
  if (view === undefined) return null;
  if (view.state === 'unwritable') return <p class="home-hint home-storage" role="alert">{t('home.journalUnwritable', { why: view.unwritable ?? '' })}</p>;
  const aside = view.asides.at(-1);
  return (
    <div class="home-hint home-storage" role="status">
      <p>{view.damages.length ? t('home.journalHurt', { n: view.damages.length }) : t('home.journalAside')}</p>
      {aside !== undefined && <p><bdi>{t('home.journalAsides', { path: aside })}</bdi></p>}
      <Button kind="quiet" onClick={dismissJournalProblem}>{t('home.journalDismiss')}</Button>
    </div>
  );
}
