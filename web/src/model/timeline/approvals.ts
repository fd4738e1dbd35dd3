// What the agent asks of a person: approvals, at the calls that they are about, and questions.

import { signal } from '@preact/signals';
import type { ACPEvent, CustomEvent } from '../../generated/agent-context';
import { callIdsOf } from '../../hub/approval_meta';
import { defined, readText, startOf } from './event_fields';
import type { ItemList } from './item_list';
import type { ApprovalItem, QuestionItem, ToolItem } from './items';
import { noticeOf, type Notices } from './notices';
import { changeCall, isOver } from './tool_call_state';
import type { RunningTurn } from './turn';

type Requested = Extract<ACPEvent, { type: 'approval:requested' }>;
type Resolved = Extract<ACPEvent, { type: 'approval:resolved' }>;

export class Approvals {
  constructor(private readonly items: ItemList, private readonly notices: Notices, private readonly turn: RunningTurn) {}

  onRequested(event: Requested): string {
    const key = `a:${event.requestId}`;
    if (this.items.find(key) === undefined) {
      const item: ApprovalItem = {
        kind: 'approval', key, ...startOf(event), requestId: event.requestId, callId: event.toolCallId, request: event, resolved: signal(undefined),
      };
      this.items.addBeside(item, this.items.callOf(event.toolCallId)?.key);
    }
    for (const each of this.callsOf(event)) {
      if (!isOver(each.call.peek())) changeCall(each, { waits: true });
    }
    return key;
  }

  onResolved(event: Resolved): string | undefined {
    const call = this.items.callOf(event.toolCallId);
    const item = this.items.find(`a:${event.requestId}`) as ApprovalItem | undefined;
    this.items.changed = true;
    for (const each of this.callsOf(item?.request ?? event)) {
      const { waited, decisions } = each.call.peek();
      changeCall(each, { waits: false, decisions: [...decisions, event], waited: item === undefined ? waited : [...waited, [item.at, Date.parse(event.timestamp)]] });
    }
    if (item !== undefined) item.resolved.value = event;
    else if (call === undefined) return this.notices.add(event, { name: 'decided', tone: 'quiet', aside: false, state: { data: event } });
    return item?.key ?? call?.key;
  }

  onQuestion(event: Extract<ACPEvent, { type: 'interaction:question' }>): string {
    const key = `q:${event.questionId}`;
    if (this.items.find(key) !== undefined) return key;
    const item: QuestionItem = { kind: 'question', key, ...startOf(event), questionId: event.questionId, request: event, resolved: signal(undefined) };
    this.turn.markActive();
    return this.items.add(item).key;
  }

  onAnswer(event: CustomEvent): string | undefined {
    const { data } = event;
    const item = this.items.find(`q:${readText(data, 'questionId') ?? ''}`) as QuestionItem | undefined;
    if (item === undefined) return this.notices.add(event, noticeOf(event));
    const content = data['content'] as Record<string, unknown> | undefined;
    item.resolved.value = {
      action: readText(data, 'action') ?? 'accept', at: Date.parse(event.timestamp), ...defined({ content, by: readText(event._meta, 'by') }),
    };
    this.items.changed = true;
    return item.key;
  }

  /** The calls that an answer is for: an ask that names no call of its own is about several. */
  private callsOf(event: Requested | Resolved): ToolItem[] {
    return callIdsOf(event).map((id) => this.items.callOf(id)).filter((call): call is ToolItem => call !== undefined);
  }
}
