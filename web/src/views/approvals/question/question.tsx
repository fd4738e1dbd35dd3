/**
 * A question as a form: choices, free text, typed fields; or a page to visit.
 *
 * Rule 1: what is filled in stays while the card is drawn again, whatever else happens in the session, and while one looks elsewhere.
 * Rule 2: a page of the agent's opens with a click only, in its own window, and its host is shown.
 */
import type { JSX } from 'preact';
import { useContext, useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { QuestionView } from '../../../generated/api';
import { connection } from '../../../hub/connection';
import type { Pending } from '../../../hub/session_list';
import { t, type Key } from '../../../i18n';
import { judgeLink } from '../../../text/markdown/links';
import { Icon } from '../../../ui';
import { mayDo } from '../../controls/availability';
import { CardHead, isOnItsWay, Progress, unanswerable, type CardProps } from '../card/card';
import { Countdown } from '../countdown';
import { Ended, EndedLine } from '../resolution_line';
import { answerOf, fieldsOf, initialValues, isFreeText, problemsOf, type Field, type Problem, type Value, type Values } from './form';
import { filledIn, keepFilledIn } from './kept_values';
import { keepKeys } from '../keys';
import { resolutions } from '../resolutions';
import { ResolutionLine } from '../resolution_line';
import { sendAnswer } from '../outgoing_answers';
import { RefusalLine, whyResting } from '../refusals';
import { Resting } from '../steady';
import { CardButton, SteadyCard } from '../steady_card';
import { backToCard } from '../typing';
import { MarkedText } from '../../../content/visible_text';

export function QuestionForm({ pending, over = false }: CardProps): JSX.Element | null {
  const heading = useId();
  const question = pending.question;
  if (!question) return null;
  const title = t(question.cap ? 'approvals.capQuestion' : 'approvals.question');
  return (
    <SteadyCard ask={question.questionId} kind="question" labelledBy={heading}>
      <CardHead id={heading} pending={pending} icon="question" title={title}>
        <Countdown expiresAt={question.expiresAt} since={question.askedAt} denies={false} />
      </CardHead>
      <p class="approvals-question" dir="auto"><MarkedText text={question.question} /></p>
      <Answer pending={pending} question={question} over={over} />
    </SteadyCard>
  );
}

function Answer({ pending, question, over }: { pending: Pending; question: QuestionView; over: boolean }): JSX.Element {
  const ask = question.questionId;
  const settled = resolutions.value.get(ask);
  const send = (words: string, action: 'accept' | 'decline'): void => {
    const meta = action === 'accept' ? {} : { _meta: { action } };
    sendAnswer(pending.sessionId, ask, { command: 'answer_question', questionId: ask, answer: words, ...meta });
  };
  const away = unanswerable(pending);
  const ended = settled !== undefined || over || away !== '';
  useEffect(() => (ended ? undefined : keepKeys(ask, { approve: () => focusForm(ask), deny: () => focusDecline(ask) })), [ask, ended]);
  if (settled) return <ResolutionLine resolution={settled} />;
  if (over) return <p class="approvals-note" role="status">{t('approvals.over')}</p>;
  if (away) return <p class="approvals-note" role="status">{away}</p>;
  if (!mayDo(connection.scope.value, question.cap ? 'control' : 'approve')) {
    return <p class="approvals-note">{t(question.cap ? 'approvals.noScopeCap' : 'approvals.noScopeApprove')}</p>;
  }
  return (
    <>
      <Progress ask={ask} />
      {question.url ? <PageToVisit url={question.url} busy={isOnItsWay(ask)} onSend={send} /> : <Form question={question} busy={isOnItsWay(ask)} onSend={send} />}
    </>
  );
}

function focusForm(ask: string): void {
  document.querySelector<HTMLElement>(`[data-ask="${CSS.escape(ask)}"] :is(input, textarea, a.ui-button)`)?.focus();
}

function focusDecline(ask: string): void {
  document.querySelector<HTMLElement>(`[data-ask="${CSS.escape(ask)}"] .approvals-deny`)?.focus();
}

interface AnswerProps {
  busy: boolean;
  onSend: (words: string, action: 'accept' | 'decline') => void;
}

function PageToVisit({ url, busy, onSend }: AnswerProps & { url: string }): JSX.Element {
  const judged = judgeLink(url, url);
  const resting = useContext(Resting);
  if (judged.kind !== 'web') return <p class="approvals-failed">{t('approvals.badAddress', { url })}</p>;
  return (
    <div class="approvals-asked">
      <p class="approvals-page"><a class="ui-button ui-button-primary" aria-disabled={resting !== null || undefined} title={resting === null ? undefined : whyResting(resting)} href={judged.href} target="_blank" rel="noopener noreferrer"><Icon name="external" size={16} /> {t('approvals.openPage')}</a></p>
      <p class="approvals-note">{t('approvals.openPageHint', { host: judged.host })}</p>
      <footer class="approvals-actions">
        <CardButton icon="check" busy={busy} onClick={() => onSend('', 'accept')}>{t('approvals.done')}</CardButton>
        <CardButton class="approvals-deny" disabled={busy} onClick={() => onSend('', 'decline')}>{t('approvals.decline')}</CardButton>
        <RefusalLine />
      </footer>
    </div>
  );
}

function Form({ question, busy, onSend }: AnswerProps & { question: QuestionView }): JSX.Element {
  const fields = fieldsOf(question.schema, question.options);
  const [first] = useState<Values>(() => filledIn(question.questionId, initialValues(fields)));
  const [values, setValues] = useState(first);
  const [tried, setTried] = useState(false);
  useLayoutEffect(() => (values === first ? undefined : keepFilledIn(question.questionId, values)), [values]);
  const problems = problemsOf(fields, values);
  const form = useRef<HTMLFormElement>(null);
  const ended = useContext(Ended) !== null;
  const submit = (event: Event): void => {
    event.preventDefault();
    setTried(true);
    if (ended) return;
    if (Object.keys(problems).length) return focusProblem(form.current);
    backToCard(form.current);
    onSend(answerOf(fields, values), 'accept');
  };
  const set = (name: string, value: Value): void => setValues((before) => ({ ...before, [name]: value }));
  return (
    <form ref={form} class="approvals-form" onSubmit={submit} noValidate>
      <EndedLine />
      {fields.map((field) => <FormField key={field.name} field={field} alone={isFreeText(fields)} values={values} problem={tried ? problems[field.name] : undefined} onChange={set} />)}
      <footer class="approvals-actions">
        <CardButton kind="primary" icon="send" type="submit" busy={busy}>{t('approvals.send')}</CardButton>
        {!question.cap && <CardButton class="approvals-deny" disabled={busy} onClick={() => onSend('', 'decline')}>{t('approvals.decline')}</CardButton>}
        <RefusalLine />
      </footer>
    </form>
  );
}

/** To the first field that is not as it must be, once that is shown beside it. */
function focusProblem(form: HTMLFormElement | null): void {
  requestAnimationFrame(() => form?.querySelector('.approvals-problem')?.closest('.approvals-field, label')?.querySelector<HTMLElement>('input, textarea, select')?.focus());
}

interface FieldProps {
  field: Field;
  values: Values;
  problem: Problem | undefined;
  onChange: (name: string, value: Value) => void;
}

function FormField(props: FieldProps & { alone: boolean }): JSX.Element {
  const { field, alone, values, problem, onChange } = props;
  const label = alone ? t('approvals.answer') : field.title;
  const title = <>{label}{!field.required && !alone && field.kind !== 'boolean' && <small class="approvals-optional"> {t('approvals.optional')}</small>}</>;
  const below = problem && <small class="approvals-problem" role="alert">{problemWords(problem)}</small>;
  if (field.kind === 'choice' || field.kind === 'choices') {
    return (
      <fieldset class="approvals-field">
        <legend>{title}</legend>
        {field.description && <small>{field.description}</small>}
        <Choices {...props} />
        {below}
      </fieldset>
    );
  }
  if (field.kind === 'boolean') {
    return (
      <label class="approvals-choice">
        <input type="checkbox" checked={values[field.name] === true} onChange={(event) => onChange(field.name, event.currentTarget.checked)} />
        <span>{title}{field.description && <small>{field.description}</small>}</span>
      </label>
    );
  }
  return (
    <label class="approvals-field">
      <span>{title}</span>
      {field.description && <small>{field.description}</small>}
      <TextField field={field} value={String(values[field.name] ?? '')} invalid={problem !== undefined} onInput={(text) => onChange(field.name, text)} />
      {below}
    </label>
  );
}

const INPUTS: Partial<Record<Field['kind'], string>> = { email: 'email', url: 'url', date: 'date', datetime: 'datetime-local' };

function TextField({ field, value, invalid, onInput }: { field: Field; value: string; invalid: boolean; onInput: (text: string) => void }): JSX.Element {
  const ended = useContext(Ended) !== null;
  if (field.kind === 'text' && (field.name === '' || (field.maxLength ?? 1000) > 200)) {
    return <textarea rows={2} dir="auto" value={value} readOnly={ended} aria-invalid={invalid} onInput={(event) => onInput(event.currentTarget.value)} />;
  }
  const numeric = field.kind === 'number' ? 'decimal' : field.kind === 'integer' ? 'numeric' : undefined;
  return (
    <input type={INPUTS[field.kind] ?? 'text'} dir="auto" inputMode={numeric} value={value} readOnly={ended} aria-invalid={invalid} class="approvals-text"
      onInput={(event) => onInput(event.currentTarget.value)} />
  );
}

function Choices({ field, values, onChange }: FieldProps): JSX.Element {
  const group = useId();
  const chosen = values[field.name];
  const indexes = Array.isArray(chosen) ? chosen : [];
  const several = field.kind === 'choices';
  const ended = useContext(Ended) !== null;
  const pick = (index: number, on: boolean): void => {
    if (!several) onChange(field.name, on ? [index] : []);
    else onChange(field.name, on ? [...indexes, index].sort((one, other) => one - other) : indexes.filter((each) => each !== index));
    if (!several && field.other) onChange(field.other, '');
  };
  const write = (text: string): void => {
    if (!field.other) return;
    onChange(field.other, text);
    if (!several && text.trim()) onChange(field.name, []);
  };
  return (
    <div class="approvals-choices">
      {field.choices.map((choice, index) => (
        <label key={index} class="approvals-choice">
          <input type={several ? 'checkbox' : 'radio'} name={group} checked={indexes.includes(index)} onChange={(event) => pick(index, event.currentTarget.checked)} />
          <span><MarkedText text={choice.title} />{choice.description && <small><MarkedText text={choice.description} /></small>}</span>
        </label>
      ))}
      {field.other && (
        <label class="approvals-other">
          <span>{t('approvals.other')}</span>
          <input type="text" dir="auto" value={String(values[field.other] ?? '')} readOnly={ended} onInput={(event) => write(event.currentTarget.value)} />
        </label>
      )}
    </div>
  );
}

const PROBLEMS: Record<Problem['is'], Key> = {
  missing: 'approvals.missing', notNumber: 'approvals.notNumber', notWhole: 'approvals.notWhole', pattern: 'approvals.pattern', format: 'approvals.format',
  least: 'approvals.least', most: 'approvals.most', short: 'approvals.short', long: 'approvals.long', few: 'approvals.few', many: 'approvals.many',
};

function problemWords(problem: Problem): string {
  if (!('limit' in problem)) return t(PROBLEMS[problem.is]);
  return t(PROBLEMS[problem.is], { limit: problem.limit, n: problem.limit });
}
