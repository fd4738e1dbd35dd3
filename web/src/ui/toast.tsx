/** News that need no answer: shown for a while at the edge of the page, and read out. */
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { t } from '../i18n';
import { IconButton } from './button';
import { Icon, type IconName } from './icon';

type Tone = 'info' | 'good' | 'bad';

interface Note {
  id: number;
  text: string;
  tone: Tone;
  /** The view that it is about, which it goes with. */
  of?: string;
}

const SHOWN_MS = 5_000;
const notes = signal<Note[]>([]);
let last = 0;

/** Say something. What went wrong stays longer. */
export function toast(text: string, tone: Tone = 'info', of?: string): void {
  const note = { id: (last += 1), text, tone, ...(of !== undefined ? { of } : {}) };
  notes.value = [...notes.value.slice(-3), note];
  setTimeout(() => drop(note.id), tone === 'bad' ? SHOWN_MS * 2 : SHOWN_MS);
}

/** A view is left: what was said about it is not news where one is now. */
export function dropToasts(of: string): void {
  notes.value = notes.value.filter((note) => note.of !== of);
}

function drop(id: number): void {
  notes.value = notes.value.filter((note) => note.id !== id);
}

const ICONS: Record<Tone, IconName> = { info: 'info', good: 'check', bad: 'warning' };

/** Where they appear; once on the page. */
export function Toasts(): JSX.Element {
  return (
    <div class="ui-toasts" role="status" aria-live="polite">
      {notes.value.map((note) => (
        <div key={note.id} class={`ui-toast ui-toast-${note.tone}`}>
          <Icon name={ICONS[note.tone]} />
          <span>{note.text}</span>
          <IconButton icon="close" label={t('common.dismiss')} size={16} onClick={() => drop(note.id)} />
        </div>
      ))}
    </div>
  );
}
