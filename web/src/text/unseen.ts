// Characters that a reader does not see but that change what is read: bidirectional controls, zero-width marks, other controls.
//
// Rule 1: in code, commands and links they are shown by their number, never obeyed: what is approved is what is there.
// Rule 2: of the marks upon one letter only so many are drawn; the rest is counted.
// Rule 3: the text itself is not changed, only the way it is shown.

/** A piece of a text: as it is, or one unseen character by its number. */
interface VisiblePiece {
  text: string;
  unseen: boolean;
}

// The lists of dialects/visible.py, which says what is in them; a test of the hub holds the two together.
const UNSEEN =
  String.raw`\u{0}-\u{8}\u{b}-\u{1f}\u{7f}-\u{9f}\u{ad}-\u{ad}\u{34f}-\u{34f}\u{61c}-\u{61c}\u{115f}-\u{1160}` +
  String.raw`\u{17b4}-\u{17b5}\u{180b}-\u{180f}\u{200b}-\u{200c}\u{200e}-\u{200f}\u{2028}-\u{202e}\u{2060}-\u{206f}` +
  String.raw`\u{2800}-\u{2800}\u{2d7f}-\u{2d7f}\u{3164}-\u{3164}\u{d800}-\u{dfff}\u{fe00}-\u{fe0e}\u{feff}-\u{feff}` +
  String.raw`\u{ffa0}-\u{ffa0}\u{fff0}-\u{fffb}\u{1107f}-\u{1107f}\u{13430}-\u{1343f}\u{16fe4}-\u{16fe4}` +
  String.raw`\u{1bca0}-\u{1bca3}\u{1d159}-\u{1d159}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}`;
const PICTURES =
  String.raw`\u{a9}-\u{a9}\u{ae}-\u{ae}\u{203c}-\u{203c}\u{2049}-\u{2049}\u{2122}-\u{2122}\u{2139}-\u{2139}` +
  String.raw`\u{2194}-\u{21aa}\u{231a}-\u{23ff}\u{24c2}-\u{24c2}\u{25aa}-\u{25fe}\u{2600}-\u{27bf}\u{2934}-\u{2935}` +
  String.raw`\u{2b00}-\u{2bff}\u{3030}-\u{3030}\u{303d}-\u{303d}\u{3297}-\u{3299}\u{1f000}-\u{1faff}`;
const IN_CODE = new RegExp(
  String.raw`[${UNSEEN}]|(?<![${PICTURES}])(?:(?<![${PICTURES}]\ufe0f)\u200d|\ufe0f(?!\u20e3))|(?<=\p{M}{16})\p{M}+`,
  'gu',
);
const ONE_UNSEEN = new RegExp(String.raw`^[${UNSEEN}\ufe0f]$`, 'u');
// In prose joiners and marks of direction have their use; what turns the order of letters around or cannot be seen at all has none.
const IN_PROSE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufff9-\ufffb\u{e0000}-\u{e007f}]|(?<=\p{M}{16})\p{M}+/gu;

/** Whether a text has any such character. */
export function hasUnseen(text: string, prose = false): boolean {
  return text.search(prose ? IN_PROSE : IN_CODE) !== -1;
}

/** The text in pieces, in order; a text without unseen characters is one piece. */
export function revealed(text: string, prose = false): VisiblePiece[] {
  const pieces: VisiblePiece[] = [];
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
  if (!ONE_UNSEEN.test(character) && /^\p{M}/u.test(character)) return `+${[...character].length}`;
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
