// Who let a call happen, or did not: in the line of its card while that is closed, with the reason inside of it.

import type { JSX } from 'preact';
import type { ApprovalResolvedEvent } from '../../../generated/agent-context';
import { savedByOf, wasAskedAnew } from '../../../hub/approval_meta';
import { byWhom, withNames } from '../../../hub/people';
import { t } from '../../../i18n';
import type { Call, Item } from '../../../model/timeline/items';
import { Icon } from '../../../ui';

/** Who decided, and why. */
export function Decision({ decision }: { decision: ApprovalResolvedEvent }): JSX.Element {
  const what = decidedInWords(decision);
  const why = decision.resolvedBy === 'timeout' ? undefined : decision.reason; // that nobody answered is said already
  return (
    <span class={decision.approved ? 'session-decision' : 'session-decision session-decision-no'}>
      <Icon name={decision.approved ? 'check' : 'cross'} size={14} />
      {why !== undefined ? t('session.because', { what, why: withNames(why) }) : what}
    </span>
  );
}

function decidedInWords(decision: ApprovalResolvedEvent): string {
  const saved = decision.resolvedBy === 'policy' ? savedByOf(decision) : undefined;
  if (saved === undefined) return decidedInShort(decision);
  return t(decision.approved ? 'common.allowedBySaved' : 'common.deniedBySaved', { who: byWhom(saved) });
}

function decidedInShort(decision: ApprovalResolvedEvent): string {
  if (decision.resolvedBy === 'timeout') return t('session.timedOut');
  const by = decision._meta?.['by'];
  if (by === 'agent' || wasAskedAnew(decision)) return t('session.withdrawn');
  if (decision.resolvedBy === 'policy') return t(decision.approved ? 'common.allowedByRule' : 'common.deniedByRule');
  const who = typeof by === 'string' ? byWhom(by) : t('approvals.somebody');
  return t(decision.approved ? 'session.approvedBy' : 'session.deniedBy', { who });
}

/** How the last ask about a call was decided, in few words; undefined where nobody was asked, or somebody is by now. */
export function decisionOn(call: Call | undefined): string | undefined {
  const decision = call?.decisions.at(-1);
  return decision === undefined || call?.waits ? undefined : decidedInShort(decision);
}

/** The same of a run of calls, where people decided on all that was asked in it and done, alike. What was not done has a row of its own. */
export function decisionOnAll(members: readonly Item[]): string | undefined {
  const done = members.flatMap((member) => (member.kind === 'tool' && member.call.peek().status === 'completed' ? [member.call.peek()] : []));
  const asked = done.filter((call) => call.decisions.length > 0);
  const found = new Set(asked.map((call) => (call.decisions.at(-1)?.resolvedBy === 'user' ? decisionOn(call) : undefined)));
  return found.size === 1 ? [...found][0] : undefined;
}
