/** The rules that are in force, one line each, in the order in which they stand in the file. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { AutoApprove } from '../../generated/agent-context';
import type { PolicyView, Rule } from '../../generated/api';
import { connection } from '../../hub/connection';
import { withNames } from '../../hub/people';
import { t, type Key } from '../../i18n';
import { Button, IconButton } from '../../ui';
import { RuleAction, RuleLimits } from '../approvals/rule/rule_view';
import { MarkedText } from '../../content/visible_text';
import { mayDo } from '../controls/availability';
import { AddRule } from './add_rule';
import { ruleLines, ruleSpan, withRule } from './file_lines';
import { RemoveRule } from './remove_rule';

interface PolicyRulesProps {
  policy: PolicyView;
  /** The text as it is written now. */
  text: string;
  mayWrite: boolean;
  onLine: (line: number) => void;
  onAdd: (text: string) => void;
  onRemoved: (policy: PolicyView) => void;
  /** The file is another one than is shown. */
  onReload: () => void;
}

export function PolicyRules({ policy, text, mayWrite, onLine, onAdd, onRemoved, onReload }: PolicyRulesProps): JSX.Element {
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<{ index: number; from: PolicyView } | null>(null);
  const lines = ruleLines(policy.text, policy.rules.length);
  // Out of the file as it was when somebody chose the rule, whatever it is by now.
  const span = removing === null ? null : ruleSpan(removing.from.text, removing.from.rules.length, removing.index);
  const rule = removing?.from.rules[removing.index];
  const mayRemove = mayWrite && policy.problem === null;
  return (
    <>
      {policy.rules.length === 0
        ? <div class="approvals-none"><p>{t('policy.noRules')}</p><p class="approvals-note">{t(noRulesHint(mayWrite))}</p></div>
        : (
          <div class="policy-scroll" tabIndex={0} role="region" aria-label={t('policy.rules')}>
            <table class="policy-table">
              <thead><tr><th scope="col">{t('policy.number')}</th><th scope="col">{t('policy.action')}</th><th scope="col">{t('policy.about')}</th><th scope="col">{t('policy.reason')}</th><th scope="col"><span class="visually-hidden">{t('policy.place')}</span></th></tr></thead>
              <tbody>{policy.rules.map((rule, index) => (
                <RuleRow key={index} rule={rule} number={index + 1} line={lines[index]} onLine={onLine}
                  onRemove={mayRemove && ruleSpan(policy.text, policy.rules.length, index) ? () => setRemoving({ index, from: policy }) : undefined} />
              ))}</tbody>
            </table>
          </div>
        )}
      <Unasked allowed={policy.autoApprove?.autoApprove ?? null} />
      {mayWrite && <div class="policy-actions"><Button icon="plus" onClick={() => setAdding(true)}>{t('policy.addRule')}</Button></div>}
      {removing && rule && span && <RemoveRule policy={removing.from} rule={rule} span={span} onClose={() => setRemoving(null)} onRemoved={onRemoved} onReload={onReload} />}
      {adding && <AddRule onClose={() => setAdding(false)} onAdd={(rule) => { setAdding(false); onAdd(withRule(text, rule)); }} />}
    </>
  );
}

/** How one comes to a rule on this device. */
function noRulesHint(mayWrite: boolean): Key {
  if (mayWrite) return 'policy.noRulesHint';
  return mayDo(connection.scope.value, 'control') ? 'policy.noRulesHintNoAdd' : 'policy.noRulesHintRead';
}

interface RuleRowProps {
  rule: Rule;
  number: number;
  line: number | undefined;
  onLine: (line: number) => void;
  /** Where it can be removed from here. */
  onRemove: (() => void) | undefined;
}

function RuleRow({ rule, number, line, onLine, onRemove }: RuleRowProps): JSX.Element {
  return (
    <tr>
      <td class="policy-number">{number}</td>
      <td><RuleAction action={rule.action} /></td>
      <td><RuleLimits rule={rule} /></td>
      <td class="policy-reason">{(rule.id || rule.reason) && <span class="policy-reason-name">{t('policy.reason')}</span>}{rule.id && <strong>{rule.id} </strong>}<MarkedText text={withNames(rule.reason ?? '')} /></td>
      <td>
        <div class="policy-row-actions">
          {line !== undefined && <IconButton icon="edit" size={16} label={t('policy.toLine', { line })} onClick={() => onLine(line)} />}
          {onRemove && <Button kind="quiet" icon="trash" onClick={onRemove}>{t('policy.remove')} <span class="visually-hidden">{t('policy.removeWhich', { number })} </span>…</Button>}
        </div>
      </td>
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
