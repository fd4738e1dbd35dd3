/** On a card: what the hub is not sure of, every call that the ask is about, and why no rule can be. */
import type { JSX } from 'preact';
import type { RiskLevel } from '../../../generated/agent-context';
import type { ApprovalView } from '../../../generated/api';
import { t, type Key } from '../../../i18n';
import { Badge } from '../../../ui';
import { callsOf, doubtsOf, type AskedCall } from '../../../hub/approval_meta';
import { Folded } from './folded';
import { MarkedText } from '../../../content/visible_text';

/** How a level of risk is shown. */
export const RISKS: Record<RiskLevel, { words: Key; tone: 'plain' | 'good' | 'warn' | 'bad' }> = {
  low: { words: 'approvals.riskLow', tone: 'good' },
  medium: { words: 'approvals.riskMedium', tone: 'plain' },
  high: { words: 'approvals.riskHigh', tone: 'warn' },
  critical: { words: 'approvals.riskCritical', tone: 'bad' },
};

export function Doubts({ approval }: { approval: ApprovalView }): JSX.Element | null {
  const doubts = doubtsOf(approval);
  if (doubts === null) return null;
  return (
    <div class="approvals-doubts" role="note">
      <p>{t('approvals.notSure')}</p>
      {doubts.length > 0 && <ul>{doubts.map((doubt) => <li key={doubt}><MarkedText text={doubt} /></li>)}</ul>}
    </div>
  );
}

/** Why "Always" is not among the buttons. */
export function NoRule({ approval }: { approval: ApprovalView }): JSX.Element | null {
  if (approval.always || !approval.noRule) return null;
  return <p class="approvals-note"><MarkedText text={t('approvals.noRule', { why: approval.noRule })} /></p>;
}

export function CoveredCalls({ approval }: { approval: ApprovalView }): JSX.Element | null {
  const calls = callsOf(approval);
  if (calls.length === 0) return null;
  return (
    <section class="approvals-calls">
      <h3>{t('approvals.severalCalls', { n: calls.length })}</h3>
      <ol>{calls.map((call) => <OneCall key={call.toolCallId} call={call} />)}</ol>
    </section>
  );
}

function OneCall({ call }: { call: AskedCall }): JSX.Element {
  const risk = RISKS[call.riskLevel];
  return (
    <li>
      <p class="approvals-risk">
        <strong><MarkedText text={call.description || call.toolName} /></strong>
        <Badge tone={risk.tone}>{t(risk.words)}</Badge>
        {call.riskReason && <span><MarkedText text={call.riskReason} /></span>}
      </p>
      {call.command && <Folded><MarkedText text={call.command} /></Folded>}
      {call.doubts?.map((doubt) => <p key={doubt} class="approvals-note"><MarkedText text={doubt} /></p>)}
      {call.paths?.map((path) => <code key={path}><MarkedText text={path} /></code>)}
    </li>
  );
}
