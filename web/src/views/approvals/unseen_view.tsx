/** A text in which nothing is hidden: characters that one does not see are shown by their number. */
import type { JSX } from 'preact';
import { revealed } from '../../text/unseen';

export function Unseen({ text }: { text: string }): JSX.Element {
  const pieces = revealed(text);
  if (pieces.length === 1 && !pieces[0]?.unseen) return <>{text}</>;
  return <>{pieces.map((piece, index) => (piece.unseen ? <mark key={index} class="approvals-unseen">{piece.text}</mark> : piece.text))}</>;
}
