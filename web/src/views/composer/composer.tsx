/**
 * Where messages to the agent are written.
 *
 * Rule 1: what is written is never lost: a draft is kept, what cannot be sent now waits in the outbox, what was refused comes back.
 * Rule 2: one message at a time is made ready, also where somebody looks elsewhere meanwhile and comes back; what is typed then is
 * the next one.
 * Rule 3: who may not send sees why instead of a field that does nothing.
 */
import type { JSX } from 'preact';
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { SendMessageCommand } from '../../generated/agent-context';
import type { SessionState } from '../../generated/api';
import { agentNameOf } from '../../hub/agents';
import { awayReason } from '../../hub/cluster';
import { connection } from '../../hub/connection';
import { pathOf } from '../../hub/http';
import { t } from '../../i18n';
import type { OpenSession } from '../../model/open_session';
import { fieldDirection } from '../../text/direction';
import { COARSE, Icon, IconButton, Spinner, toast, useMedia } from '../../ui';
import { actStates, type Why } from '../controls/availability';
import { attachmentsOf, filesIn, withPath, type Attached as OneAttached, type Attachments } from './attachments';
import { putIn } from './caret';
import { Elsewhere } from './elsewhere';
import { draftOf, enterSends, flushDrafts, keepDraft, rewriteDraft, writesIn } from './drafts';
import { useFieldHeight } from './field_height';
import { isToBeWrittenIn } from './next_field';
import { meansHistory, PromptHistory } from './prompt_history';
import { messageOf } from './pictures';
import { isHeldBack, Queue } from './queue';
import { SuggestionList } from './suggestion_list';
import { SuggestionSource, suggestionKey, type Suggestion } from './suggestion_source';
import { commandsOf, completed } from './suggestions';
import { Unreachable } from './unreachable';
import '../../style/shared_views.css';

/** `onSent`: a message went out that will stand at the end of the conversation. */
export function Composer({ session, onSent }: { session: OpenSession; onSent?: () => void }): JSX.Element {
  const view = session.state.value;
  const can = actStates(view, true, connection.scope.value, awayReason(view) !== '').prompt;
  const editable = can.can && connection.state.value === 'online';
  const takeBack = (words: string): void => rewriteDraft(session.sessionId, (text) => joined(text, words));
  return (
    <div class="composer">
      <Queue key={session.sessionId} session={session} editable={editable} onLeft={takeBack} />
      {can.can ? <Writing key={session.sessionId} session={session} onSent={onSent} /> : <Cannot session={session} why={can.why} />}
    </div>
  );
}

function Cannot({ session, why }: { session: OpenSession; why: Why }): JSX.Element {
  if (why === 'away') return <Unreachable key={session.sessionId} session={session} />;
  if (why === 'watchOnly') return <Elsewhere key={session.sessionId} session={session} />;
  return <p class="composer-cannot"><Icon name="eye" size={16} /> {t('composer.noScope')}</p>;
}

interface WritingProps {
  session: OpenSession;
  onSent: (() => void) | undefined;
}

