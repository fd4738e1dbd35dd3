/** The first prompt, and files that are pasted, dropped or chosen. */
import { useSignal, type Signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { t } from '../../i18n';
import { fieldDirection } from '../../text/direction';
import { Button, Icon, IconButton, toast } from '../../ui';
import { readPromptFile, Refused, type PromptFile } from './attachments';

interface PromptFieldProps {
  text: Signal<string>;
  files: Signal<PromptFile[]>;
  /** Names of files that have to be attached again. */
  lost: Signal<string[]>;
  takesPictures: boolean;
}

export function PromptField({ text, files, lost, takesPictures }: PromptFieldProps): JSX.Element {
  const over = useSignal(false);
  const chooser = useRef<HTMLInputElement>(null);
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
  const submitted = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) (event.currentTarget as HTMLTextAreaElement).form?.requestSubmit();
  };
  return (
    <div class={`new-part new-prompt${over.value ? ' new-prompt-over' : ''}`} onDragOver={dragged} onDragLeave={() => (over.value = false)} onDrop={dropped}>
      <label for="new-prompt">{t('new.prompt')}</label>
      <textarea id="new-prompt" dir={fieldDirection(text.value)} rows={5} placeholder={t('new.promptHint')} value={text.value} onPaste={pasted} onKeyDown={submitted}
        onInput={(event) => (text.value = event.currentTarget.value)} />
      <ul class="new-files" aria-label={t('new.attached')}>
        {lost.value.map((name) => <LostChip key={name} name={name} onRemove={() => (lost.value = lost.peek().filter((each) => each !== name))} />)}
        {files.value.map((file) => <FileChip key={file.id} file={file} onRemove={() => (files.value = files.peek().filter((each) => each !== file))} />)}
      </ul>
      <div class="new-attach">
        <input ref={chooser} type="file" multiple hidden onChange={(event) => {
          void add([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = '';
        }} />
        <Button kind="quiet" icon="attach" onClick={() => chooser.current?.click()}>{t('new.attach')}</Button>
        <span class="new-hint">{over.value ? t('new.dropHere') : t('new.pasteHint')}</span>
      </div>
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
