// What stands between messages and calls: plans, questions, notices.

import { signal } from '@preact/signals';
import type { ACPEvent, CustomEvent } from '../../generated/agent-context';
import { defined } from './tool_call_state';
import type { MessageItem, NoticeItem, PlanItem, QuestionItem } from './items';
import { noticeOf, word, type Notice } from './notices';
import type { RunningTurn } from './turn';
import { placeOf, type Shelf } from './item_list';

export class Asides {
  constructor(private readonly shelf: Shelf, private readonly turn: RunningTurn) {}

  plan(event: Extract<ACPEvent, { type: 'progress:plan_mode' }>): string | undefined {
    if (event.plan === undefined) {
      return this.notice(event, { name: event.active ? 'plan_entered' : 'plan_left', tone: 'quiet', aside: false, state: {} });
    }
    const before = this.shelf.list.findLast((item): item is PlanItem | MessageItem => item.kind === 'plan' || (item.kind === 'message' && item.role === 'user'));
    if (before?.kind === 'plan' && before.plan.peek() === event.plan) return before.key;
    return this.shelf.add({ kind: 'plan', key: `p:${event.seq}`, ...placeOf(event), plan: signal(event.plan) }).key;
  }

  question(event: Extract<ACPEvent, { type: 'interaction:question' }>): string {
    const key = `q:${event.questionId}`;
    if (this.shelf.find(key) !== undefined) return key;
    const item: QuestionItem = { kind: 'question', key, ...placeOf(event), questionId: event.questionId, asked: event, resolved: signal(undefined) };
    this.turn.heard();
    return this.shelf.add(item).key;
  }

  answered(event: CustomEvent): string | undefined {
    const { data } = event;
    const item = this.shelf.find(`q:${word(data, 'questionId') ?? ''}`) as QuestionItem | undefined;
    if (item === undefined) return this.notice(event, noticeOf(event));
    const content = data['content'] as Record<string, unknown> | undefined;
    item.resolved.value = {
      action: word(data, 'action') ?? 'accept', at: Date.parse(event.timestamp), ...defined({ content, by: word(event._meta, 'by') }),
    };
    this.shelf.changed = true;
    return item.key;
  }

  notice(event: ACPEvent, notice: Notice | undefined): string | undefined {
    if (notice === undefined) return undefined;
    const key = notice.subject !== undefined ? `n:${notice.subject}` : `n:${event.seq}`;
    const known = this.shelf.find(key) as NoticeItem | undefined;
    if (known !== undefined) {
      known.state.value = notice.state;
      return key;
    }
    const { name, tone, aside, state } = notice;
    return this.shelf.add({ kind: 'notice', key, ...placeOf(event), name, tone, aside, state: signal(state) }).key;
  }
}
