/** What the policy would say to something, and why: the answer, the risk, and every rule that was looked at. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Explanation, Question, RuleLookedAt } from '../../generated/api';
import { asHubError, http, pathOf } from '../../hub/http';
import { withNames } from '../../hub/people';
import { sessionList, sessions } from '../../hub/session_list';
import { t, type Key } from '../../i18n';
import { Badge, Button, Icon, type IconName } from '../../ui';
import { RuleAction, RuleLimits } from '../approvals/rule/rule_view';

type What = 'command' | 'path' | 'tool';

const WHATS: [What, Key][] = [['command', 'policy.explainCommand'], ['path', 'policy.explainPath'], ['tool', 'policy.explainTool']];

const RESULTS: Record<Explanation['action'], { words: Key; icon: IconName }> = {
  allow: { words: 'policy.resultAllow', icon: 'check' }, ask: { words: 'policy.resultAsk', icon: 'user' }, deny: { words: 'policy.resultDeny', icon: 'cross' },
};

const SOURCES: Record<Explanation['source'], Key> = {
  'policy file': 'policy.sourceFile', 'cluster policy': 'policy.sourceCluster', session: 'policy.sourceSession', 'permission policy': 'policy.sourcePermission', default: 'policy.sourceDefault',
};

/** Where there are two policies, each is named. */
const SOURCES_IN_CLUSTER: Record<Explanation['source'], Key> = { ...SOURCES, 'policy file': 'policy.sourceNodeFile' };

const RISKS: Record<Explanation['risk'], { words: Key; tone: 'plain' | 'good' | 'warn' | 'bad' }> = {
  low: { words: 'approvals.riskLow', tone: 'good' }, medium: { words: 'approvals.riskMedium', tone: 'plain' },
  high: { words: 'approvals.riskHigh', tone: 'warn' }, critical: { words: 'approvals.riskCritical', tone: 'bad' },
};

export function ExplainPolicy({ unsaved }: { unsaved: boolean }): JSX.Element {
  const [what, setWhat] = useState<What>('command');
  const [form, setForm] = useState({ command: '', path: '', tool: '', input: '{}', sessionId: '', cwd: '' });
  const [answer, setAnswer] = useState<Explanation | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const set = (key: keyof typeof form) => (event: JSX.TargetedEvent<HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement>) => setForm({ ...form, [key]: event.currentTarget.value });
  const ask = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      setAnswer(await http.post<Explanation>(pathOf(['policy', 'explain'], { node: nodeOf(form.sessionId) }), questionOf(what, form)));
    } catch (failure) {
      setAnswer(null);
      setError(failure instanceof SyntaxError ? t('approvals.notJson') : asHubError(failure).message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <div class="policy-explain">
      <p class="approvals-note">{t('policy.explainIntro')}{unsaved && ` ${t('policy.unsavedExplain')}`}</p>
      <form onSubmit={(event) => void ask(event)}>
        <fieldset class="policy-row">
          <legend>{t('policy.explainWhat')}</legend>
          {WHATS.map(([each, words]) => (
            <label key={each} class="approvals-choice"><input type="radio" name="what" checked={what === each} onChange={() => setWhat(each)} /><span>{t(words)}</span></label>
          ))}
        </fieldset>
        {what === 'command' && <label><span>{t('policy.explainCommandLabel')}</span><textarea class="policy-code" rows={2} required spellcheck={false} value={form.command} placeholder="npm test && rm -rf build" onInput={set('command')} /></label>}
        {what === 'path' && <label><span>{t('policy.explainPathLabel')}</span><input type="text" required spellcheck={false} autocapitalize="off" value={form.path} placeholder="src/app.ts" onInput={set('path')} /></label>}
        {what === 'tool' && (
          <>
            <label><span>{t('policy.explainToolLabel')}</span><input type="text" required spellcheck={false} autocapitalize="off" value={form.tool} onInput={set('tool')} /></label>
            <label><span>{t('policy.explainInputLabel')}</span><textarea class="policy-code" rows={3} spellcheck={false} value={form.input} onInput={set('input')} /></label>
          </>
        )}
        <label>
          <span>{t('policy.explainSession')}</span>
          <select value={form.sessionId} onChange={set('sessionId')}>
            <option value="">{t('policy.explainNoSession')}</option>
            {sessions.value.slice(0, 50).map((view) => <option key={view.id} value={view.id}>{[view.title || view.id, view.cwd, view.node].filter(Boolean).join(' · ')}</option>)}
          </select>
        </label>
        {!form.sessionId && <label><span>{t('policy.explainFolder')}</span><input type="text" spellcheck={false} autocapitalize="off" value={form.cwd} placeholder="~" onInput={set('cwd')} /></label>}
        <Button kind="primary" type="submit" busy={busy} icon="question">{t('policy.explainDo')}</Button>
      </form>
      {error && <p class="policy-problem" role="alert">{error}</p>}
      {answer && <Answer answer={answer} />}
    </div>
  );
}

