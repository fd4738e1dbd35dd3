// Characters that a reader does not see but that change what is read: bidirectional controls, zero-width marks, other controls.
//
// Rule 1: in code, commands and links they are shown by their number, never obeyed: what is approved is what is there.
// Rule 2: the text itself is not changed, only the way it is shown.

/** A piece of a text: as it is, or one unseen character by its number. */
export interface Piece {
  text: string;
  unseen: boolean;
}

// Soft hyphen, Arabic letter mark, Hangul fillers, Mongolian vowel separator, zero-width and directional marks, line and paragraph
// separators, embeddings and overrides, invisible operators and isolates, byte order mark, tags, and C0/C1 controls but tab and newline.
const UNSEEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g;
const ANY_UNSEEN = new RegExp(UNSEEN.source);

/** Whether a text has any such character. */
export function hasUnseen(text: string): boolean {
  return ANY_UNSEEN.test(text);
}

/** The text in pieces, in order; a text without unseen characters is one piece. */
export function revealed(text: string): Piece[] {
  if (!hasUnseen(text)) return [{ text, unseen: false }];
  const pieces: Piece[] = [];
  let at = 0;
  for (const found of text.matchAll(UNSEEN)) {
    if (found.index > at) pieces.push({ text: text.slice(at, found.index), unseen: false });
    pieces.push({ text: numberOf(found[0]), unseen: true });
    at = found.index + found[0].length;
  }
  if (at < text.length) pieces.push({ text: text.slice(at), unseen: false });
  return pieces;
}

/** The text with every unseen character written as its number: for attributes and titles. */
export function spelledOut(text: string): string {
  return hasUnseen(text) ? text.replace(UNSEEN, numberOf) : text;
}

function numberOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
