// News in the conversation, most of them one quiet line; and what else is one line: git, the web, files, the end of a turn.

import type { JSX } from 'preact';
import type { SessionStartedEvent } from '../../../generated/agent-context';
import type { SessionState } from '../../../generated/api';
import { byWhom, whoIs } from '../../../hub/people';
import { t, type Key } from '../../../i18n';
import { Json } from '../../../content/json';
import { Markdown } from '../../../content/markdown/markdown';
import { readText } from '../../../model/timeline/event_fields';
import type { ChangesItem, GitItem, NoticeItem, NoticeState, PlanItem, TurnEndItem, WebItem } from '../../../model/timeline/items';
import { write } from '../../../route';
import { judgeLink } from '../../../text/markdown/links';
import { Icon, now, span, type IconName } from '../../../ui';
import { modelName } from '../../controls/agent_settings';
import { artifactHref } from '../../files/address';
import { Card, CardIcon } from './card';
import { useOpenRow, useSessionView } from '../view_state';
import { costInWords, gitInWords, tokensInWords } from './labels';
import { LineCounts } from './tool_card';
import { Changes } from './tool_details';

const TONE_ICONS: Record<NoticeItem['tone'], IconName> = { quiet: 'info', info: 'info', success: 'check', warning: 'warning', error: 'warning' };

export function NoticeRow({ item }: { item: NoticeItem }): JSX.Element {
  const { session } = useSessionView();
  const state = item.state.value;
  if (item.aside || item.name === 'unknown' || item.name === 'agent_exited') return <Aside item={item} />;
  if (item.name === 'artifact_created') return <Artifact state={state} />;
  if (item.name === 'notification') return <Notification item={item} state={state} />;
  return (
    <p class={`session-notice session-notice-${item.tone}`}>
      {item.tone !== 'quiet' && <Icon name={TONE_ICONS[item.tone]} size={16} />}
      <span>{item.name === 'rule_added' && isInFile(state) ? <a href={write({ view: 'policy' })}>{noticeInWords(item.name, state, session.state.value)}</a> : noticeInWords(item.name, item.name === 'current_mode_update' ? { ...state, text: modeName(session.state.value, state.text) } : state, session.state.value)}{item.name === 'rate_limit' && state.text !== undefined ? `: ${state.text}` : ''}</span>
      {item.name === 'rate_limit' && <Countdown until={state.until} />}
    </p>
  );
}

/** Whether the rule that was added is one of those that the page of rules shows. */
function isInFile(state: NoticeState): boolean {
  return readText(state.data as Record<string, unknown> | undefined, 'where') === 'policy file';
}

function Artifact({ state }: { state: NoticeState }): JSX.Element {
  const { session } = useSessionView();
  return (
    <p class="session-line">
      <Icon name="box" size={16} />
      <a href={artifactHref(session.sessionId, readText(state.data as Record<string, unknown> | undefined, 'id'))}>{t('session.notice_artifact_created', { text: state.text ?? '' })}</a>
    </p>
  );
}

function Notification({ item, state }: { item: NoticeItem; state: NoticeState }): JSX.Element {
  const { session } = useSessionView();
  // Once it is decided, that it waits and for how long is not true any more.
  if (state.ask !== undefined && !session.state.value.pendingApprovals.some((approval) => approval.requestId === state.ask)) {
    return <p class="session-notice session-notice-quiet"><span>{t('session.notice_reminded')}</span></p>;
  }
  return (
    <div class={`session-notice session-notification session-notice-${item.tone}`}>
      <Icon name={TONE_ICONS[item.tone]} size={16} />
      <p><b>{state.title}</b> {state.text}</p>
      {state.url !== undefined && <SafeLink url={state.url} />}
    </div>
  );
}

function Countdown({ until }: { until: number | undefined }): JSX.Element | null {
  if (until === undefined || until <= now.value) return null;
  return <span class="session-took">{t('session.notice_rateLimitFor', { time: span(Math.ceil((until - now.value) / 1_000) * 1_000).replace('.0 ', ' ') })}</span>;
}

function Aside({ item }: { item: NoticeItem }): JSX.Element {
  const [open, toggle] = useOpenRow(item.key);
  const state = item.state.value;
  const title = item.name === 'unknown' ? t('session.notice_unknown', { text: state.title ?? '' })
    : item.name === 'agent_exited' ? t('session.notice_agent_exited') : state.title;
  return <Card icon={<CardIcon name={item.tone === 'warning' ? 'warning' : 'info'} />} look="aside" open={open} onToggle={toggle} title={title}>{() => <Json value={state.data} />}</Card>;
}

function noticeInWords(name: string, state: NoticeState, view: SessionState): string {
  const who = state.by !== undefined ? whoIs(state.by) : t('session.notice_somebody');
  switch (name) {
    case 'started': {
      const { projectName, model } = state.data as SessionStartedEvent;
      return model !== undefined ? t('session.notice_startedWith', { project: projectName, model: modelName(view.configOptions, model) }) : t('session.notice_started', { project: projectName });
    }
    case 'resumed': return resumedInWords(state, who);
    case 'compaction_update': return t(state.text === 'in_progress' ? 'session.notice_compacting' : 'session.notice_compaction');
    case 'paused': return pausedInWords(state);
    case 'session_tail_aside': return asideInWords(state.data as { node?: string; entries?: number });
    case 'rate_limit': return t('session.notice_rate_limit', { text: state.title ?? '' });
    case 'agent_stopped': return state.text !== undefined ? t('session.because', { what: t('session.notice_agent_stopped'), why: state.text }) : t('session.notice_agent_stopped');
    case 'completed': return state.text !== undefined ? t('session.because', { what: t('session.notice_completed'), why: state.text }) : t('session.notice_completed');
    default: return t(`session.notice_${name}` as Key, { who, text: state.text ?? '' });
  }
}

