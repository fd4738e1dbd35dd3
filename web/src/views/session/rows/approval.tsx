// What the agent asks, at its place in the conversation: a form while it waits, a line when it was answered.
//
// Rule: who decides with keys goes on from the next ask, or where messages are written, not from the top of the page.

import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { askId, pending, type Pending } from '../../../hub/session_list';
import { byWhom } from '../../../hub/people';
import { t } from '../../../i18n';
import type { ApprovalItem, QuestionItem } from '../../../model/timeline/items';
import { Icon } from '../../../ui';
import { ApprovalCard, QuestionForm } from '../../approvals/card/card';
import { typedIn } from '../../approvals/typing';
import { useSessionView } from '../view_state';
import { oneLine } from './labels';
import { KeepStill } from '../conversation/keep_still';
import { Decision } from './decision';

export function ApprovalRow({ item }: { item: ApprovalItem }): JSX.Element {
  const decision = item.resolved.value;
  const ask = useAsk(item.requestId, decision === undefined);
  if (ask !== undefined) return <KeysGoOn item={item}><ApprovalCard pending={ask} /></KeysGoOn>;
  return (
    <p class="session-line">
      <Icon name="shield" size={16} />
      <span><b>{item.request.toolName}</b> {oneLine(item.request.description)}</span>
      {decision !== undefined ? <Decision decision={decision} /> : <span class="session-faint">{t('session.callWaits')}</span>}
    </p>
  );
}

export function QuestionRow({ item }: { item: QuestionItem }): JSX.Element {
  const answer = item.resolved.value;
  const ask = useAsk(item.questionId, answer === undefined);
  if (ask !== undefined) return <KeysGoOn item={item}><QuestionForm pending={ask} /></KeysGoOn>;
  const elsewhere = item.request._meta?.['answerable'] === false && answer === undefined;
  return (
    <div class="session-line session-question">
      <Icon name="question" size={16} />
      <div>
        <p class="session-plain">{item.request.question}</p>
        {elsewhere && <p class="session-faint">{t('session.questionElsewhere')}</p>}
        {answer !== undefined && <p class="session-decision">{answerInWords(answer)}</p>}
      </div>
    </div>
  );
}

/** The ask as it waits; as it was while somebody still types in its card. */
function useAsk(id: string, waits: boolean): Pending | undefined {
  const { session } = useSessionView();
  const last = useRef<Pending>();
  const typed = typedIn.value === id;
  const ask = waits ? pending.value.find((one) => one.sessionId === session.sessionId && askId(one) === id) : undefined;
  last.current = ask ?? (typed ? last.current : undefined);
  return last.current;
}

/** A card in its place. Keys that were in it go on when it goes: when it is a line by now, or nobody is asked any more. */
function KeysGoOn({ item, children }: { item: ApprovalItem | QuestionItem; children: ComponentChildren }): JSX.Element {
  const id = item.kind === 'approval' ? item.requestId : item.questionId;
  useLayoutEffect(() => () => {
    const active = document.activeElement; // the card is still there
    if (active?.closest<HTMLElement>('[data-ask]')?.dataset['ask'] !== id || !active.matches(':focus-visible')) return;
    const waits = item.resolved.peek() === undefined && pending.peek().some((one) => askId(one) === id);
    if (!waits) requestAnimationFrame(() => nextPlace()?.focus());
  }, [id]);
  return <KeepStill rowKey={item.key}>{children}</KeepStill>;
}

function nextPlace(): HTMLElement | null {
  const viewState = document.querySelector('.session-main');
  return viewState?.querySelector<HTMLElement>('[data-ask]') ?? viewState?.querySelector<HTMLElement>('.composer-text') ?? null;
}

function answerInWords({ action, by, content }: NonNullable<QuestionItem['resolved']['value']>): string {
  const who = by !== undefined ? byWhom(by) : t('session.notice_somebody');
  if (action === 'decline') return t('session.declined', { who });
  if (action !== 'accept') return t('session.questionClosed');
  const given = content === undefined ? [] : Object.values(content).map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
  const what = t('session.answered', { who });
  return given.length > 0 ? t('session.because', { what, why: given.join(', ') }) : what;
}
