/**
 * Taking a rule out of the file.
 *
 * Rule 1: exactly its lines go, and one sees them before. What else stands in the file stays as it is written.
 * Rule 2: only out of the file as it was shown: the hub refuses it where somebody changed it meanwhile, and that is told.
 * Rule 3: which asks that wait are answered then is shown beforehand.
 */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { PolicyView, Rule, RuleAnswer } from '../../generated/api';
import { asHubError, http } from '../../hub/http';
import { t } from '../../i18n';
import { Button, Sheet, toast } from '../../ui';
import { RuleAction, RuleLimits } from '../approvals/rule/rule_view';
import { MarkedText } from '../../content/visible_text';
import { cutOut } from './file_lines';
import { answersUnder, WaitingAnswers } from './waiting_answers';
import { policyPath } from './whose';

interface RemoveRuleProps {
  policy: PolicyView;
  rule: Rule;
  /** Where its lines are in the policy's text. */
  span: { from: number; to: number };
  onClose: () => void;
  onRemoved: (policy: PolicyView) => void;
  onReload: () => void;
}

export function RemoveRule({ policy, rule, span, onClose, onRemoved, onReload }: RemoveRuleProps): JSX.Element {
  const [busy, setBusy] = useState(false);
  const [answers, setAnswers] = useState<RuleAnswer[]>([]);
  const rest = cutOut(policy.text, span);
  useEffect(() => {
    let wanted = true;
    answersUnder(policy, rest).then((found) => wanted && setAnswers(found));
    return () => { wanted = false; };
  }, [rest]);
  const remove = async (): Promise<void> => {
    setBusy(true);
    try {
      onRemoved(await http.put<PolicyView>(policyPath(policy), { text: rest }, { 'If-Match': `"${policy.version}"` }));
      toast(t('policy.removed'), 'good', 'policy');
    } catch (failure) {
      const error = asHubError(failure);
      toast(error.status === 412 ? t('policy.changedUnremoved') : error.message, 'bad', 'policy');
      if (error.status === 412) onReload();
    }
    onClose();
  };
  return (
    <Sheet title={t('policy.removeTitle')} onClose={onClose}
      actions={<><Button onClick={onClose}>{t('common.cancel')}</Button><Button kind="danger" icon="trash" busy={busy} onClick={() => void remove()}>{t('policy.remove')}</Button></>}>
      <div class="policy-remove">
        <div class="policy-deciding"><RuleAction action={rule.action} /><RuleLimits rule={rule} /></div>
        <pre class="approvals-rule-text" tabIndex={0}><code><MarkedText text={policy.text.slice(span.from, span.to)} /></code></pre>
        <p class="approvals-note">{t('policy.removeText')}</p>
        <WaitingAnswers answers={answers} />
      </div>
    </Sheet>
  );
}
