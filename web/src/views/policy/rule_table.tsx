/** The rules that are in force, one line each, in the order in which they stand in the file. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { AutoApprove } from '../../generated/agent-context';
import type { PolicyView, Rule } from '../../generated/api';
import { t } from '../../i18n';
import { Button, IconButton } from '../../ui';
import { RuleAction, RuleLimits } from '../approvals/rule/rule_view';
import { MarkedText } from '../../content/visible_text';
import { AddRule } from './add_rule';
import { ruleLines, withRule } from './file_lines';

interface PolicyRulesProps {
  policy: PolicyView;
  /** The text as it is written now. */
  text: string;
  mayWrite: boolean;
  onLine: (line: number) => void;
  onAdd: (text: string) => void;
}

export function PolicyRules({ policy, text, mayWrite, onLine, onAdd }: PolicyRulesProps): JSX.Element {
  const [adding, setAdding] = useState(false);
  const lines = ruleLines(policy.text, policy.rules.length);
  return (
    <>
      {policy.rules.length === 0
        ? <div class="approvals-none"><p>{t('policy.noRules')}</p><p class="approvals-note">{t('policy.noRulesHint')}</p></div>
        : (
          <div class="policy-scroll" tabIndex={0} role="region" aria-label={t('policy.rules')}>
            <table class="policy-table">
              <thead><tr><th scope="col">{t('policy.number')}</th><th scope="col">{t('policy.action')}</th><th scope="col">{t('policy.about')}</th><th scope="col">{t('policy.reason')}</th><th scope="col"><span class="visually-hidden">{t('policy.place')}</span></th></tr></thead>
              <tbody>{policy.rules.map((rule, index) => <RuleRow key={index} rule={rule} number={index + 1} line={lines[index]} onLine={onLine} />)}</tbody>
            </table>
          </div>
        )}
      <Unasked allowed={policy.autoApprove?.autoApprove ?? null} />
      {mayWrite && <div class="policy-actions"><Button icon="plus" onClick={() => setAdding(true)}>{t('policy.addRule')}</Button></div>}
      {adding && <AddRule onClose={() => setAdding(false)} onAdd={(rule) => { setAdding(false); onAdd(withRule(text, rule)); }} />}
    </>
  );
}

function RuleRow({ rule, number, line, onLine }: { rule: Rule; number: number; line: number | undefined; onLine: (line: number) => void }): JSX.Element {
  return (
    <tr>
      <td class="policy-number">{number}</td>
      <td><RuleAction action={rule.action} /></td>
      <td><RuleLimits rule={rule} /></td>
      <td class="policy-reason">{rule.id && <strong>{rule.id} </strong>}<MarkedText text={rule.reason ?? ''} /></td>
      <td>{line !== undefined && <IconButton icon="edit" size={16} label={t('policy.toLine', { line })} onClick={() => onLine(line)} />}</td>
    </tr>
  );
}

/** The protocol's own policy: what needs nobody. */
function Unasked({ allowed }: { allowed: AutoApprove | null }): JSX.Element | null {
  if (!allowed) return null;
  const kinds = [
    ['policy.autoReads', allowed.reads], ['policy.autoSearches', allowed.searches], ['policy.autoWrites', allowed.writes], ['policy.autoCommands', allowed.commands],
  ] as const;
  const granted = kinds.filter(([, what]) => what === true || (Array.isArray(what) && what.length > 0));
  return (
    <section class="policy-unasked">
      <h2>{t('policy.autoApprove')}</h2>
      {granted.length === 0 && <p class="approvals-note">{t('policy.autoNone')}</p>}
      <dl class="approvals-rule-limits">
        {granted.map(([key, what]) => (
          <div key={key}><dt>{t(key)}</dt><dd>{Array.isArray(what) ? what.map((pattern) => <code key={pattern}>{pattern}</code>) : '✓'}</dd></div>
        ))}
      </dl>
    </section>
  );
}
