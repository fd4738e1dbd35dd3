/** Sessions of the agents' own, to be joined: those that run now stand with the hub's that do, the others by themselves. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { agentName } from '../../hub/agents';
import { asHubError } from '../../hub/http';
import { t } from '../../i18n';
import { go } from '../../route';
import { AgentSign, Badge, Button, IconButton, Spinner, Time, toast } from '../../ui';
import { attach, discover, discovered, looking, watchFiles, type Discovered } from './discovered';
import { lastLine, projectOf, type Wanted } from './groups';
import { RowNode } from './session_row';

const SHOWN = 6;

export function DiscoveredList({ want }: { want: Wanted }): JSX.Element | null {
  const [all, setAll] = useState(false);
  useEffect(() => void discover(), []);
  useEffect(() => watchFiles(), []);
  const { state, troubles } = looking.value;
  const fitting = discovered.value.filter((one) => !one.running && fits(one, want));
  if (!fitting.length && !troubles.length) return null;
  const shown = all ? fitting : fitting.slice(0, SHOWN);
  return (
    <section class="home-group" aria-labelledby="home-elsewhere">
      <header class="home-group-head">
        <h2 id="home-elsewhere">{t('home.elsewhere')} {fitting.length > 0 && <span class="home-count">{fitting.length}</span>}</h2>
        {state === 'asked' ? <Spinner size={16} label={t('home.lookingFor')} /> : <IconButton icon="refresh" size={16} label={t('home.lookAgain')} onClick={() => void discover(true)} />}
      </header>
      <p class="home-hint">{t('home.elsewhereHint')}</p>
      {fitting.length > 0 && <ul class="home-list">{shown.map((one) => <FoundRow key={`${one.agent} ${one.id}`} one={one} />)}</ul>}
      {fitting.length > shown.length && (
        <Button kind="quiet" onClick={() => setAll(true)}>{t('home.showMore', { n: fitting.length - shown.length })}</Button>
      )}
      {troubles.map(({ agent, message }) => (
        <p key={agent} class="home-hint">{t('home.lookFailed', { agent: agentName(agent), why: message })}</p>
      ))}
    </section>
  );
}

/** Those that another program runs just now. */
export function runningElsewhere(want: Wanted): Discovered[] {
  return discovered.value.filter((one) => one.running && fits(one, want));
}

export function FoundRow({ one }: { one: Discovered }): JSX.Element {
  const [busy, setBusy] = useState(false);
  const title = one.sessionName || lastLine(one.lastMessage ?? '') || t('home.untitled');
  const join = async (): Promise<void> => {
    setBusy(true);
    try {
      go({ view: 'session', id: (await attach(one)).id, tab: 'timeline' });
    } catch (error) {
      setBusy(false);
      toast(asHubError(error).message, 'bad');
    }
  };
  return (
    <li class="home-row home-row-found">
      <AgentSign name={one.agent} size={36} />
      <div class="home-row-head">
        <button type="button" class="home-row-title" dir="auto" disabled={busy} onClick={() => void join()} title={title}>{title}</button>
        {one.running && <Badge title={one.pid ? t('home.runsElsewhereHint', { pid: one.pid }) : undefined}>{t('home.runsElsewhere')}</Badge>}
      </div>
      <p class="home-row-place" title={one.projectPath}>
        <span class="home-row-project">{one.projectName || projectOf(one.projectPath)}</span>
        <span class="home-row-agent">{agentName(one.agent)}</span>
        <RowNode node={one.node} />
      </p>
      <p class="home-row-line" dir="auto">{lastLine(one.lastMessage ?? '')}</p>
      <ul class="home-row-figures"><li class="home-row-when"><Time at={one.lastActivity} /></li></ul>
      <span class="home-row-menu">{busy && <Spinner size={18} label={t('common.loading')} />}</span>
    </li>
  );
}

function fits(one: Discovered, want: Wanted): boolean {
  if (want.agent && one.agent !== want.agent) return false;
  if (want.cwd && one.projectPath !== want.cwd) return false;
  if (want.node && one.node !== want.node) return false;
  const text = `${one.sessionName ?? ''} ${one.lastMessage ?? ''} ${one.projectPath}`.toLowerCase();
  return want.text.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}
