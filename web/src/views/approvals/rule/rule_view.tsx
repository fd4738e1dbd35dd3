/** A rule, in words and exactly as it is written. */
import type { JSX } from 'preact';
import { t, type Key } from '../../../i18n';
import { limitsOf, ruleText, type Limit, type Rule } from './rule';
import { MarkedText } from '../../../content/visible_text';

const ACTIONS: Record<Rule['action'], Key> = { allow: 'approvals.ruleAllow', ask: 'approvals.ruleAsk', deny: 'approvals.ruleDeny' };

const LIMITS: Record<Limit['key'], Key> = {
  command: 'approvals.limitCommand', path: 'approvals.limitPath', tool: 'approvals.limitTool', category: 'approvals.limitCategory',
  agent: 'approvals.limitAgent', risk: 'approvals.limitRisk', root: 'approvals.limitRoot', session: 'approvals.limitSession',
  turn: 'approvals.limitTurn', expiresAt: 'approvals.limitExpiresAt',
};

export function RuleAction({ action }: { action: Rule['action'] }): JSX.Element {
  return <span class={`approvals-rule-action approvals-rule-${action}`}>{t(ACTIONS[action])}</span>;
}

/** What a rule is limited to, one line each. */
export function RuleLimits({ rule }: { rule: Rule }): JSX.Element {
  const limits = limitsOf(rule);
  if (!limits.length) return <p class="approvals-rule-all">{t('approvals.ruleEverything')}</p>;
  return (
    <dl class="approvals-rule-limits">
      {limits.map((limit) => (
        <div key={limit.key}>
          <dt>{t(LIMITS[limit.key])}</dt>
          <dd>{limit.values.map((value) => <code key={value}><MarkedText text={value} /></code>)}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The rule as the file has it. */
export function RuleText({ rule }: { rule: Rule }): JSX.Element {
  return <pre class="approvals-rule-text" tabIndex={0}><code><MarkedText text={ruleText(rule)} /></code></pre>;
}