function questionOf(what: What, form: Record<string, string>): Question {
  const where = form['sessionId'] ? { sessionId: form['sessionId'] } : form['cwd']?.trim() ? { cwd: form['cwd'].trim() } : {};
  if (what === 'command') return { command: form['command'] ?? '', ...where };
  if (what === 'path') return { path: form['path'] ?? '', ...where };
  return { tool: form['tool'] ?? '', input: JSON.parse(form['input'] || '{}') as Record<string, unknown>, ...where };
}

/** A session's rules are known where it runs. */
function nodeOf(sessionId: string): string | undefined {
  return sessionList.find(sessionId)?.node;
}

function Answer({ answer }: { answer: Explanation }): JSX.Element {
  const result = RESULTS[answer.action];
  return (
    <section class={`policy-answer policy-answer-${answer.action}`} aria-live="polite">
      <h2><Icon name={result.icon} /> {t(result.words)}</h2>
      <p>{withNames(answer.why)}</p>
      <dl class="approvals-rule-limits policy-answer">
        <div><dt>{t('approvals.limitRisk')}</dt><dd><Badge tone={RISKS[answer.risk].tone}>{t(RISKS[answer.risk].words)}</Badge><span>{answer.riskReason}</span></dd></div>
        <div><dt>{t('policy.decidedBy')}</dt><dd>{t(answer.node ? SOURCES_IN_CLUSTER[answer.source] : SOURCES[answer.source])}</dd></div>
        {answer.node && <div><dt>{t('cluster.node')}</dt><dd>{answer.node}</dd></div>}
      </dl>
      {answer.rule && <div class="policy-deciding"><RuleAction action={answer.rule.action} /><RuleLimits rule={answer.rule} /></div>}
      {answer.considered.length > 0 && <Considered answer={answer} />}
    </section>
  );
}

function Considered({ answer }: { answer: Explanation }): JSX.Element {
  const deciding = JSON.stringify(answer.rule);
  return (
    <details class="approvals-input" open={answer.considered.length < 12}>
      <summary>{t('policy.considered')}</summary>
      <ol class="policy-considered">
        {answer.considered.map((one, index) => <Looked key={index} one={one} decides={answer.rule !== null && JSON.stringify(one.rule) === deciding} />)}
      </ol>
    </details>
  );
}

function Looked({ one, decides }: { one: RuleLookedAt; decides: boolean }): JSX.Element {
  return (
    <li class={decides ? 'policy-decides' : undefined}>
      <RuleAction action={one.rule.action} />
      <div>
        <RuleLimits rule={one.rule} />
        <p class="approvals-note">{decides ? <strong>{t('policy.decides')}</strong> : t(one.fits ? 'policy.fits' : 'policy.fitsNot')}{one.why && `: ${withNames(one.why)}`}</p>
      </div>
    </li>
  );
}
