/** A text in which nothing is hidden: characters that one does not see are shown by their number. */
import type { JSX } from 'preact';
import { revealed } from '../../text/unseen';

/** So many stand out; after that their numbers are part of the text. */
const MARKED_MOST = 400;

export function Unseen({ text }: { text: string }): JSX.Element {
  const pieces = revealed(text);
  if (pieces.length === 1 && !pieces[0]?.unseen) return <>{text}</>;
  return (
    <>
      {pieces.slice(0, MARKED_MOST).map((piece, index) => (piece.unseen ? <mark key={index} class="approvals-unseen" dir="ltr">{piece.text}</mark> : piece.text))}
      {pieces.length > MARKED_MOST && pieces.slice(MARKED_MOST).map((piece) => piece.text).join('')}
    </>
  );
}
