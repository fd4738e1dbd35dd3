// Text as it is, with what nobody would see made visible.

import type { JSX } from 'preact';
import { t } from '../i18n';
import type { LinePiece } from '../text/code/tokens';
import { hasUnseen, revealed } from '../text/unseen';

/** So many stand out; after that their numbers are part of the text. */
const MARKED_MOST = 400;

type Mark = (props: { number: string }) => JSX.Element;

/** A text in which unseen characters stand by their number. `prose`: those that writing needs are left alone. */
export function VisibleText({ text, prose = false, mark: Marked = UnseenCharacter }: { text: string; prose?: boolean; mark?: Mark }): JSX.Element {
  if (!hasUnseen(text, prose)) return <>{text}</>;
  const pieces = revealed(text, prose);
  return (
    <>
      {pieces.slice(0, MARKED_MOST).map((piece, index) => (piece.unseen ? <Marked key={index} number={piece.text} /> : piece.text))}
      {pieces.length > MARKED_MOST && pieces.slice(MARKED_MOST).map((piece) => piece.text).join('')}
    </>
  );
}

function UnseenCharacter({ number }: { number: string }): JSX.Element {
  return <span class="content-unseen" dir="ltr" title={t('content.unseen', { number })}>{number}</span>;
}

/** The same on a card that asks: what is hidden there stands out. */
export function MarkedText({ text }: { text: string }): JSX.Element {
  return <VisibleText text={text} mark={MarkedCharacter} />;
}

function MarkedCharacter({ number }: { number: string }): JSX.Element {
  return <mark class="approvals-unseen" dir="ltr">{number}</mark>;
}

/** A line in coloured pieces. */
export function Pieces({ pieces }: { pieces: readonly LinePiece[] }): JSX.Element {
  return <>{pieces.map((piece, index) => <Piece key={index} piece={piece} />)}</>;
}

function Piece({ piece }: { piece: LinePiece }): JSX.Element {
  const names = [piece.scope === '' ? '' : `content-hl-${piece.scope}`, piece.marked ? 'content-changed' : ''].filter(Boolean).join(' ');
  return names === '' ? <VisibleText text={piece.text} /> : <span class={names}><VisibleText text={piece.text} /></span>;
}
