// What a call puts out while it runs, told in pieces. Pure.
//
// Rule 1: a piece is put at its offset, and whatever stood from there on is dropped.
// Rule 2: offsets count characters as the hub does (code points), not the units of a string here.
// Rule 3: what was not told is a gap, which is seen.

/** A part of the output that is known, and where it lies. */
interface Piece {
  readonly offset: number;
  readonly length: number;
  readonly text: string;
}

/** The output so far, by what put it out: the agent, or a terminal of its. */
export type Running = Readonly<Record<string, readonly Piece[]>>;

export const NOTHING_YET: Running = {};
const GAP = '\n…\n';

/** The output after one more piece. */
export function put(running: Running, from: string, offset: number, output: string): Running {
  const kept = (running[from] ?? []).filter((piece) => piece.offset < offset);
  const last = kept.pop();
  const before = last !== undefined ? cut(last, offset) : undefined;
  const piece: Piece = { offset, length: charactersIn(output), text: output };
  if (before === undefined) return { ...running, [from]: [...kept, piece] };
  if (before.offset + before.length < offset) return { ...running, [from]: [...kept, before, piece] };
  return { ...running, [from]: [...kept, { offset: before.offset, length: before.length + piece.length, text: before.text + output }] };
}

/** All of it as one text. */
export function runningText(running: Running): string {
  return Object.values(running).map(oneText).filter((text) => text !== '').join('\n');
}

function oneText(pieces: readonly Piece[]): string {
  const text = pieces.map((piece) => piece.text).join(GAP);
  return (pieces[0]?.offset ?? 0) > 0 ? `…\n${text}` : text;
}

function cut(piece: Piece, end: number): Piece {
  if (piece.offset + piece.length <= end) return piece;
  const length = end - piece.offset;
  return { offset: piece.offset, length, text: Array.from(piece.text).slice(0, length).join('') };
}

function charactersIn(text: string): number {
  let pairs = 0;
  for (let index = 0; index < text.length - 1; index += 1) {
    if (isFirstHalf(text.charCodeAt(index)) && isSecondHalf(text.charCodeAt(index + 1))) pairs += 1;
  }
  return text.length - pairs;
}

function isFirstHalf(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isSecondHalf(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
