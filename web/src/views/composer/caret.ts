/** Puts words and a caret into a field at once: a caret that came with the next frame would come between keys that are typed until then. */
export function putIn(field: HTMLTextAreaElement | null, words: string, caret: number): void {
  if (field === null) return;
  field.value = words;
  field.setSelectionRange(caret, caret);
}
