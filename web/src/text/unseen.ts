// Characters that a reader does not see but that change what is read: bidirectional controls, zero-width marks, other controls.
//
// Rule 1: in code, commands and links they are shown by their number, never obeyed: what is approved is what is there.
// Rule 2: of the marks upon one letter only so many are drawn; the rest is counted.
// Rule 3: the text itself is not changed, only the way it is shown.

/** A piece of a text: as it is, or one unseen character by its number. */
export interface Piece {
  text: string;
  unseen: boolean;
}

// Controls but tab and newline, soft hyphen, Arabic letter mark, Hangul fillers, Mongolian vowel separator, zero-width and directional
// marks, separators, embeddings and overrides, invisible operators and isolates, byte order mark, tags. A joiner inside an emoji is seen.
const IN_CODE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]|(?<![\p{Extended_Pictographic}\ufe0f\u{1f3fb}-\u{1f3ff}])\u200d|(?<=\p{M}{16})\p{M}+/gu;
// In prose joiners and marks of direction have their use; what turns the order of letters around or cannot be seen at all has none.
const IN_PROSE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufff9-\ufffb\u{e0000}-\u{e007f}]|(?<=\p{M}{16})\p{M}+/gu;

/** Whether a text has any such character. */
export function hasUnseen(text: string, prose = false): boolean {
  return text.search(prose ? IN_PROSE : IN_CODE) !== -1;
}

/** The text in pieces, in order; a text without unseen characters is one piece. */
export function revealed(text: string, prose = false): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const found of text.matchAll(prose ? IN_PROSE : IN_CODE)) {
    if (found.index > at) pieces.push({ text: text.slice(at, found.index), unseen: false });
    pieces.push({ text: numberOf(found[0]), unseen: true });
    at = found.index + found[0].length;
  }
  if (at < text.length || at === 0) pieces.push({ text: text.slice(at), unseen: false });
  return pieces;
}

/** The text with every unseen character written as its number: for attributes and titles. */
export function spelledOut(text: string): string {
  return text.replace(IN_CODE, numberOf);
}

/** Marks that pile up on one letter beyond what any script needs are counted: drawing them can take minutes. */
function numberOf(character: string): string {
  if (/^\p{M}/u.test(character) && character !== '\u034f') return `+${[...character].length}`;
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
