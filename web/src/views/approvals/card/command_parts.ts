/**
 * A command line cut into its parsed parts, for colours.
 *
 * Rule 1: the hub counts characters, JavaScript counts halves of some of them; positions are translated before anything is cut.
 * Rule 2: where parts lie in one another the inner one says what it is, and the worst of them how dangerous it is.
 */
import type { RiskLevel } from '../../../generated/agent-context';
import type { CommandPart } from '../../../generated/api';

export interface Segment {
  text: string;
  /** null: between the parts. */
  kind: CommandPart['kind'] | null;
  risk: RiskLevel | null;
}

type Mark = Omit<Segment, 'text'>;

const RISKS: RiskLevel[] = ['low', 'medium', 'high', 'critical'];
const BETWEEN: Mark = { kind: null, risk: null };

/** The line in pieces that never overlap. */
export function segmentsOf(line: string, parts: readonly CommandPart[] | null | undefined): Segment[] {
  const characters = Array.from(line);
  const marks = new Array<Mark>(characters.length).fill(BETWEEN);
  for (const part of parts ?? []) {
    if (!isInside(part, characters.length)) continue;
    for (let at = part.start; at < part.end; at += 1) marks[at] = { kind: part.kind, risk: worse(marks[at]?.risk ?? null, part.risk ?? null) };
  }
  return joined(characters, marks);
}

function isInside(part: CommandPart, length: number): boolean {
  return Number.isInteger(part.start) && Number.isInteger(part.end) && part.start >= 0 && part.end <= length;
}

function worse(one: RiskLevel | null, other: RiskLevel | null): RiskLevel | null {
  return RISKS.findLast((level) => level === one || level === other) ?? null;
}

function joined(characters: string[], marks: Mark[]): Segment[] {
  const segments: Segment[] = [];
  characters.forEach((character, index) => {
    const { kind, risk } = marks[index] ?? BETWEEN;
    const last = segments.at(-1);
    if (last && last.kind === kind && last.risk === risk) last.text += character;
    else segments.push({ text: character, kind, risk });
  });
  return segments;
}
