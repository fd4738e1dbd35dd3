/**
 * Which asks that wait a rule would answer, shown before it is written.
 *
 * Rule: the hub says it. A hub that cannot say it (it does not know the address) shows nothing, and nothing stands in the way.
 */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { http, pathOf } from '../../../hub/http';
import { sessions } from '../../../hub/session_list';
import type { RuleAnswer, RulePreview } from '../../../generated/api';
import { t } from '../../../i18n';
import type { Scope } from './rule';
import { MarkedText } from '../../../content/visible_text';

interface RuleAnswersProps {
  requestId: string;
  allow: boolean;
  scope: Scope;
}

export function RuleAnswers({ requestId, allow, scope }: RuleAnswersProps): JSX.Element | null {
  const [answers, setAnswers] = useState<RuleAnswer[]>([]);
  useEffect(() => {
    let wanted = true;
    setAnswers([]);
    answersTo(requestId, allow, scope).then((found) => wanted && setAnswers(found));
    return () => { wanted = false; };
  }, [requestId, allow, scope]);
  const others = answers.filter((each) => each.requestId !== requestId);
  if (others.length === 0) return null;
  return (
    <section class="approvals-answers" role="status">
      <h3>{t(allow ? 'approvals.alsoApproves' : 'approvals.alsoDenies', { n: others.length })}</h3>
      <ul>{others.map((each) => <li key={each.requestId}><MarkedText text={each.description} /> <small>{titleOf(each.sessionId)}</small></li>)}</ul>
    </section>
  );
}

async function answersTo(requestId: string, allow: boolean, scope: Scope): Promise<RuleAnswer[]> {
  try {
    const preview = await http.post<Partial<RulePreview> | undefined>(
      pathOf(['approvals', requestId, 'always-preview']), { decision: allow ? 'allow' : 'deny', scope });
    return Array.isArray(preview?.answers) ? preview.answers : [];
  } catch {
    return []; // what cannot be known before is shown when it happens
  }
}

function titleOf(sessionId: string): string {
  return sessions.peek().find((view) => view.id === sessionId)?.title || sessionId;
}
