/**
 * A command line cut into its parsed parts, for colours.
 *
 * Rule: the hub counts characters, JavaScript counts halves of some of them; positions are translated before anything is cut.
 */

export interface Part {
  start: number;
  end: number;
  role: string;
}

export interface Segment {
  text: string;
  /** null: between the parts. */
  role: string | null;
}

/** The line in pieces that never overlap; where parts lie in one another, the inner one counts. */
export function segmentsOf(line: string, parts: readonly Part[] | undefined): Segment[] {
  const characters = Array.from(line);
  const roles = new Array<string | null>(characters.length).fill(null);
  for (const part of parts ?? []) {
    if (isInside(part, characters.length)) roles.fill(part.role, part.start, part.end);
  }
  return joined(characters, roles);
}

function isInside(part: Part, length: number): boolean {
  return Number.isInteger(part.start) && Number.isInteger(part.end) && part.start >= 0 && part.end <= length;
}

function joined(characters: string[], roles: (string | null)[]): Segment[] {
  const segments: Segment[] = [];
  characters.forEach((character, index) => {
    const role = roles[index] ?? null;
    const last = segments.at(-1);
    if (last && last.role === role) last.text += character;
    else segments.push({ text: character, role });
  });
  return segments;
}