function Writing({ session, onSent }: WritingProps): JSX.Element {
  const view = session.state.value;
  const [text, setText] = useState(() => draftOf(session.sessionId));
  const [over, setOver] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const list = useId();
  const touch = useMedia(COARSE);
  const sends = enterSends(touch);
  const latest = useRef({ text, write: (_words: string, _caret?: number): void => undefined });
  const write = (words: string, caret?: number): void => {
    latest.current.text = words;
    setText(words);
    keepDraft(session.sessionId, words);
    if (caret !== undefined) putIn(field.current, words, caret);
  };
  latest.current = { text, write };
  const rewrite = (change: (words: string) => string): void => {
    latest.current.write(change(latest.current.text));
    field.current?.focus();
  };
  const attachments = attachmentsOf(session.sessionId);
  useEffect(() => attachments.onUploaded((path) => addPath(latest.current, field.current, path)), [attachments]);
  const suggesting = useMemo(() => new SuggestionSource((q, limit) => pathOf(['sessions', session.sessionId, 'files', 'find'], { q, limit }), () => commandsOf(session.state.peek().commands as Record<string, unknown>[] | null)), [session]);
  const history = useHistory(session);
  useFieldHeight(field, text);
  useLayoutEffect(() => writesIn(session.sessionId, rewrite), [session]);
  useEffect(() => flushDrafts, []);
  useEffect(() => {
    if (isToBeWrittenIn(session.sessionId) && !touch) field.current?.focus({ preventScroll: true });
  }, []);
  const busy = view.turn !== null;
  const pictures = view.capabilities?.features.multimodal ?? true;
  const add = (files: File[]): void => void attachments.add(files, pictures);
  const send = async (): Promise<void> => {
    const message = latest.current.text;
    if ((!message.trim() && !attachments.any) || attachments.busy) return;
    const taken = await attachments.take();
    if (taken === null) return toast(t('composer.tooManyPictures'), 'bad');
    connection.command(session.sessionId, messageOf(message, taken.pictures));
    attachments.sent(taken);
    suggesting.close();
    history.current = null;
    rewriteDraft(session.sessionId, (now) => leftOf(now, message));
    if (session.state.peek().turn === null) onSent?.(); // what waits in the queue is in sight there
  };
  const take = (suggestion: Suggestion): void => {
    const shown = suggesting.current.peek();
    if (!shown) return;
    const done = completed(text, shown.token, suggestion.word);
    suggesting.close();
    write(done.text, done.caret);
    field.current?.focus();
  };
  const pressed = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    if (suggestionKey(event, suggesting, take)) return event.preventDefault();
    if (event.key === 'Enter' && (sends ? !event.shiftKey : event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      void send();
    } else if (event.key === 'ArrowUp' || event.key === 'ArrowDown') {
      lookBack(event, text, history, session, write);
    }
  };
  const label = placeholderOf(view);
  const shown = suggesting.current.value;
  return (
    <div class={over ? 'composer-box composer-over' : 'composer-box'}
      onDragOver={(event) => { if (event.dataTransfer?.types.includes('Files')) { event.preventDefault(); setOver(true); } }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => { event.preventDefault(); setOver(false); add(filesIn(event.dataTransfer)); }}>
      {shown && <SuggestionList id={list} shown={shown} agent={agentNameOf(view)} onTake={take} />}
      <Attached attachments={attachments} />
      <textarea ref={field} class="composer-text" dir={fieldDirection(text)} rows={1} value={text} placeholder={label} aria-label={t('composer.label')} enterkeyhint={sends ? 'send' : 'enter'}
        aria-autocomplete="list" aria-controls={shown ? list : undefined} aria-activedescendant={shown?.choices.length ? `${list}-${shown.selected}` : undefined}
        onInput={(event) => { write(event.currentTarget.value); history.current?.edited(); suggesting.onTextChanged(event.currentTarget.value, event.currentTarget.selectionStart); }}
        onClick={(event) => suggesting.onTextChanged(text, event.currentTarget.selectionStart)} onBlur={() => suggesting.close()} onKeyDown={pressed}
        onPaste={(event) => { const files = filesIn(event.clipboardData); if (files.length) { event.preventDefault(); add(files); } }} />
      <div class="composer-bar">
        <FilePicker onFiles={add} />
        <span class="composer-hint">{t(sends ? 'composer.hintEnter' : 'composer.hintNewline')}</span>
        <IconButton icon={busy ? 'queue' : 'send'} kind="primary" label={t(busy ? 'composer.queue' : 'composer.send')} class="composer-send"
          disabled={(!text.trim() && !attachments.any) || attachments.busy} onClick={() => void send()} />
      </div>
      {over && <p class="composer-drop">{t('composer.dropHere')}</p>}
    </div>
  );
}

