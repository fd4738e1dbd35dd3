// Lists of events: joining runs of pieces, so that what is kept does not grow with every chunk. Pure.
//
// Rule 1: a joined piece has the seq of its last, as the hub's own joined pages have.

import type { ACPEvent, MessageDeltaEvent, ThinkingDeltaEvent, ToolCallArgsDeltaEvent } from '../generated/agent-context';

type Piece = MessageDeltaEvent | ThinkingDeltaEvent | ToolCallArgsDeltaEvent;

/** A piece longer than this is not made longer: to copy it for every chunk would cost more than to keep another. */
const PIECE_MOST = 16_384;

/** Put an event behind the others; a piece of what the last one is a piece of goes into it. */
export function append(events: ACPEvent[], event: ACPEvent): void {
  const last = events[events.length - 1];
  if (last !== undefined && isPiece(last) && isPiece(event) && continues(last, event)) {
    events[events.length - 1] = { ...last, seq: event.seq, timestamp: event.timestamp, delta: last.delta + event.delta };
  } else events.push(event);
}

function isPiece(event: ACPEvent): event is Piece {
  return event.type === 'message:delta' || event.type === 'thinking:delta' || event.type === 'tool:args_delta';
}

function continues(last: Piece, next: Piece): boolean {
  return last.type === next.type && idOf(last) === idOf(next) && last.delta.length < PIECE_MOST && next._meta === undefined;
}

function idOf(piece: Piece): string {
  return piece.type === 'tool:args_delta' ? piece.toolCallId : piece.messageId;
}
