// What a call puts out while it runs, which comes in pieces. Pure.
//
// Rule 1: a piece is put at its offset, and whatever stood from there on is dropped.
// Rule 2: offsets count characters as the hub does (code points), not the units of a string here.
// Rule 3: what did not come is a gap, which is seen.

/** A part of the output that is known, and where it lies. */
interface OutputPiece {
  readonly offset: number;
  readonly length: number;
  readonly text: string;
}

/** The output so far, by its source: the agent, or a terminal of its. */
export type PartialOutput = Readonly<Record<string, readonly OutputPiece[]>>;

export const NO_OUTPUT: PartialOutput = {};
const GAP = '\n…\n';

/** The output after one more piece. */
export function putOutput(known: PartialOutput, from: string, offset: number, output: string): PartialOutput {
  const kept = (known[from] ?? []).filter((piece) => piece.offset < offset);
  const last = kept.pop();
  const before = last !== undefined ? cut(last, offset) : undefined;
  const piece: OutputPiece = { offset, length: charactersIn(output), text: output };
  if (before === undefined) return { ...known, [from]: [...kept, piece] };
  if (before.offset + before.length < offset) return { ...known, [from]: [...kept, before, piece] };
  return { ...known, [from]: [...kept, { offset: before.offset, length: before.length + piece.length, text: before.text + output }] };
}

/** All of it as one text. */
export function partialText(known: PartialOutput): string {
  return Object.values(known).map(oneText).filter((text) => text !== '').join('\n');
}

function oneText(pieces: readonly OutputPiece[]): string {
  const text = pieces.map((piece) => piece.text).join(GAP);
  return (pieces[0]?.offset ?? 0) > 0 ? `…\n${text}` : text;
}

function cut(piece: OutputPiece, end: number): OutputPiece {
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
