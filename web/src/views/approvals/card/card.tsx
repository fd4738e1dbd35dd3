/**
 * An approval as a card: what is asked for, how risky it is and why, and the ways to decide. In the queue and in the session.
 *
 * Rule 1: a decision is about this ask, by its id; a card never acts on what took its place on the screen.
 * Rule 2: while a decision is on its way the card says so and takes no other. What was refused says why.
 * Rule 3: what decides stands below the beginning of what it decides, on every screen (style/approvals/card.css), and takes no press before
 * that was there (steady.ts).
 */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import type { ApprovalView } from '../../../generated/api';
import { agentName } from '../../../hub/agents';
import { awayReason } from '../../../hub/cluster';
import { connection } from '../../../hub/connection';
import { sessionList, type Pending } from '../../../hub/session_list';
import { t } from '../../../i18n';
import { ContentSession } from '../../../content/location';
import { route, sessionHref } from '../../../route';
import { Badge, Button, Icon, type IconName } from '../../../ui';
import { mayDo } from '../../controls/availability';
import { CoveredCalls, Doubts, NoRule } from './details';
import { Countdown } from '../countdown';
import { AlwaysSheet, DenyPanel } from './deny_and_always';
import { commandFor, offered, type Decision } from './decision';
import { EditSheet } from './edit_sheet';
import { keepKeys } from '../keys';
import { RefusalLine, refuse } from '../refusals';
import { Preview } from './preview';
import { resolutions } from '../resolutions';
import { ResolutionLine } from '../resolution_line';
import { RISKS } from './details';
import { sendAnswer, sentFor } from '../outgoing_answers';
import { CardButton, SteadyCard } from '../steady_card';
import { backToCard } from '../typing';
import { MarkedText } from '../../../content/visible_text';
import '../../../style/shared_views.css';

export { QuestionForm } from '../question/question';

export interface CardProps {
  pending: Pending;
  /** It no longer waits, and is shown for those who have it before their eyes. */
  over?: boolean;
}

export function ApprovalCard({ pending, over = false }: CardProps): JSX.Element | null {
  const heading = useId();
  const approval = pending.approval;
  if (!approval) return null;
  return (
    <SteadyCard ask={approval.requestId} kind={approval.riskLevel} labelledBy={heading}>
      <CardHead id={heading} pending={pending} icon={iconOf(approval)} title={headingOf(approval, pending.cwd)}>
        {!approval.answerThere && <Countdown expiresAt={approval.expiresAt} since={approval.requestedAt} denies />}
      </CardHead>
      <AgentTitle approval={approval} heading={headingOf(approval, pending.cwd)} />
      <p class="approvals-risk">
        <Badge tone={RISKS[approval.riskLevel].tone}>{t(RISKS[approval.riskLevel].words)}</Badge>
        {approval.riskReason && <span><MarkedText text={pending.cwd ? approval.riskReason.replaceAll(`${pending.cwd}/`, '') : approval.riskReason} /></span>}
      </p>
      <Doubts approval={approval} />
      <div class="approvals-asked" data-decided>
        <div class="approvals-shown">
          <CoveredCalls approval={approval} />
          <ContentSession.Provider value={pending.sessionId}><Preview approval={approval} /></ContentSession.Provider>
        </div>
        <Decide pending={pending} approval={approval} over={over} />
      </div>
    </SteadyCard>
  );
}

interface CardHeadProps {
  id: string;
  pending: Pending;
  icon: IconName;
  title: string;
  children: ComponentChildren;
}

/** What asks, and where. */
export function CardHead({ id, pending, icon, title, children }: CardHeadProps): JSX.Element {
  const at = route.value;
  const inside = at.view === 'session' && at.id === pending.sessionId;
  const node = sessionList.find(pending.sessionId)?.node;
  return (
    <header class="approvals-head">
      <Icon name={icon} />
      <div class="approvals-what">
        <h2 id={id}><MarkedText text={title} /></h2>
        {!inside && (
          <p class="approvals-where">
            <a href={sessionHref(pending.sessionId)} title={t('approvals.openSession')}>{pending.title || pending.sessionId}</a>
            {pending.agent && <span>{agentName(pending.agent)}</span>}
            {node && <span title={t('cluster.runsOn', { node })}>{node}</span>}
            {pending.cwd && <span title={pending.cwd}>{pending.cwd.split('/').filter(Boolean).at(-1) ?? pending.cwd}</span>}
          </p>
        )}
      </div>
      {children}
    </header>
  );
}

