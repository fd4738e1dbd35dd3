/**
 * What the composer suggests while somebody types: the agent's commands after a slash, files after an at sign.
 *
 * Rule 1: pure. Where the files come from is the composer's business.
 * Rule 2: a slash is a command only at the very beginning of a prompt, an at sign a file only at the beginning of a word:
 * addresses and paths in the middle of a text are left alone.
 */

export interface AgentCommand {
  name: string;
  description?: string;
  /** What to type after it. */
  hint?: string;
}

/** The word at the caret that something can be suggested for. */
export interface Token {
  kind: 'command' | 'file';
  query: string;
  from: number;
  to: number;
}

/** What to suggest for, where the caret is now; null where nothing is. */
export function tokenAt(text: string, caret: number): Token | null {
  const before = text.slice(0, caret);
  const command = /^\/(\S*)$/.exec(before);
  if (command) return { kind: 'command', query: command[1] ?? '', from: 0, to: wordEnd(text, caret) };
  const file = /(?:^|\s)@([^\s@]*)$/.exec(before);
  if (!file) return null;
  const query = file[1] ?? '';
  return { kind: 'file', query, from: caret - query.length - 1, to: wordEnd(text, caret) };
}

/** The text with the token replaced, and where the caret is then. */
export function completed(text: string, token: Token, word: string): { text: string; caret: number } {
  const head = text.slice(0, token.from) + (token.kind === 'command' ? '/' : '@') + word;
  const tail = text.slice(token.to);
  const gap = /^\s/.test(tail) ? '' : ' ';
  return { text: head + gap + tail, caret: head.length + 1 };
}

/** The commands that fit, those that begin so first; all of them for an empty query. */
export function matchingCommands(commands: readonly AgentCommand[], query: string): AgentCommand[] {
  const wanted = query.toLowerCase();
  return commands
    .map((command) => ({ command, rank: rankOf(command, wanted) }))
    .filter((found) => found.rank !== null)
    .sort((one, other) => one.rank! - other.rank!)
    .map((found) => found.command);
}

/** The agent's list as the hub gives it; what is no command is left out. */
export function commandsOf(listed: readonly Record<string, unknown>[] | null | undefined): AgentCommand[] {
  return (listed ?? []).flatMap((each) => {
    if (typeof each.name !== 'string' || !each.name) return [];
    const input = each.input as { hint?: unknown } | null | undefined;
    return [{
      name: each.name.replace(/^\//, ''),
      ...(typeof each.description === 'string' ? { description: each.description } : {}),
      ...(typeof input?.hint === 'string' ? { hint: input.hint } : {}),
    }];
  });
}

function rankOf(command: AgentCommand, wanted: string): number | null {
  const name = command.name.toLowerCase();
  if (name === wanted) return 0;
  if (name.startsWith(wanted)) return 1;
  if (name.includes(wanted)) return 2;
  if (isWithin(wanted, name)) return 3;
  return wanted.length > 2 && command.description?.toLowerCase().includes(wanted) ? 4 : null;
}

/** Whether the letters are in the name in this order, with anything between: `cmt` is in `commit`. */
function isWithin(letters: string, name: string): boolean {
  let at = 0;
  for (const letter of letters) {
    at = name.indexOf(letter, at) + 1;
    if (!at) return false;
  }
  return true;
}

function wordEnd(text: string, caret: number): number {
  const rest = /^\S*/.exec(text.slice(caret));
  return caret + (rest?.[0].length ?? 0);
}
