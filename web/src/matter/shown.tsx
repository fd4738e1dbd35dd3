// Text as it is, with what nobody would see made visible.

import type { JSX } from 'preact';
import { t } from '../i18n';
import type { LinePiece } from '../text/tokens';
import { hasUnseen, revealed } from '../text/unseen';

/** A text in which unseen characters stand by their number. */
export function Shown({ text, prose = false }: { text: string; prose?: boolean }): JSX.Element {
  if (!hasUnseen(text, prose)) return <>{text}</>;
  return <>{revealed(text, prose).map((piece, index) => (piece.unseen ? <Unseen key={index} number={piece.text} /> : piece.text))}</>;
}

function Unseen({ number }: { number: string }): JSX.Element {
  return <span class="matter-unseen" title={t('matter.unseen', { number })}>{number}</span>;
}

/** A line in coloured pieces. */
export function Pieces({ pieces }: { pieces: readonly LinePiece[] }): JSX.Element {
  return <>{pieces.map((piece, index) => <Piece key={index} piece={piece} />)}</>;
}

function Piece({ piece }: { piece: LinePiece }): JSX.Element {
  const names = [piece.scope === '' ? '' : `matter-hl-${piece.scope}`, piece.marked ? 'matter-changed' : ''].filter(Boolean).join(' ');
  return names === '' ? <Shown text={piece.text} /> : <span class={names}><Shown text={piece.text} /></span>;
}