function Decide({ pending, approval, over }: { pending: Pending; approval: ApprovalView; over: boolean }): JSX.Element {
  const [panel, setPanel] = useState<'none' | 'deny' | 'always' | 'never' | 'edit'>('none');
  const [reason, setReason] = useState('');
  const ask = approval.requestId;
  const decide = (decision: Decision): void => {
    backToCard(document.activeElement); // a button that is busy has no focus
    setPanel('none');
    sendAnswer(pending.sessionId, ask, commandFor(approval, decision));
  };
  const turnId = approval.about?.turnId ?? sessionList.find(pending.sessionId)?.turn?.turnId;
  const choices = offered(approval, turnId, mayDo(connection.scope.value, 'control'));
  const first = choices.approve[0];
  const approve = (): void => (choices.onlyForGood ? setPanel('always') : decide({ approve: true, ...(first?.optionId ? { optionId: first.optionId } : {}) }));
  const settled = resolutions.value.get(ask);
  const away = unanswerable(pending);
  const may = mayDo(connection.scope.value, 'approve') && !approval.answerThere && !away;
  const unlessSent = (act: () => void) => (): void => (isOnItsWay(ask) ? refuse(ask, 'sending') : act());
  useEffect(() => (settled || over || !may ? undefined : keepKeys(ask, { approve: unlessSent(approve), deny: unlessSent(() => setPanel('deny')), ...(approval.editable ? { edit: unlessSent(() => setPanel('edit')) } : {}) })));
  if (settled) return <ResolutionLine resolution={settled} />;
  if (over) return <p class="approvals-note" role="status">{t('approvals.over')}</p>;
  if (away) return <p class="approvals-note" role="status">{away}</p>;
  if (!may) return <p class="approvals-note">{t(approval.answerThere ? 'approvals.answerThere' : 'approvals.noScopeApprove')}</p>;
  const turn = turnId === undefined ? {} : { turnId };
  return (
    <>
      <Progress ask={ask} />
      <NoRule approval={approval} />
      {panel === 'deny'
        ? <DenyPanel ways={choices.deny} longer={choices.scopes.length > 1} reason={reason} onReason={setReason} onDeny={decide} onLonger={() => setPanel('never')} onBack={() => setPanel('none')} />
        : <Buttons approval={approval} choices={choices} busy={isOnItsWay(ask)} onApprove={approve} onDecide={decide} onPanel={setPanel} />}
      {(panel === 'always' || panel === 'never') && (
        <AlwaysSheet pending={pending} approval={approval} choices={choices} allow={panel === 'always'} reason={reason} {...turn} onDecide={decide} onClose={() => setPanel(panel === 'never' ? 'deny' : 'none')} />
      )}
      {panel === 'edit' && <EditSheet approval={approval} onDecide={decide} onClose={() => setPanel('none')} />}
    </>
  );
}

/** Why an answer would not arrive, where its session's node is away. */
export function unanswerable({ sessionId }: Pending): string {
  const away = awayReason(sessionList.find(sessionId) ?? {});
  return away && t('approvals.away', { why: away });
}

interface ButtonsProps {
  approval: ApprovalView;
  choices: ReturnType<typeof offered>;
  busy: boolean;
  onApprove: () => void;
  onDecide: (decision: Decision) => void;
  onPanel: (panel: 'deny' | 'always' | 'edit') => void;
}

function Buttons({ approval, choices, busy, onApprove, onDecide, onPanel }: ButtonsProps): JSX.Element {
  const [first, ...others] = choices.approve;
  const onlyWay = approval.options.find((option) => option.kind === 'allow_once');
  return (
    <footer class="approvals-actions" data-decides>
      <CardButton kind="primary" icon="check" busy={busy} title={onlyWay?.name} onClick={onApprove}>{first?.name ?? t('approvals.approve')}</CardButton>
      {others.map((way) => (
        <CardButton key={way.optionId} disabled={busy} onClick={() => onDecide({ approve: true, ...(way.optionId ? { optionId: way.optionId } : {}) })}>{way.name}</CardButton>
      ))}
      {choices.scopes.length > 1 && !choices.onlyForGood && <CardButton disabled={busy} onClick={() => onPanel('always')}>{t('approvals.always')}</CardButton>}
      {approval.editable && <CardButton icon="edit" disabled={busy} onClick={() => onPanel('edit')}>{t('approvals.edit')}</CardButton>}
      <CardButton kind="danger" icon="cross" class="approvals-deny" disabled={busy} onClick={() => onPanel('deny')}>{t('approvals.deny')}</CardButton>
      <RefusalLine />
    </footer>
  );
}

/** How far an answer is: on its way, waiting for the connection, or refused. */
export function Progress({ ask }: { ask: string }): JSX.Element | null {
  const sent = sentFor(ask);
  if (!sent || sent.state === 'done') return null;
  if (sent.state === 'failed') return <p class="approvals-failed" role="alert">{t('approvals.failed', { why: sent.error?.message ?? '' })}</p>;
  if (sent.state === 'sent') return <p class="approvals-note" role="status">{t('approvals.sending')}</p>;
  return (
    <p class="approvals-note" role="status">
      {t('approvals.queued')} <Button kind="quiet" onClick={() => sent.drop()}>{t('approvals.takeBack')}</Button>
    </p>
  );
}

export function isOnItsWay(ask: string): boolean {
  const sent = sentFor(ask);
  return sent !== undefined && sent.state !== 'failed';
}

/** A command stands below whole; its heading only says what it is. An agent's title is the heading only where it names what is done. */
function headingOf(approval: ApprovalView, cwd: string): string {
  if (approval.preview?.type === 'command') return t('approvals.runsCommand');
  const ours = cwd ? approval.description.replaceAll(`${cwd}/`, '') : approval.description;
  if (ours.includes(', which ') || ours.includes(' (told beside it: ')) return ours; // it does more than its title says
  const named = ours.slice(ours.indexOf(': ') + 1).trim();
  const subject = approval.preview?.type === 'diff' ? named.slice(named.lastIndexOf('/') + 1) : named; // a diff has its whole path above it
  return !ours || (approval.title && subject && approval.title.includes(subject)) ? approval.title : ours;
}

/** What the agent calls it, where its heading is ours. */
function AgentTitle({ approval, heading }: { approval: ApprovalView; heading: string }): JSX.Element | null {
  if (!approval.title || approval.title === heading || approval.title === approval.toolName || approval.preview?.type === 'command' && !approval.acts?.length) return null;
  return <p class="approvals-said">{t('approvals.agentSays')} <q><MarkedText text={approval.title} /></q></p>;
}

function iconOf(approval: ApprovalView): IconName {
  if (approval.preview?.type === 'diff') return 'diff';
  return approval.preview?.type === 'command' ? 'terminal' : 'tool';
}
