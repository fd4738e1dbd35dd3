/**
 * Which asks that wait other rules would answer, shown before these are saved.
 *
 * Rule: the hub says it. A hub that cannot say it (it does not know the address, or the text is no policy) names none: what is
 * wrong is told when the rules are saved.
 */
import type { JSX } from 'preact';
import type { PolicyPreview, PolicyView, RuleAnswer } from '../../generated/api';
import { MarkedText } from '../../content/visible_text';
import { http, pathOf } from '../../hub/http';
import { sessions } from '../../hub/session_list';
import { t } from '../../i18n';

export async function answersUnder({ of, node }: Pick<PolicyView, 'of' | 'node'>, text: string): Promise<RuleAnswer[]> {
  try {
    const preview = await http.post<Partial<PolicyPreview> | undefined>(pathOf(['policy', 'preview'], { of: node === null ? undefined : of }), { text });
    return Array.isArray(preview?.answers) ? preview.answers : [];
  } catch {
    return [];
  }
}

export function WaitingAnswers({ answers }: { answers: RuleAnswer[] }): JSX.Element | null {
  if (answers.length === 0) return null;
  return (
    <section class="approvals-answers" role="status">
      <h3>{t('policy.answersWaiting', { n: answers.length })}</h3>
      <ul>
        {answers.map((each) => (
          <li key={each.requestId}>
            {t(each.decision === 'allow' ? 'policy.answerAllow' : 'policy.answerDeny')} <MarkedText text={each.description} /> <small>{titleOf(each.sessionId)}</small>
          </li>
        ))}
      </ul>
    </section>
  );
}

function titleOf(sessionId: string): string {
  return sessions.peek().find((view) => view.id === sessionId)?.title || sessionId;
}
