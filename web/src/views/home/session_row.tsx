/** One session in the list: who works where on what, its last words, what it took. The whole row leads to it. */
import type { JSX } from 'preact';
import type { Pending, SessionView } from '../../generated/api';
import { agentName } from '../../hub/agents';
import { awayReason } from '../../hub/cluster';
import { language, t, type Key } from '../../i18n';
import { sessionHref } from '../../route';
import { AgentSign, Badge, clockTime, Elapsed, Icon, Menu, Spinner, Time } from '../../ui';
import { askLine, failureLine, groupOf, lastLine, money, projectOf } from './groups';

interface RowProps {
  view: SessionView;
  /** What it waits for somebody with. */
  asks: readonly Pending[];
  onRename: (view: SessionView) => void;
  onDelete: (view: SessionView) => void;
}

export function SessionRow({ view, asks, onRename, onDelete }: RowProps): JSX.Element {
  const title = view.title || t('home.untitled');
  const away = awayReason(view);
  const group = groupOf(view, new Set(asks.map((ask) => ask.sessionId)), away !== '');
  return (
    <li class={`home-row home-row-${group}`}>
      <AgentSign name={view.agent} size={36} />
      <div class="home-row-head">
        <a class="home-row-title" dir="auto" href={sessionHref(view.id)} title={title}>{title}</a>
        {away ? <Badge tone="warn" title={away}><Icon name="wifi-off" size={12} />{t('cluster.unreachable')}</Badge> : <StatusBadge view={view} asks={asks} />}
        {failedOf(view) && !asks.length && <Badge tone="bad"><Icon name="warning" size={12} />{t('home.failed')}</Badge>}
        {view.missed && !asks.length && <Badge tone="warn" title={t('home.missedHint')}><Icon name="clock" size={12} />{t('home.missed')}</Badge>}
        {view.watchOnly && <Badge title={t(view.line ? 'home.lineHint' : 'home.watchOnlyHint')}>{t('home.watchOnly')}</Badge>}
        {view.queue.length > 0 && <Badge>{t('home.queued', { n: view.queue.length })}</Badge>}
      </div>
      <p class="home-row-place" title={view.cwd}>
        <span class="home-row-project">{projectOf(view.cwd)}</span>
        <span class="home-row-agent">{agentName(view.agent)}</span>
        <RowNode node={view.node} />
      </p>
      <p class="home-row-line" dir="auto">{away || lineOf(view, asks)}</p>
      <Figures view={view} isAway={away !== ''} />
      <Menu label={t('home.actions', { title })} class="home-row-menu" items={[
        { label: t('common.rename'), icon: 'edit', onSelect: () => onRename(view) },
        { label: t('common.delete'), icon: 'trash', danger: true, onSelect: () => onDelete(view) },
      ]} />
    </li>
  );
}

/** Which node of a cluster it runs on. */
export function RowNode({ node }: { node: string | undefined }): JSX.Element | null {
  return node ? <span class="home-row-node" title={t('cluster.runsOn', { node })}>{node}</span> : null;
}

/** How its last turn broke off, where nothing has been tried since. */
function failedOf(view: SessionView): SessionView['failed'] {
  return !view.turn && (view.status === 'idle' || view.status === 'error' || view.status === 'paused') ? view.failed : null;
}

/** What it waits for, how it failed, or its last words. */
function lineOf(view: SessionView, asks: readonly Pending[]): string {
  const ask = asks[0];
  if (ask?.approval) return askLine(ask.approval, view.cwd);
  if (ask?.question) return t('home.asksQuestion', { what: lastLine(ask.question.question) });
  const failed = failedOf(view);
  if (failed) return failureLine(failed);
  return lastLine(view.lastText) || (view.turn ? t('home.atWork') : '');
}

/** How much waits, where the line has room for the first of it alone: `2 approvals, 1 question`. */
function severalAsks(asks: readonly Pending[]): string {
  const approvals = asks.filter((ask) => ask.approval).length;
  const counted = [['home.approvals', approvals], ['home.questions', asks.length - approvals]] as const;
  return counted.filter(([, n]) => n > 0).map(([words, n]) => t(words, { n })).join(', ');
}

function StatusBadge({ view, asks }: { view: SessionView; asks: readonly Pending[] }): JSX.Element | null {
  const text = asks.length > 1 ? severalAsks(asks) : t(`home.status_${view.status}` as Key);
  if (asks.length > 0 || view.status === 'waiting_for_approval' || view.status === 'waiting_for_input') return <Badge tone="warn">{text}</Badge>;
  switch (view.status) {
    case 'starting':
    case 'running':
    case 'thinking':
      return <Badge tone="accent"><Spinner size={12} />{text}</Badge>;
    case 'error':
      return failedOf(view) ? null : <Badge tone="bad">{text}</Badge>; // that its answer failed is said beside it
    case 'paused':
      return <Badge tone="warn"><Icon name="pause" size={12} />{text}</Badge>;
    default:
      return null;
  }
}

function Figures({ view, isAway }: { view: SessionView; isAway: boolean }): JSX.Element {
  const { files, linesAdded, linesRemoved } = view.changes;
  const counted = t('home.files', { n: files });
  return (
    <ul class="home-row-figures">
      {files > 0 && (
        <li title={t('home.changed', { files: counted, added: linesAdded, removed: linesRemoved })}>
          {counted} {linesAdded > 0 && <ins>+{linesAdded}</ins>} {linesRemoved > 0 && <del>−{linesRemoved}</del>}
        </li>
      )}
      {view.cost && view.cost.amount > 0 && <li title={t('home.cost')}>{money(view.cost.amount, view.cost.currency, language())}</li>}
      <li class="home-row-when">
        {view.turn && !isAway
          ? <><span class="visually-hidden">{t('home.turnFor')} </span><span title={t('home.turnSince', { time: clockTime(Date.parse(view.turn.startedAt)) })}><Elapsed since={view.turn.startedAt} /></span></>
          : <><span class="visually-hidden">{t('home.lastActivity')} </span><Time at={view.updatedAt} what={t('home.lastActivity')} /></>}
      </li>
    </ul>
  );
}
