/** Changing what a tool is called with before it is approved: by fields, or as JSON. */
import type { JSX } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import type { ApprovalView } from '../../../generated/api';
import { t, type Key } from '../../../i18n';
import { Button, Sheet, Tabs } from '../../../ui';
import type { Decision } from './decision';
import { Ended, EndedLine } from '../resolution_line';
import { editedInput, editFields, inputFromJson, type Edited, type EditField } from './edit';

const PROBLEMS: Record<string, Key> = { notNumber: 'approvals.notNumber', notJson: 'approvals.notJson', notObject: 'approvals.notObject' };

export function EditSheet({ approval, onDecide, onClose }: { approval: ApprovalView; onDecide: (decision: Decision) => void; onClose: () => void }): JSX.Element {
  const [way, setWay] = useState<'form' | 'json'>('form');
  const [fields, setFields] = useState(() => editFields(approval.toolInput));
  const [json, setJson] = useState(() => JSON.stringify(approval.toolInput, null, 2));
  const [problems, setProblems] = useState<Record<string, string>>({});
  const read = (): Edited => (way === 'form' ? editedInput(approval.toolInput, fields) : inputFromJson(json));
  const turnTo = (next: 'form' | 'json'): void => {
    const edited = read();
    if (!edited.ok) return setProblems(edited.problems);
    setProblems({});
    setFields(editFields(edited.input));
    setJson(JSON.stringify(edited.input, null, 2));
    setWay(next);
  };
  const ended = useContext(Ended) !== null;
  const submit = (): void => {
    if (ended) return;
    const edited = read();
    if (edited.ok) onDecide({ approve: true, updatedInput: edited.input });
    else setProblems(edited.problems);
  };
  const inside = useRef<HTMLDivElement>(null);
  useEffect(() => inside.current?.querySelector<HTMLElement>('textarea, input')?.focus(), []);
  const change = (changed: EditField): void => setFields(fields.map((field) => (field.name === changed.name ? changed : field)));
  return (
    <Sheet wide title={t('approvals.editTitle')} onClose={onClose} actions={<Button kind="primary" icon="check" disabled={ended} onClick={submit}>{t('approvals.approveEdited')}</Button>}>
      <div class="approvals-edit" ref={inside}>
        <EndedLine />
        <Tabs label={t('approvals.editTitle')} selected={way} onSelect={turnTo}
          tabs={[{ id: 'form', label: t('approvals.editForm') }, { id: 'json', label: t('approvals.editJson') }]} />
        <p class="approvals-note">{t('approvals.editWarning')}</p>
        {way === 'form'
          ? fields.map((field) => <Field key={field.name} field={field} problem={problems[field.name]} onChange={change} />)
          : <JsonField text={json} problem={problems['']} onChange={setJson} />}
      </div>
    </Sheet>
  );
}

function Field({ field, problem, onChange }: { field: EditField; problem: string | undefined; onChange: (field: EditField) => void }): JSX.Element {
  const setText = (text: string): void => onChange({ ...field, text });
  if (field.kind === 'boolean') {
    return (
      <label class="approvals-edit-check">
        <input type="checkbox" checked={field.text === 'true'} onChange={(event) => setText(String(event.currentTarget.checked))} />
        <span>{field.name}</span>
      </label>
    );
  }
  const long = field.kind === 'lines' || field.kind === 'json';
  return (
    <label class="approvals-edit-field">
      <span>{field.name}</span>
      {long
        ? <textarea rows={Math.min(16, field.text.split('\n').length + 1)} value={field.text} spellcheck={false} onInput={(event) => setText(event.currentTarget.value)} />
        : <input type="text" value={field.text} inputMode={field.kind === 'number' ? 'decimal' : 'text'} spellcheck={false} autocapitalize="off" onInput={(event) => setText(event.currentTarget.value)} />}
      {problem && <small class="approvals-problem" role="alert">{t(PROBLEMS[problem] ?? 'approvals.notJson')}</small>}
    </label>
  );
}

function JsonField({ text, problem, onChange }: { text: string; problem: string | undefined; onChange: (text: string) => void }): JSX.Element {
  return (
    <label class="approvals-edit-field">
      <span class="visually-hidden">{t('approvals.editJson')}</span>
      <textarea rows={14} value={text} spellcheck={false} onInput={(event) => onChange(event.currentTarget.value)} />
      {problem && <small class="approvals-problem" role="alert">{t(PROBLEMS[problem] ?? 'approvals.notJson')}</small>}
    </label>
  );
}