function placeholderOf(view: SessionState): string {
  if (isHeldBack(view)) return t('composer.placeholderHeldBack');
  if (view.status === 'completed') return t('composer.placeholderOver');
  return view.turn !== null ? t('composer.placeholderBusy') : t('composer.placeholder', { agent: agentNameOf(view) });
}

function Attached({ attachments }: { attachments: Attachments }): JSX.Element | null {
  const all = attachments.all.value;
  if (!all.length) return null;
  return (
    <ul class="composer-attached">
      {all.map((each) => (
        <li key={each.key} class={each.state === 'lost' ? 'composer-lost' : undefined}>
          <Thumb one={each} />
          <span>{each.state === 'lost' ? t('composer.attachAgain', { name: each.name }) : each.name}</span>
          <IconButton icon="close" size={14} label={t('composer.remove', { name: each.name })} onClick={() => attachments.remove(each.key)} />
        </li>
      ))}
    </ul>
  );
}

function Thumb({ one }: { one: OneAttached }): JSX.Element {
  if (one.state === 'lost') return <Icon name="warning" size={16} />;
  return one.picture ? <img src={one.picture.url} alt={one.name} /> : <Spinner size={16} label={t('composer.uploading', { name: one.name })} />;
}

function FilePicker({ onFiles }: { onFiles: (files: File[]) => void }): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  const chosen = (event: Event): void => {
    const from = event.currentTarget as HTMLInputElement;
    onFiles([...(from.files ?? [])]);
    from.value = '';
  };
  return (
    <>
      <IconButton icon="attach" label={t('composer.attach')} onClick={() => input.current?.click()} />
      <input ref={input} type="file" multiple hidden aria-label={t('composer.attach')} onChange={chosen} />
    </>
  );
}

/** What was written while a message was made ready: that is the next one. */
export function leftOf(now: string, sent: string): string {
  if (now === sent) return '';
  return now.startsWith(sent) ? now.slice(sent.length).trimStart() : now;
}

/** Words that come back stand behind what is written. */
function joined(text: string, words: string): string {
  return text.trim() ? `${text.trimEnd()}\n\n${words}` : words;
}

/** The path of an uploaded file goes where the caret is. */
function addPath(writing: { text: string; write: (text: string, caret?: number) => void }, field: HTMLTextAreaElement | null, path: string): void {
  const { text, caret } = withPath(writing.text, field?.selectionStart ?? writing.text.length, path);
  writing.write(text, caret);
}

type HistoryRef = { current: PromptHistory | null };

/** Made when first looked back, from the prompts of this session. */
function useHistory(session: OpenSession): HistoryRef {
  const history = useRef<PromptHistory | null>(null);
  useEffect(() => () => void (history.current = null), [session]);
  return history;
}

function lookBack(event: KeyboardEvent, text: string, history: HistoryRef, session: OpenSession, write: (text: string, caret?: number) => void): void {
  const field = event.currentTarget as HTMLTextAreaElement;
  const key = event.key as 'ArrowUp' | 'ArrowDown';
  if (event.shiftKey || event.ctrlKey || event.altKey || event.metaKey || !meansHistory(key, text, field.selectionStart, field.selectionEnd)) return;
  if (!history.current?.looksBack) history.current = key === 'ArrowUp' ? new PromptHistory(earlierPrompts(session)) : null;
  const found = key === 'ArrowUp' ? history.current?.older(text) : history.current?.newer();
  if (found === null || found === undefined) return;
  event.preventDefault();
  write(found, key === 'ArrowUp' ? 0 : found.length);
}

function earlierPrompts(session: OpenSession): string[] {
  const messages = session.timeline.items.peek().flatMap((item) => (item.kind === 'message' && item.role === 'user' ? [item.text.peek()] : []));
  return [...messages, ...session.prompts.peek().map((prompt) => (prompt.sent.command as SendMessageCommand).message)];
}
