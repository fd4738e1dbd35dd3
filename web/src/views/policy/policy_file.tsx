/**
 * The policy's file as text, with numbers at its lines.
 *
 * Rule 1: what is refused stays as it was typed, with the error at its line.
 * Rule 2: which asks that wait it would answer is shown before it is saved, and then it takes a second press.
 */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { PolicyView, RuleAnswer } from '../../generated/api';
import { asHubError, http } from '../../hub/http';
import { t } from '../../i18n';
import { Button, toast } from '../../ui';
import { lineRange, problemLine } from './file_lines';
import { answersUnder, WaitingAnswers } from './waiting_answers';
import { policyPath } from './whose';

interface PolicyFileProps {
  policy: PolicyView;
  draft: string;
  /** The version of the file that the draft is made of. */
  base: string;
  /** The draft was written before the reader went elsewhere. */
  cameBack: boolean;
  /** The line to show. */
  line: number | null;
  mayWrite: boolean;
  onDraft: (text: string) => void;
  onDiscard: () => void;
  onSaved: (policy: PolicyView) => void;
  onReload: () => void;
}

const LINE_PX = 20;

export function PolicyFile({ policy, draft, base, cameBack, line, mayWrite, onDraft, onDiscard, onSaved, onReload }: PolicyFileProps): JSX.Element {
  const [problem, setProblem] = useState<string | null>(null);
  const [elsewhere, setElsewhere] = useState(base !== policy.version);
  const [busy, setBusy] = useState(false);
  const [told, setTold] = useState<{ text: string; answers: RuleAnswer[] } | null>(null);
  const answers = told?.text === draft ? told.answers : [];
  const field = useRef<HTMLTextAreaElement>(null);
  const wrong = problemLine(problem ?? policy.problem ?? '');
  useEffect(() => showLine(field.current, line), [line]);
  const put = async (): Promise<void> => {
    setBusy(true);
    try {
      const now = await http.get<PolicyView>(policyPath(policy));
      if (now.version !== base && !elsewhere) return setElsewhere(true);
      const found = await answersUnder(policy, draft);
      setTold({ text: draft, answers: found });
      if (found.some((each) => !answers.some((shown) => shown.requestId === each.requestId && shown.decision === each.decision))) return;
      onSaved(await http.put<PolicyView>(policyPath(policy), { text: draft }));
      setProblem(null);
      setTold(null);
      setElsewhere(false);
      toast(t('policy.saved'), 'good', 'policy');
    } catch (error) {
      const message = asHubError(error).message;
      setProblem(message);
      showLine(field.current, problemLine(message));
    } finally {
      setBusy(false);
    }
  };
  const discard = (): void => {
    setProblem(null);
    setElsewhere(false);
    onDiscard();
  };
  const dirty = draft !== policy.text;
  return (
    <div class="policy-file">
      <p class="approvals-note">{policy.path ? t('policy.fileAt', { path: policy.path }) : t('policy.noFile')}{!mayWrite && ` ${t('policy.readOnly')}`}</p>
      {cameBack && <p class="approvals-note" role="status">{t('policy.cameBack')}</p>}
      {problem && <p class="policy-problem" role="alert" id="policy-problem">{t('policy.wrong', { why: problem })}</p>}
      {elsewhere && (
        <p class="policy-problem" role="alert">
          {t('policy.changedMeanwhile')} <Button kind="quiet" onClick={() => { discard(); onReload(); }}>{t('policy.takeTheirs')}</Button>
        </p>
      )}
      <div class="policy-editor">
        <ol class="policy-lines" aria-hidden="true">{draft.split('\n').map((_, index) => <li key={index} class={index + 1 === wrong ? 'policy-wrong' : undefined}>{index + 1}</li>)}</ol>
        <textarea ref={field} class="policy-text" value={draft} readOnly={!mayWrite} spellcheck={false} autocapitalize="off" autocomplete="off" wrap="off"
          rows={Math.max(14, draft.split('\n').length)} aria-label={t('policy.file')} aria-invalid={problem !== null} aria-describedby={problem ? 'policy-problem' : undefined}
          onInput={(event) => onDraft(event.currentTarget.value)} />
      </div>
      <WaitingAnswers answers={answers} />
      {mayWrite && (
        <footer class="policy-actions">
          <Button kind="primary" busy={busy} disabled={!dirty && policy.problem === null} onClick={() => void put()}>{t(answers.length ? 'policy.saveAndAnswer' : 'policy.save')}</Button>
          {dirty && <Button onClick={discard}>{t('policy.discard')}</Button>}
          {dirty && <span class="approvals-note">{t('policy.unsaved')}</span>}
        </footer>
      )}
    </div>
  );
}

function showLine(field: HTMLTextAreaElement | null, line: number | null): void {
  if (!field || line === null) return;
  const { from, to } = lineRange(field.value, line);
  field.focus({ preventScroll: true });
  field.setSelectionRange(from, to);
  const top = field.getBoundingClientRect().top + scrollY + (line - 6) * LINE_PX;
  scrollTo({ top: Math.max(0, top) });
}
