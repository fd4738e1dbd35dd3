/** Messages that wait for their turn: they can be changed and dropped until it comes. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ContentBlock, QueuedPrompt } from '../../generated/api';
import { asHubError, http, pathOf } from '../../hub/http';
import { t } from '../../i18n';
import type { Story } from '../../model/story';
import { Button, Icon, IconButton, toast } from '../../ui';

export function Queue({ story, editable }: { story: Story; editable: boolean }): JSX.Element | null {
  const { queue, paused } = story.view.value;
  if (!queue.length) return null;
  return (
    <section class="composer-queue" aria-label={t('composer.waiting', { n: queue.length })}>
      <header>
        <Icon name="queue" size={14} />
        <span>{t('composer.waiting', { n: queue.length })} · {t(paused ? 'composer.waitingPaused' : 'composer.waitingFor')}</span>
        {queue.length > 1 && editable && <Button kind="quiet" onClick={() => void change(() => http.del(pathOf(['sessions', story.sessionId, 'queue'])))}>{t('composer.dropAll')}</Button>}
      </header>
      <ol>{queue.map((prompt) => <Waiting key={prompt.turnId} prompt={prompt} sessionId={story.sessionId} editable={editable} />)}</ol>
    </section>
  );
}

function Waiting({ prompt, sessionId, editable }: { prompt: QueuedPrompt; sessionId: string; editable: boolean }): JSX.Element {
  const [text, setText] = useState<string | null>(null);
  const path = pathOf(['sessions', sessionId, 'queue', prompt.turnId]);
  const words = textOf(prompt.content);
  const others = prompt.content.length - prompt.content.filter((block) => block.type === 'text').length;
  const save = async (): Promise<void> => {
    if (text !== null && (await change(() => http.patch(path, { content: withText(prompt.content, text) })))) setText(null);
  };
  if (text !== null) {
    return (
      <li class="composer-waiting">
        <form onSubmit={(event) => { event.preventDefault(); void save(); }}>
          <textarea rows={Math.min(8, text.split('\n').length + 1)} value={text} aria-label={t('composer.editQueued')} ref={focusOnce}
            onInput={(event) => setText(event.currentTarget.value)} onKeyDown={(event) => event.key === 'Escape' && setText(null)} />
          <Button kind="primary" type="submit" disabled={!text.trim() && !others}>{t('composer.saveQueued')}</Button>
          <Button kind="quiet" onClick={() => setText(null)}>{t('common.cancel')}</Button>
        </form>
      </li>
    );
  }
  return (
    <li class="composer-waiting">
      <span class="composer-waiting-text">{words || t('composer.picture')}{others > 0 && words && <small> +{others}</small>}</span>
      {editable && <IconButton icon="edit" size={16} label={t('composer.editQueued')} onClick={() => setText(words)} />}
      {editable && <IconButton icon="trash" size={16} label={t('composer.dropQueued')} onClick={() => void change(() => http.del(path))} />}
    </li>
  );
}

async function change(ask: () => Promise<unknown>): Promise<boolean> {
  try {
    await ask();
    return true;
  } catch (error) {
    toast(asHubError(error).message, 'bad');
    return false;
  }
}

function focusOnce(field: HTMLTextAreaElement | null): void {
  if (!field || field.dataset['focused']) return;
  field.dataset['focused'] = 'yes';
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
}

export function textOf(content: readonly ContentBlock[]): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}

/** The same prompt with other words; its pictures stay. */
export function withText(content: readonly ContentBlock[], text: string): ContentBlock[] {
  const others = content.filter((block) => block.type !== 'text');
  return text.trim() ? [{ type: 'text', text }, ...others] : others;
}
