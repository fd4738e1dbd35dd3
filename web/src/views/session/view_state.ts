// What the rows of one openRows session share, made once: the session, which rows are open, the rows, the scrolling.

import { computed, type ReadonlySignal } from '@preact/signals';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Item } from '../../model/timeline/items';
import { rowsOf, type Row } from '../../model/timeline/rows';
import type { OpenSession } from '../../model/open_session';
import { typedIn } from '../approvals/typing';
import { openRowsOf, type OpenRows } from './conversation/open_rows';
import { keepReadingPosition } from './conversation/reading_position';
import { Scroller, type Anchor } from './conversation/scroller';

export interface SessionViewState {
  session: OpenSession;
  openRows: OpenRows;
  rows: ReadonlySignal<Row[]>;
  scroller: Scroller;
  /** The session's folder; it hardly ever changes, unlike the rest of the view. */
  cwd: ReadonlySignal<string>;
}

const NESTED_MOST = 8;

export function makeViewState(session: OpenSession): SessionViewState {
  const openRows = openRowsOf(session.sessionId);
  const rows = computed(() => rowsOf(session.timeline.items.value, { isOpen: (key) => openRows.of(key), details: openRows.details.value, typedIn: typedIn.value }));
  let lastSeq = 0;
  const moved = (anchor: Anchor | undefined): void => {
    if (session.loadState.peek() !== 'ready') return;
    const item = anchor && session.timeline.find(itemKey(anchor.key));
    if (item) lastSeq = item.seq;
    keepReadingPosition(session.sessionId, anchor && item ? { ...anchor, seq: item.seq } : undefined);
  };
  const more = (load: () => Promise<boolean>) => () => void load().catch(() => undefined); // Tried again when the reader scrolls on.
  const scroller = new Scroller(
    (key) => (rowWith(key, rows.peek()) ?? rowBefore(lastSeq, rows.peek()))?.key, more(() => session.loadOlder()), more(() => session.loadNewer()), moved);
  return { session, openRows, rows, scroller, cwd: computed(() => session.state.value.cwd) };
}

/** Open what shows an entry, until it has a row of its own; gives that row's key. */
export function reveal(viewState: SessionViewState, seq: number): string | undefined {
  const key = shownFor(viewState, viewState.session.timeline.ownerOf(seq));
  for (let level = 0; key !== undefined && level < NESTED_MOST; level += 1) {
    const row = rowWith(key, viewState.rows.peek());
    if (row === undefined) break;
    if (row.key === key || (row.kind === 'group' ? row.open : viewState.openRows.of(row.key))) return row.key;
    viewState.openRows.set(row.key, true);
  }
  return rowBefore(seq, viewState.rows.peek())?.key;
}

/** A decision is shown on its call. */
function shownFor({ session }: SessionViewState, key: string | undefined): string | undefined {
  const item = key === undefined ? undefined : session.timeline.find(key);
  return item?.kind === 'approval' && item.resolved.peek() !== undefined ? session.timeline.callOf(item.callId)?.key ?? key : key;
}

/** The last row that began up to an entry: what is not shown happened there. */
function rowBefore(seq: number, rows: readonly Row[]): Row | undefined {
  return rows.findLast((row) => (row.kind === 'group' ? row.members[0]! : row.item).seq <= seq) ?? rows[0];
}

/** The row of an item, or the one that it is folded into. */
function rowWith(key: string, rows: readonly Row[]): Row | undefined {
  const wanted = itemKey(key);
  return rows.find((row) => row.key === key) ?? rows.find((row) => (
    row.kind === 'group' ? row.members.some((member) => member.key === wanted)
      : row.key === wanted || (row.item.kind === 'subagent' && holds(row.item.children, wanted))));
}

/** A group is called after its first member. */
function itemKey(rowKey: string): string {
  return rowKey.startsWith('G:') ? rowKey.slice(2) : rowKey;
}

function holds(items: readonly Item[], key: string): boolean {
  return items.some((item) => item.key === key || (item.kind === 'subagent' && holds(item.children, key)));
}

export const SessionViewContext = createContext<SessionViewState | undefined>(undefined);

export function useSessionView(): SessionViewState {
  const viewState = useContext(SessionViewContext);
  if (viewState === undefined) throw new Error('a row outside of a session');
  return viewState;
}

/** Whether a row is open, and a way to change that which keeps it in its place. */
export function useOpenRow(key: string, byDefault = false): [boolean, () => void] {
  const { openRows, scroller } = useSessionView();
  const open = openRows.of(key) ?? byDefault;
  const toggle = (): void => {
    scroller.hold(key);
    openRows.set(key, !open);
  };
  return [open, toggle];
}