function asideInWords({ node = '', entries = 0 }: { node?: string; entries?: number }): string {
  return t('session.notice_session_tail_aside', { node, n: entries });
}

/** What the agent calls a mode. */
function modeName(view: SessionState, id: string | undefined): string {
  return view.modes?.availableModes.find((mode) => mode.id === id)?.name ?? id ?? '';
}

function pausedInWords({ by, text }: NoticeState): string {
  const what = t('session.notice_paused', { who: by !== undefined ? byWhom(by) : t('session.notice_somebody') });
  return text !== undefined ? t('session.because', { what, why: text }) : what;
}

function resumedInWords(state: NoticeState, who: string): string {
  switch (state.text) {
    case 'unpaused': return t('session.notice_unpaused', { who });
    case 'new': return t('session.notice_resumedNew');
    case 'loaded': return t('session.notice_resumedLoaded');
    case 'resumed': return t('session.notice_resumedRemembers');
    default: return t('session.notice_resumed');
  }
}

export function GitRow({ item }: { item: GitItem }): JSX.Element {
  const { title, text, url } = gitInWords(item.operation);
  return (
    <p class="session-line session-git">
      <Icon name="branch" size={16} /><span><b>{title}</b> {text}</span>{url !== undefined && <SafeLink url={url} />}
    </p>
  );
}

export function WebRow({ item }: { item: WebItem }): JSX.Element {
  const { operation } = item;
  return (
    <p class="session-line">
      <Icon name="globe" size={16} />
      <span>{operation.kind === 'search' ? t('session.webSearch', { query: operation.query }) : t('session.webFetch', { url: operation.title ?? operation.url })}</span>
      {operation.kind === 'fetch' && <SafeLink url={operation.url} />}
    </p>
  );
}

export function ChangesRow({ item }: { item: ChangesItem }): JSX.Element {
  const [open, toggle] = useOpenRow(item.key);
  const added = item.changes.reduce((sum, change) => sum + (change.linesAdded ?? 0), 0);
  const removed = item.changes.reduce((sum, change) => sum + (change.linesRemoved ?? 0), 0);
  return (
    <Card icon={<CardIcon name="edit" />} look="call" open={open} onToggle={toggle} title={item.text ?? t('session.changed', { n: item.changes.length })}
      end={<LineCounts added={added} removed={removed} />}>
      {() => <Changes changes={item.changes} />}
    </Card>
  );
}

export function PlanRow({ item }: { item: PlanItem }): JSX.Element {
  const [open, toggle] = useOpenRow(item.key, true);
  return (
    <Card icon={<CardIcon name="list" />} look="plan" open={open} onToggle={toggle} title={t('session.plan')}>
      {() => <Markdown text={item.plan.value} live={false} />}
    </Card>
  );
}

export function TurnEndRow({ item }: { item: TurnEndItem }): JSX.Element {
  const facts = [
    item.stopReason === 'end_turn' ? undefined : stopInWords(item.stopReason),
    item.empty ? t('session.turnEmpty') : undefined,
    item.durationMs !== undefined && item.durationMs >= 1_000 ? t('session.turnTook', { time: span(Math.round(item.durationMs / 1_000) * 1_000).replace('.0 ', ' ') }) : undefined,
    item.tokens !== undefined ? t('session.turnTokens', { n: tokensInWords(item.tokens.inputTokens + item.tokens.outputTokens) }) : undefined,
    item.cost !== undefined && item.cost > 0 ? costInWords(item.cost, item.currency ?? 'USD') : undefined,
    item.filesChanged > 0 ? t('session.changed', { n: item.filesChanged }) : undefined,
  ].filter((fact): fact is string => fact !== undefined);
  if (!facts.length) return <></>; // a line under nothing says nothing
  return <p class={item.stopReason === 'end_turn' ? 'session-turn-end' : 'session-turn-end session-turn-cut'}><span>{facts.join(' · ')}</span></p>;
}

function stopInWords(reason: string): string {
  switch (reason) {
    case 'cancelled':
    case 'refusal':
    case 'max_tokens':
    case 'max_turn_requests':
      return t(`session.stop_${reason}`);
    default:
      return t('session.stop_other', { reason });
  }
}

/** A link that an agent gave: shown with the host that it really leads to, or not as a link at all. */
function SafeLink({ url }: { url: string }): JSX.Element | null {
  const judged = judgeLink(url, url);
  if (judged.kind !== 'web') return null;
  return (
    <a class="session-out" href={judged.href} target="_blank" rel="noopener noreferrer nofollow" title={judged.href}>
      {judged.host}<Icon name="external" size={14} />
    </a>
  );
}
