/** A rule put together by fields: it becomes text at the end of the file's text. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { RiskLevel } from '../../generated/agent-context';
import { t } from '../../i18n';
import { Button, Sheet } from '../../ui';
import { ruleText, type Rule } from '../approvals/rule/rule';
import { RuleText } from '../approvals/rule/rule_view';

const RISKS: RiskLevel[] = ['low', 'medium', 'high', 'critical'];
const ACTIONS: [Rule['action'], 'approvals.ruleAllow' | 'approvals.ruleAsk' | 'approvals.ruleDeny'][] = [
  ['allow', 'approvals.ruleAllow'], ['ask', 'approvals.ruleAsk'], ['deny', 'approvals.ruleDeny'],
];

export function AddRule({ onAdd, onClose }: { onAdd: (text: string) => void; onClose: () => void }): JSX.Element {
  const [action, setAction] = useState<Rule['action']>('allow');
  const [texts, setTexts] = useState({ command: '', path: '', tool: '', root: '', reason: '' });
  const [risks, setRisks] = useState<RiskLevel[]>([]);
  const rule: Rule = {
    action, command: listed(texts.command), path: listed(texts.path), tool: listed(texts.tool), risk: risks,
    ...(texts.root.trim() ? { root: texts.root.trim() } : {}), ...(texts.reason.trim() ? { reason: texts.reason.trim() } : {}),
  };
  const tooWide = action === 'allow' && !rule.command?.length && !rule.path?.length && !rule.tool?.length && !risks.length;
  const set = (key: keyof typeof texts) => (event: JSX.TargetedEvent<HTMLInputElement | HTMLTextAreaElement>) => setTexts({ ...texts, [key]: event.currentTarget.value });
  const pick = (risk: RiskLevel, on: boolean): void => setRisks(RISKS.filter((each) => (each === risk ? on : risks.includes(each))));
  return (
    <Sheet title={t('policy.addTitle')} onClose={onClose}
      actions={<Button kind="primary" disabled={tooWide} onClick={() => onAdd(ruleText(rule))}>{t('policy.add')}</Button>}>
      <div class="policy-add">
        <p class="approvals-note">{t('policy.addHint')}</p>
        <fieldset class="policy-row">
          <legend>{t('policy.fieldAction')}</legend>
          {ACTIONS.map(([each, words]) => (
            <label key={each} class="approvals-choice"><input type="radio" name="action" checked={action === each} onChange={() => setAction(each)} /><span>{t(words)}</span></label>
          ))}
        </fieldset>
        <label><span>{t('policy.fieldCommand')}</span><textarea class="policy-code" rows={2} spellcheck={false} value={texts.command} onInput={set('command')} /></label>
        <label><span>{t('policy.fieldPath')}</span><textarea class="policy-code" rows={2} spellcheck={false} value={texts.path} onInput={set('path')} /></label>
        <label><span>{t('policy.fieldTool')}</span><input type="text" spellcheck={false} autocapitalize="off" value={texts.tool} onInput={set('tool')} /></label>
        <fieldset class="policy-row">
          <legend>{t('policy.fieldRisk')}</legend>
          {RISKS.map((risk) => (
            <label key={risk} class="approvals-choice"><input type="checkbox" checked={risks.includes(risk)} onChange={(event) => pick(risk, event.currentTarget.checked)} /><span>{risk}</span></label>
          ))}
          <small>{t('policy.riskHint')}</small>
        </fieldset>
        <label><span>{t('policy.fieldRoot')}</span><input type="text" spellcheck={false} autocapitalize="off" value={texts.root} onInput={set('root')} /></label>
        <label><span>{t('policy.fieldReason')}</span><input type="text" value={texts.reason} onInput={set('reason')} /></label>
        {tooWide ? <p class="approvals-note">{t('policy.needsSomething')}</p> : <RuleText rule={rule} />}
      </div>
    </Sheet>
  );
}

function listed(text: string): string[] {
  return text.split('\n').map((line) => line.trim()).filter(Boolean);
}
