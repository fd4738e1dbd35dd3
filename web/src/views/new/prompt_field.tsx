/** The first prompt, with files that are pasted, dropped or chosen, and with the agent's commands and the folder's files at hand. */
import { useSignal, type Signal } from '@preact/signals';
import type { ComponentChildren, JSX, RefObject } from 'preact';
import { useEffect, useId, useMemo, useRef } from 'preact/hooks';
import { agentName } from '../../hub/agents';
import { pathOf } from '../../hub/http';
import { t } from '../../i18n';
import { route } from '../../route';
import { fieldDirection } from '../../text/direction';
import { COARSE, Icon, IconButton, toast, useMedia } from '../../ui';
import { putIn } from '../composer/caret';
import { enterSends } from '../composer/drafts';
import { useFieldHeight } from '../composer/field_height';
import { SuggestionList } from '../composer/suggestion_list';
import { SuggestionSource, suggestionKey, type Suggestion } from '../composer/suggestion_source';
import { completed } from '../composer/suggestions';
import { useAgentCommands } from './agent_commands';
import { readPromptFile, Refused, type PromptFile } from './attachments';

interface PromptFieldProps {
  text: Signal<string>;
  files: Signal<PromptFile[]>;
  /** Names of files that have to be attached again. */
  lost: Signal<string[]>;
  agent: string;
  cwd: string;
  /** The node of a cluster that the folder is on; empty for the hub's own. */
  node: string;
  takesPictures: boolean;
  /** Where it is written. */
  field: RefObject<HTMLTextAreaElement>;
  /** What starts it. */
  children: ComponentChildren;
}

export function PromptField({ text, files, lost, agent, cwd, node, takesPictures, field, children }: PromptFieldProps): JSX.Element {
  const over = useSignal(false);
  const chooser = useRef<HTMLInputElement>(null);
  const list = useId();
  const folder = useRef({ path: cwd, node });
  folder.current = { path: cwd, node };
  const commands = useAgentCommands(agent);
  const suggesting = useMemo(() => new SuggestionSource(
    (q, limit) => pathOf(['folders', 'find'], { path: folder.current.path.trim(), q, limit, node: folder.current.node || undefined }), () => commands.peek()), []);
  useEffect(() => { // somebody may have been quicker than the answer
    const typed = field.current;
    if (typed !== null && document.activeElement === typed && commands.value.length) suggesting.onTextChanged(typed.value, typed.selectionStart);
  }, [commands.value]);
  useFieldHeight(field, text.value);
  const touch = useMedia(COARSE);
  const sends = enterSends(touch);
  useEffect(() => {
    if (!touch) field.current?.focus(); // a keyboard on glass would cover half of what is there to be seen
  }, [route.value]); // also for who asks for a new session while this is shown
  const add = async (given: Iterable<File>): Promise<void> => {
    for (const file of given) {
      try {
        const attached = await readPromptFile(file);
        if (attached.kind === 'picture' && !takesPictures) throw new Refused(t('new.noPictures'));
        files.value = [...files.peek(), attached];
        lost.value = lost.peek().filter((name) => name !== attached.name);
      } catch (error) {
        toast(error instanceof Refused ? error.message : t('common.failed'), 'bad');
      }
    }
  };
  const pasted = (event: ClipboardEvent): void => {
    const given = [...(event.clipboardData?.files ?? [])];
    if (!given.length) return;
    event.preventDefault();
    void add(given);
  };
  const dropped = (event: DragEvent): void => {
    event.preventDefault();
    over.value = false;
    void add(event.dataTransfer?.files ?? []);
  };
  const dragged = (event: DragEvent): void => {
    if (!event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    over.value = true;
  };
  const take = (suggestion: Suggestion): void => {
    const shown = suggesting.current.peek();
    if (!shown) return;
    const done = completed(text.peek(), shown.token, suggestion.word);
    suggesting.close();
    text.value = done.text;
    putIn(field.current, done.text, done.caret);
    field.current?.focus();
  };
  const pressed = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    if (suggestionKey(event, suggesting, take)) return event.preventDefault();
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey || (sends && !event.shiftKey))) return;
    event.preventDefault();
    if (text.peek().trim() || files.peek().length) field.current?.form?.requestSubmit();
  };
  const shown = suggesting.current.value;
  return (
    <div class={over.value ? 'composer-box new-prompt composer-over' : 'composer-box new-prompt'} onDragOver={dragged} onDragLeave={() => (over.value = false)} onDrop={dropped}>
      {shown && <SuggestionList id={list} shown={shown} agent={agentName(agent)} onTake={take} />}
      <ul class="new-files" aria-label={t('new.attached')}>
        {lost.value.map((name) => <LostChip key={name} name={name} onRemove={() => (lost.value = lost.peek().filter((each) => each !== name))} />)}
        {files.value.map((file) => <FileChip key={file.id} file={file} onRemove={() => (files.value = files.peek().filter((each) => each !== file))} />)}
      </ul>
      <textarea ref={field} class="composer-text" aria-label={t('new.prompt')} dir={fieldDirection(text.value)} rows={2} placeholder={t('new.promptHint')} value={text.value}
        aria-autocomplete="list" aria-controls={shown ? list : undefined} aria-activedescendant={shown?.choices.length ? `${list}-${shown.selected}` : undefined}
        onInput={(event) => { text.value = event.currentTarget.value; suggesting.onTextChanged(event.currentTarget.value, event.currentTarget.selectionStart); }}
        onClick={(event) => suggesting.onTextChanged(text.peek(), event.currentTarget.selectionStart)} onBlur={() => suggesting.close()} onPaste={pasted} onKeyDown={pressed} />
      <div class="composer-bar">
        <IconButton icon="attach" label={t('new.attach')} onClick={() => chooser.current?.click()} />
        <input ref={chooser} type="file" multiple hidden aria-label={t('new.attach')} onChange={(event) => {
          void add([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = '';
        }} />
        <span class="composer-hint">{t(sends ? 'new.hintEnter' : 'composer.hintNewline')}</span>
        {children}
      </div>
      {over.value && <p class="composer-drop">{t('new.dropHere')}</p>}
    </div>
  );
}

function LostChip({ name, onRemove }: { name: string; onRemove: () => void }): JSX.Element {
  return (
    <li class="new-file new-file-lost">
      <Icon name="warning" />
      <span>{t('composer.attachAgain', { name })}</span>
      <IconButton icon="close" size={16} label={t('new.removeFile', { name })} onClick={onRemove} />
    </li>
  );
}

function FileChip({ file, onRemove }: { file: PromptFile; onRemove: () => void }): JSX.Element {
  return (
    <li class="new-file">
      {file.kind === 'picture' ? <img src={`data:${file.mimeType};base64,${file.body}`} alt="" width="32" height="32" /> : <Icon name="file" />}
      <span class="new-file-name" title={file.name}>{file.name}</span>
      <IconButton icon="close" size={16} label={t('new.removeFile', { name: file.name })} onClick={onRemove} />
    </li>
  );
}
