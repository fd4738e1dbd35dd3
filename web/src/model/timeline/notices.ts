// Plans and notices in the conversation: which events become one, and which of them only whoever wants every detail sees.
//
// Rule 1: nothing is lost: what has no place of its own here is an aside with all of its data.
// Rule 2: no words for people here; `name` finds them (i18n `session.notice.<name>`), texts of agents ride along.

import { signal } from '@preact/signals';
import type { ACPEvent, CustomEvent } from '../../generated/agent-context';
import { defined, readText, startOf } from './event_fields';
import type { ItemList } from './item_list';
import type { MessageItem, NoticeItem, NoticeState, NoticeTone, PlanItem } from './items';

export interface Notice {
  name: string;
  tone: NoticeTone;
  aside: boolean;
  state: NoticeState;
  /** Notices with the same subject are one, which shows the newest. */
  subject?: string;
}

/** Custom events of the hub that people care about. Others are asides. */
const HUB_NEWS: Record<string, NoticeTone> = {
  cancel_requested: 'quiet', agent_exited: 'warning', agent_stopped: 'quiet', rule_added: 'quiet', session_attached: 'quiet',
  session_taken_over: 'quiet', session_given_back: 'quiet', continued_in: 'info',
  permission_policy_set: 'quiet', limits_set: 'quiet', artifact_created: 'info', malformed: 'quiet',
  gap: 'warning', taken_over: 'warning', session_moved: 'quiet', session_tail_aside: 'warning', state_rebuilt: 'warning',
};
const ACP_NEWS: Record<string, NoticeTone> = { current_mode_update: 'quiet', compaction_update: 'quiet' };

export class Notices {
  /** A session was joined, and its agent has not said yet that it has told all of it. */
  private isJoining = false;

  constructor(private readonly items: ItemList) {}

  onPlan(event: Extract<ACPEvent, { type: 'progress:plan_mode' }>): string | undefined {
    if (event.plan === undefined) {
      return this.add(event, { name: event.active ? 'plan_entered' : 'plan_left', tone: 'quiet', aside: false, state: {} });
    }
    const before = this.items.list.findLast((item): item is PlanItem | MessageItem => item.kind === 'plan' || (item.kind === 'message' && item.role === 'user'));
    if (before?.kind === 'plan' && before.plan.peek() === event.plan) return before.key;
    return this.items.add({ kind: 'plan', key: `p:${event.seq}`, ...startOf(event), plan: signal(event.plan) }).key;
  }

  add(event: ACPEvent, notice: Notice | undefined): string | undefined {
    if (notice === undefined || this.endsJoining(notice)) return undefined;
    const key = notice.subject !== undefined ? `n:${notice.subject}` : `n:${event.seq}`;
    const known = this.items.find(key) as NoticeItem | undefined;
    if (known !== undefined) {
      known.state.value = notice.state;
      return key;
    }
    const { name, tone, aside, state } = notice;
    return this.items.add({ kind: 'notice', key, ...startOf(event), name, tone, aside, state: signal(state) }).key;
  }

  /** That a session was joined is said once: nobody has come back who had not been here. */
  private endsJoining({ name }: Notice): boolean {
    const ends = this.isJoining && name === 'resumed';
    this.isJoining = name === 'session_attached' || (this.isJoining && !ends);
    return ends;
  }
}

export function noticeOf(event: ACPEvent): Notice | undefined {
  switch (event.type) {
    case 'session:started':
      return notice('started', 'quiet', { data: event });
    case 'session:resumed':
      return notice('resumed', 'quiet', { ...defined({ text: readText(event._meta, 'how'), by: readText(event._meta, 'by') }) });
    case 'session:paused':
      return notice('paused', 'warning', { ...defined({ text: event.reason, by: readText(event._meta, 'by') }), data: event._meta?.['held'] });
    case 'session:completed':
      return notice('completed', 'quiet', { data: event.summary, ...defined({ text: readText(event._meta, 'reason'), by: readText(event._meta, 'by') }) });
    case 'interaction:notification':
      return notice('notification', event.level, { title: event.title, text: event.message, ...defined({ url: event.actionUrl, ask: readText(event._meta, 'requestId') }) });
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
  const by = readText(event._meta, 'by');
  const name = nameOf(event);
  const tone = event.namespace === 'trunkline' ? HUB_NEWS[name] : event.namespace === 'acp' ? ACP_NEWS[event.eventName] : undefined;
  const state: NoticeState = { title: `${event.namespace} · ${event.eventName}`, data: event.data, ...defined({ by }) };
  if (tone === undefined) return { ...notice('custom', 'quiet', state), aside: true };
  const subject = event.eventName === 'compaction_update' ? readText(event.data, 'compactionId') : undefined;
  return { ...notice(name, tone, { ...state, ...defined({ text: textIn(event) }) }), ...defined({ subject }) };
}

/** A gap may be of storage that was damaged, or of a node of a cluster that could not be asked. */
function nameOf({ eventName, data }: CustomEvent): string {
  return eventName === 'gap' && data['why'] === 'taken_over' ? 'taken_over' : eventName;
}

function textIn(event: CustomEvent): string | undefined {
  const { data } = event;
  switch (event.eventName) {
    case 'current_mode_update': return readText(data, 'currentModeId');
    case 'agent_stopped': return readText(data, 'reason');
    case 'compaction_update': return readText(data, 'status');
    case 'session_moved': return readText(data, 'to');
    case 'gap': return readText(data, 'message') ?? `${String(data['from'])}–${String(data['to'])}`;
    case 'artifact_created': return readText(data, 'name') ?? readText(data['artifact'] as Record<string, unknown> | undefined, 'name');
    default: return undefined;
  }
}

function notice(name: string, tone: NoticeTone, state: NoticeState): Notice {
  return { name, tone, aside: false, state };
}
