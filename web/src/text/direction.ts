/**
 * Which way a field is written: as its first word is.
 *
 * Not `dir="auto"`: a browser looks at every line of a field for that, which takes minutes for a log of two megabytes.
 */
const LOOKED_AT = 500;
const FROM_THE_RIGHT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;

export function fieldDirection(text: string): 'rtl' | undefined {
  const first = /\p{L}/u.exec(text.slice(0, LOOKED_AT));
  return first !== null && FROM_THE_RIGHT.test(first[0]) ? 'rtl' : undefined;
}
