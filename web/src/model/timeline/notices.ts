// Which events become a notice, and which of them only whoever wants every detail sees. Pure.
//
// Rule 1: nothing is lost: what has no place of its own here is an aside with all of its data.
// Rule 2: no words for people here; `name` finds them (i18n `session.notice.<name>`), texts of agents ride along.

import type { ACPEvent, CustomEvent } from '../../generated/agent-context';
import { defined } from './tool_call_state';
import type { NoticeState, NoticeTone } from './items';

export interface Notice {
  name: string;
  tone: NoticeTone;
  aside: boolean;
  state: NoticeState;
  /** Notices with the same subject are one, which tells the newest. */
  subject?: string;
}

/** Custom events of the hub that people care about. Others are asides. */
const HUB_NEWS: Record<string, NoticeTone> = {
  cancel_requested: 'quiet', agent_exited: 'warning', agent_stopped: 'quiet', rule_added: 'quiet', session_attached: 'quiet',
  permission_policy_set: 'quiet', limits_set: 'quiet', artifact_created: 'info', malformed: 'quiet',
  gap: 'warning', state_rebuilt: 'warning',
};
const ACP_NEWS: Record<string, NoticeTone> = { current_mode_update: 'quiet', compaction_update: 'quiet' };

export function noticeOf(event: ACPEvent): Notice | undefined {
  switch (event.type) {
    case 'session:started':
      return notice('started', 'quiet', { data: event });
    case 'session:resumed':
      return notice('resumed', 'quiet', { ...defined({ text: word(event._meta, 'how'), by: word(event._meta, 'by') }) });
    case 'session:paused':
      return notice('paused', 'warning', { ...defined({ text: event.reason, by: word(event._meta, 'by') }), data: event._meta?.['held'] });
    case 'session:completed':
      return notice('completed', 'quiet', { data: event.summary, ...defined({ text: word(event._meta, 'reason'), by: word(event._meta, 'by') }) });
    case 'interaction:notification':
      return notice('notification', event.level, { title: event.title, text: event.message, ...defined({ url: event.actionUrl }) });
    case 'resource:rate_limit':
      return notice('rate_limit', 'warning', {
        ...defined({ text: event.message }), title: event.limit, until: Date.parse(event.timestamp) + event.retryAfter * 1000,
      });
    case 'custom':
      return customNotice(event);
    default:
      return undefined;
  }
}

/** A type of event that this page does not know. */
export function unknownNotice(event: { type: string }): Notice {
  return notice('unknown', 'quiet', { title: event.type, data: event });
}

function customNotice(event: CustomEvent): Notice | undefined {
  const by = word(event._meta, 'by');
  const tone = event.namespace === 'trunkline' ? HUB_NEWS[event.eventName] : event.namespace === 'acp' ? ACP_NEWS[event.eventName] : undefined;
  const state: NoticeState = { title: `${event.namespace} · ${event.eventName}`, data: event.data, ...defined({ by }) };
  if (tone === undefined) return { ...notice('custom', 'quiet', state), aside: true };
  const subject = event.eventName === 'compaction_update' ? word(event.data, 'compactionId') : undefined;
  return { ...notice(event.eventName, tone, { ...state, ...defined({ text: textIn(event) }) }), ...defined({ subject }) };
}

function textIn(event: CustomEvent): string | undefined {
  const { data } = event;
  switch (event.eventName) {
    case 'current_mode_update': return word(data, 'currentModeId');
    case 'agent_stopped': return word(data, 'reason');
    case 'compaction_update': return word(data, 'status');
    case 'gap': return `${String(data['from'])}–${String(data['to'])}`;
    case 'artifact_created': return word(data, 'name') ?? word(data['artifact'] as Record<string, unknown> | undefined, 'name');
    default: return undefined;
  }
}

function notice(name: string, tone: NoticeTone, state: NoticeState): Notice {
  return { name, tone, aside: false, state };
}

export function word(fields: Record<string, unknown> | undefined, name: string): string | undefined {
  const value = fields?.[name];
  return typeof value === 'string' ? value : undefined;
}
