// A command in its parts, as the hub parsed it, for colouring.
//
// Rule: parts are positions. Whatever they say, every character of the command is shown once, in order.

/** What the hub says of a stretch of a command. */
export interface CommandPart {
  start: number;
  end: number;
  role: string;
}

export interface CommandPiece {
  text: string;
  /** command, argument, operator, redirect, string, substitution; empty where nothing is known. */
  role: string;
}

const ROLES = new Set(['command', 'argument', 'operator', 'redirect', 'string', 'substitution']);

/** The parts in an event's `_meta`, or none where there is nothing usable. */
export function partsIn(meta: unknown): CommandPart[] {
  const parts = (meta as { parts?: unknown } | null | undefined)?.parts;
  return Array.isArray(parts) ? parts.filter(isPart) : [];
}

function isPart(part: unknown): part is CommandPart {
  const { start, end, role } = (part ?? {}) as Partial<CommandPart>;
  return Number.isInteger(start) && Number.isInteger(end) && typeof role === 'string' && ROLES.has(role);
}

/** The command in pieces; where parts lie in each other, the inner one counts. Positions are in characters, as Python counts them. */
export function commandPieces(command: string, parts: readonly CommandPart[]): CommandPiece[] {
  const characters = Array.from(command);
  const roles = new Array<string>(characters.length).fill('');
  for (const { start, end, role } of parts) roles.fill(role, Math.max(0, start), Math.min(characters.length, end));
  const pieces: CommandPiece[] = [];
  characters.forEach((character, index) => {
    const role = roles[index] ?? '';
    const last = pieces[pieces.length - 1];
    if (last !== undefined && last.role === role) last.text += character;
    else pieces.push({ text: character, role });
  });
  return pieces;
}
