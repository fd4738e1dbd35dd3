/**
 * The suggestions at the caret: asked for while somebody types, chosen by key or touch.
 *
 * Rule: an answer that comes after the next question is thrown away.
 */
import { signal } from '@preact/signals';
import type { FilesFound } from '../../generated/api';
import { http } from '../../hub/http';
import { matchingCommands, tokenAt, type AgentCommand, type Token } from './suggestions';

/** What a command takes, as agents write it: some put it in brackets themselves. */
function marked(hint: string): string {
  return /^[<[({]/.test(hint) ? hint : `<${hint}>`;
}

export interface Suggestion {
  /** What is put in. */
  word: string;
  description?: string;
}

export interface Suggested {
  token: Token;
  choices: Suggestion[];
  selected: number;
  state: 'asking' | 'known';
}

const PAUSE_MS = 120;
const SHOWN = 12;

export class SuggestionSource {
  readonly current = signal<Suggested | null>(null);
  private timer: ReturnType<typeof setTimeout> | undefined;
  private requestCount = 0;
  /** A token that somebody dismissed, until they type something else. */
  private dismissed = '';

  /** `filesAt`: where files are found by a part of their path. */
  constructor(private readonly filesAt: (query: string, limit: number) => string, private readonly commands: () => AgentCommand[]) {}

  /** The text or the caret changed. */
  onTextChanged(text: string, caret: number): void {
    clearTimeout(this.timer);
    const token = tokenAt(text, caret);
    if (!token || nameOf(token) === this.dismissed) return this.close();
    this.dismissed = '';
    if (token.kind === 'command') this.showCommands(token);
    else this.loadFiles(token);
  }

  move(step: 1 | -1): void {
    const shown = this.current.peek();
    if (!shown?.choices.length) return;
    const count = shown.choices.length;
    this.current.value = { ...shown, selected: (shown.selected + step + count) % count };
  }

  /** Somebody wants none. */
  dismiss(): void {
    const shown = this.current.peek();
    if (shown) this.dismissed = nameOf(shown.token);
    this.close();
  }

  close(): void {
    this.requestCount += 1;
    this.current.value = null;
  }

  private showCommands(token: Token): void {
    const choices = matchingCommands(this.commands(), token.query).slice(0, SHOWN * 2).map((command) => ({
      word: command.name, description: [command.hint && marked(command.hint), command.description].filter(Boolean).join(' '),
    }));
    this.current.value = choices.length ? { token, choices, selected: 0, state: 'known' } : null;
  }

  private loadFiles(token: Token): void {
    const number = (this.requestCount += 1);
    const before = this.current.peek();
    const choices = before?.token.kind === 'file' ? before.choices : [];
    this.current.value = { token, choices: token.query ? choices : [], selected: 0, state: token.query ? 'asking' : 'known' };
    if (token.query) this.timer = setTimeout(() => void this.find(token, number), PAUSE_MS);
  }

  private async find(token: Token, number: number): Promise<void> {
    const found = await http.get<FilesFound>(this.filesAt(token.query, SHOWN)).catch(() => null);
    if (number !== this.requestCount) return;
    const choices = (found?.files ?? []).map((file) => ({ word: file.path }));
    this.current.value = { token, choices, selected: 0, state: 'known' };
  }
}

/** Have the keys that choose a suggestion do so; says whether this was one. */
export function suggestionKey(event: KeyboardEvent, suggesting: SuggestionSource, take: (suggestion: Suggestion) => void): boolean {
  const shown = suggesting.current.peek();
  if (!shown) return false;
  const chosen = shown.choices[shown.selected];
  if (event.key === 'Escape') suggesting.dismiss();
  else if (event.key === 'ArrowDown' && chosen) suggesting.move(1);
  else if (event.key === 'ArrowUp' && chosen) suggesting.move(-1);
  else if ((event.key === 'Enter' || event.key === 'Tab') && chosen && !event.shiftKey && !isWhole(shown.token.query, chosen, event.key)) take(chosen);
  else return false;
  return true;
}

/** A command that is typed out already is sent by Enter, not completed once more. */
function isWhole(query: string, chosen: Suggestion, key: string): boolean {
  return key === 'Enter' && query === chosen.word;
}

function nameOf(token: Token): string {
  return `${token.kind} ${token.from} ${token.query}`;
}
