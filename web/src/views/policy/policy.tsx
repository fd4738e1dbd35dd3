/**
 * The policy: its rules as a table, its file as text, and an answer to "what would happen if".
 *
 * Rule 1: the text is the policy. The table shows what is in force; changes are made in the text, where comments live too.
 * Rule 2: nothing counts before it is saved, and what the hub refuses is shown at its line, with the text as it was written.
 * Rule 3: changes that are not saved yet are there again after a look elsewhere, and after a reload. They know of which version of the
 * file they are changes, so that what others changed meanwhile is not overwritten unseen.
 * Rule 4: in a cluster there are two, the cluster's and that of the node which shows the page. It is said which one is shown, and what is
 * changed in one is no change of the other.
 * Rule 5: what is shown is what is in force: while somebody looks, the file is asked for again and again, as others write it too, by
 * an "Always", in a terminal, in an editor.
 */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { PolicyView as Policy } from '../../generated/api';
import { asHubError, http, type HubError } from '../../hub/http';
import { connection } from '../../hub/connection';
import { whileLookedAt } from '../../hub/looked_at';
import { t } from '../../i18n';
import { Button, dropToasts, Spinner, Tabs, toast } from '../../ui';
import { draftOf, keepDraft } from '../composer/drafts';
import { mayDo } from '../controls/availability';
import { ExplainPolicy } from './explain';
import { PolicyFile } from './policy_file';
import { PolicyRules } from './rule_table';
import { draftKey, policyPath, WhosePolicy } from './whose';
import '../../style/shared_views.css';

const LOOK_MS = 3_000;

type Tab = 'rules' | 'text' | 'explain';
type Whose = Policy['of'];

export function PolicyView(): JSX.Element {
  const [whose, setWhose] = useState<Whose | undefined>(undefined);
  return <OnePolicy key={whose} whose={whose} onWhose={setWhose} />;
}

/** `whose`: which of the two of a cluster. Where nobody has chosen, the hub says which one it shows first. */
function OnePolicy({ whose, onWhose }: { whose: Whose | undefined; onWhose: (whose: Whose) => void }): JSX.Element {
  const [policy, setPolicy] = useState<Policy | null>(null);
  const [error, setError] = useState<HubError | null>(null);
  const [draft, setDraft] = useState<PolicyDraft | null>(() => keptPolicy(whose));
  const [cameBack, setCameBack] = useState(draft !== null);
  const [tab, setTab] = useState<Tab>(cameBack ? 'text' : 'rules');
  const [line, setLine] = useState<number | null>(null);
  const ask = (): Promise<Policy> => http.get<Policy>(policyPath({ of: whose }));
  const take = (found: Policy): void => {
    if (whose === undefined && found.node !== null) return onWhose(found.of);
    setPolicy((shown) => (isSame(shown, found) ? shown : found));
    setError(null);
  };
  const load = (): void => void ask().then(take, (failure) => setError(asHubError(failure)));
  const online = connection.state.value === 'online';
  useEffect(() => {
    if (online || policy === null) load();
  }, [online]);
  useEffect(() => whileLookedAt(() => ask().then(take, () => undefined), LOOK_MS), []);
  useEffect(() => () => dropToasts('policy'), []);
  if (error && !policy) return <div class="ui-empty" role="alert"><p>{error.message}</p><Button icon="refresh" onClick={load}>{t('common.retry')}</Button></div>;
  if (!policy) return <div class="ui-waiting"><Spinner size={24} label={t('common.loading')} /></div>;
  const showLine = (to: number): void => {
    setLine(to);
    setTab('text');
  };
  const write = (to: PolicyDraft | null): void => {
    setDraft(to);
    keepPolicy(whose, to);
    if (to === null) setCameBack(false);
  };
  const change = (text: string): void => write(text === policy.text ? null : { text, base });
  const add = (text: string): void => {
    change(text);
    setLine(text.split('\n').length - 1);
    setTab('text');
  };
  const saved = (now: Policy): void => {
    setPolicy(now);
    write(null);
    setLine(null);
  };
  const mayWrite = mayDo(connection.scope.value, 'admin');
  const text = draft?.text ?? policy.text;
  const unsaved = text !== policy.text;
  const base = unsaved && draft ? draft.base : policy.version;
  return (
    <div class="policy-view">
      <header class="policy-head">
        <h1>{t('policy.title')}</h1>
        <p class="approvals-note">{t('policy.intro')}</p>
        {policy.node != null && <WhosePolicy policy={policy} onWhose={onWhose} />}
      </header>
      {policy.problem && <Problem policy={policy} mayWrite={mayWrite} onSaved={saved} />}
      <Tabs label={t('policy.title')} selected={tab} onSelect={setTab} tabs={[
        { id: 'rules', label: t('policy.rules'), icon: 'list', count: policy.rules.length },
        { id: 'text', label: unsaved ? `${t('policy.text')} •` : t('policy.text'), icon: 'file' },
        { id: 'explain', label: t('policy.explain'), icon: 'question' },
      ]} />
      <div role="tabpanel" aria-label={t(`policy.${tab}`)} class="policy-panel">
        {tab === 'rules' && <PolicyRules policy={policy} text={text} mayWrite={mayWrite} onLine={showLine} onAdd={add} onRemoved={setPolicy} onReload={load} />}
        {tab === 'text' && <PolicyFile policy={policy} draft={text} base={base} cameBack={cameBack && unsaved} line={line} mayWrite={mayWrite} onDraft={change} onDiscard={() => write(null)} onSaved={saved} onReload={load} />}
        {tab === 'explain' && <ExplainPolicy unsaved={unsaved} />}
      </div>
    </div>
  );
}

function isSame(shown: Policy | null, found: Policy): boolean {
  return shown !== null && shown.of === found.of && shown.version === found.version && shown.problem === found.problem;
}

/** Why the file is not what is in force, and the ways back to one that is. */
function Problem({ policy, mayWrite, onSaved }: { policy: Policy; mayWrite: boolean; onSaved: (policy: Policy) => void }): JSX.Element {
  const [busy, setBusy] = useState(false);
  const put = (text: string): void => {
    setBusy(true);
    http.put<Policy>(policyPath(policy), { text }).then((now) => {
      onSaved(now);
      toast(t('policy.saved'), 'good', 'policy');
    }, (failure: unknown) => toast(asHubError(failure).message, 'bad', 'policy')).finally(() => setBusy(false));
  };
  const { lastGood } = policy;
  return (
    <div class="policy-problem" role="alert">
      <p>{t('policy.problem', { problem: policy.problem ?? '' })}</p>
      {mayWrite && (
        <p class="policy-ways">
          {lastGood !== null && <Button busy={busy} onClick={() => put(lastGood)}>{t('policy.putBack')}</Button>}
          {policy.text === '' && <Button kind="quiet" busy={busy} onClick={() => put('')}>{t('policy.startEmpty')}</Button>}
        </p>
      )}
    </div>
  );
}

interface PolicyDraft {
  text: string;
  /** The version of the file that was changed. */
  base: string;
}

function keptPolicy(whose: Whose | undefined): PolicyDraft | null {
  try {
    const found = JSON.parse(draftOf(draftKey(whose))) as Partial<PolicyDraft> | null;
    return typeof found?.text === 'string' && typeof found.base === 'string' ? { text: found.text, base: found.base } : null;
  } catch {
    return null;
  }
}

function keepPolicy(whose: Whose | undefined, draft: PolicyDraft | null): void {
  keepDraft(draftKey(whose), draft === null ? '' : JSON.stringify(draft));
}
