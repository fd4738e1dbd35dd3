/**
 * The suggestions at the caret: asked for while somebody types, chosen by key or touch.
 *
 * Rule: an answer that comes after the next question is thrown away.
 */
import { signal } from '@preact/signals';
import type { FilesFound } from '../../generated/api';
import { http, pathOf } from '../../hub/http';
import { matchingCommands, tokenAt, type AgentCommand, type Token } from './suggestions';

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

  constructor(private readonly sessionId: string, private readonly commands: () => AgentCommand[]) {}

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
      word: command.name, description: [command.hint && `<${command.hint}>`, command.description].filter(Boolean).join(' '),
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
    const path = pathOf(['sessions', this.sessionId, 'files', 'find'], { q: token.query, limit: SHOWN });
    const found = await http.get<FilesFound>(path).catch(() => null);
    if (number !== this.requestCount) return;
    const choices = (found?.files ?? []).map((file) => ({ word: file.path }));
    this.current.value = { token, choices, selected: 0, state: 'known' };
  }
}

function nameOf(token: Token): string {
  return `${token.kind} ${token.from} ${token.query}`;
}
