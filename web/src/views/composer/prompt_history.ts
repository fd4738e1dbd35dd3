/**
 * The prompts of a session, to be called back with the arrow keys.
 *
 * Rule 1: what is being written is kept while somebody looks back, and comes again when they look forward.
 * Rule 2: the newest of equal prompts counts; a list is bounded.
 */

const KEPT = 100;

export class PromptHistory {
  private readonly prompts: string[];
  private place: number;
  private writing = '';

  /** The oldest first. */
  constructor(prompts: readonly string[]) {
    this.prompts = withoutRepetition(prompts);
    this.place = this.prompts.length;
  }

  /** Whether an older prompt is shown in place of what is being written. */
  get looksBack(): boolean {
    return this.place < this.prompts.length;
  }

  /** The prompt before the one that is shown; null at the oldest. */
  older(shown: string): string | null {
    if (this.place === 0) return null;
    if (!this.looksBack) this.writing = shown;
    this.place -= 1;
    return this.prompts[this.place] ?? null;
  }

  /** The prompt after it, and after the newest what was being written; null where nothing is looked back at. */
  newer(): string | null {
    if (!this.looksBack) return null;
    this.place += 1;
    return this.looksBack ? (this.prompts[this.place] ?? null) : this.writing;
  }

  /** Somebody typed: what is shown is theirs from now on. */
  edited(): void {
    this.place = this.prompts.length;
  }
}

function withoutRepetition(prompts: readonly string[]): string[] {
  const newestFirst = [...prompts].reverse().filter((prompt) => prompt.trim());
  return [...new Set(newestFirst)].slice(0, KEPT).reverse();
}

/** Whether the arrow means the history and not the caret: on the first line for up, on the last one for down. */
export function meansHistory(key: 'ArrowUp' | 'ArrowDown', text: string, from: number, to: number): boolean {
  if (from !== to) return false;
  return key === 'ArrowUp' ? !text.slice(0, from).includes('\n') && (from === 0 || from === text.length) : !text.slice(to).includes('\n');
}
