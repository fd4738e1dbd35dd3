/**
 * Messages that wait for their turn: they can be changed and dropped until it comes.
 *
 * Rule 1: what they wait for is shown as it is. After a failed turn that is somebody's word, and here it can be given.
 * Rule 2: what somebody writes here is never lost. Where the message goes out, or is dropped, before it is saved, the words are given back.
 */
import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ContentBlock, QueuedPrompt, SessionState } from '../../generated/api';
import { asHubError, http, pathOf } from '../../hub/http';
import { t, type Key } from '../../i18n';
import type { OpenSession } from '../../model/open_session';
import { fieldDirection } from '../../text/direction';
import { Button, Icon, IconButton, toast } from '../../ui';
import { sendCommand, useControl } from '../controls/run_control';

/** A message whose words somebody changes, as they were and as they are by now. */
interface Editing {
  turnId: string;
  was: string;
  text: string;
}

interface QueueProps {
  session: OpenSession;
  editable: boolean;
  /** Takes words whose message has gone out without them. */
  onLeft: (words: string) => void;
}

export function Queue({ session, editable, onLeft }: QueueProps): JSX.Element | null {
  const { queue } = session.state.value;
  const [editing, setEditing] = useState<Editing | null>(null);
  const gone = editing !== null && !queue.some((prompt) => prompt.turnId === editing.turnId);
  useLayoutEffect(() => {
    if (!gone) return;
    setEditing(null);
    if (editing.text.trim() === editing.was.trim()) return;
    onLeft(editing.text);
    toast(t('composer.editedTooLate'));
  }, [gone]);
  if (!queue.length) return null;
  return (
    <section class="composer-queue" aria-label={t('composer.waiting', { n: queue.length })}>
      <header>
        <Icon name="queue" size={14} />
        <span>{t('composer.waiting', { n: queue.length })} · {t(waitsFor(session.state.value))}</span>
        {isHeldBack(session.state.value) && editable && <SendNow sessionId={session.sessionId} />}
        {queue.length > 1 && editable && <Button kind="quiet" onClick={() => void change(() => http.del(pathOf(['sessions', session.sessionId, 'queue'])))}>{t('composer.dropAll')}</Button>}
      </header>
      <ol>{queue.map((prompt) => <Waiting key={prompt.turnId} prompt={prompt} sessionId={session.sessionId} editable={editable} editing={editing} edit={setEditing} />)}</ol>
    </section>
  );
}

/** Whether nothing will send the queue by itself: the turn before it failed. */
export function isHeldBack({ queue, turn, paused }: Pick<SessionState, 'queue' | 'turn' | 'paused'>): boolean {
  return queue.length > 0 && turn === null && paused === null;
}

function waitsFor(view: SessionState): Key {
  if (view.paused) return 'composer.waitingPaused';
  if (!isHeldBack(view)) return 'composer.waitingFor';
  return /^hub_/.test(view.failed?.code ?? '') ? 'composer.heldBackByRestart' : 'composer.heldBackByFailure';
}

function SendNow({ sessionId }: { sessionId: string }): JSX.Element {
  const { busy, act } = useControl();
  return <Button kind="quiet" icon="send" busy={busy} onClick={() => void act(() => sendCommand(sessionId, { command: 'resume' }))}>{t('composer.sendHeldBack')}</Button>;
}

interface WaitingProps {
  prompt: QueuedPrompt;
  sessionId: string;
  editable: boolean;
  editing: Editing | null;
  edit: (editing: Editing | null) => void;
}

function Waiting({ prompt, sessionId, editable, editing, edit }: WaitingProps): JSX.Element {
  const { turnId, content } = prompt;
  const row = useRef<HTMLLIElement>(null);
  const path = pathOf(['sessions', sessionId, 'queue', turnId]);
  const words = textOf(content);
  const others = content.length - content.filter((block) => block.type === 'text').length;
  const text = editing?.turnId === turnId ? editing.text : null;
  const leave = (): void => {
    edit(null);
    // The field goes, and with it the focus: back to where the editing began.
    requestAnimationFrame(() => row.current?.querySelector('button')?.focus());
  };
  const save = async (): Promise<void> => {
    if (text !== null && (await change(() => http.patch(path, { content: withText(content, text) })))) leave();
  };
  if (text !== null) {
    return (
      <li class="composer-waiting" ref={row}>
        <form onSubmit={(event) => { event.preventDefault(); void save(); }}>
          <textarea rows={Math.min(8, text.split('\n').length + 1)} value={text} dir={fieldDirection(text)} aria-label={t('composer.editQueued')} ref={focusOnce}
            onInput={(event) => edit({ turnId, was: editing?.was ?? words, text: event.currentTarget.value })} onKeyDown={(event) => event.key === 'Escape' && leave()} />
          <Button kind="primary" type="submit" disabled={!text.trim() && !others}>{t('composer.saveQueued')}</Button>
          <Button kind="quiet" onClick={leave}>{t('common.cancel')}</Button>
        </form>
      </li>
    );
  }
  return (
    <li class="composer-waiting" ref={row}>
      <span class="composer-waiting-text">{words || t('composer.picture')}{others > 0 && words && <small> +{others}</small>}</span>
      {editable && <IconButton icon="edit" size={16} label={t('composer.editQueued')} onClick={() => edit({ turnId, was: words, text: words })} />}
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

function textOf(content: readonly ContentBlock[]): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}

/** The same prompt with other words; its pictures stay. */
function withText(content: readonly ContentBlock[], text: string): ContentBlock[] {
  const others = content.filter((block) => block.type !== 'text');
  return text.trim() ? [{ type: 'text', text }, ...others] : others;
}
