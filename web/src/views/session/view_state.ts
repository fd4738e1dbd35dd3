// What the rows of one opened session share, made once: the story, what is open, the rows, the scrolling.

import { computed, type ReadonlySignal } from '@preact/signals';
import type { Item } from '../../model/timeline/items';
import { rowsOf, type Row } from '../../model/timeline/rows';
import type { Story } from '../../model/open_session';
import { typedIn } from '../approvals/typing';
import { openedIn, type Opened } from './conversation/open_rows';
import { keepPlace } from './conversation/reading_position';
import { Scroller, type Anchor } from './conversation/scroller';

export interface Room {
  story: Story;
  opened: Opened;
  rows: ReadonlySignal<Row[]>;
  scroller: Scroller;
  /** The session's folder; it hardly ever changes, unlike the rest of the view. */
  cwd: ReadonlySignal<string>;
}

const NESTED_MOST = 8;

export function makeRoom(story: Story): Room {
  const opened = openedIn(story.sessionId);
  const rows = computed(() => rowsOf(story.timeline.items.value, { isOpen: (key) => opened.of(key), details: opened.details.value, typedIn: typedIn.value }));
  let lastSeq = 0;
  const moved = (anchor: Anchor | undefined): void => {
    if (story.state.peek() !== 'ready') return;
    const item = anchor && story.timeline.find(itemKey(anchor.key));
    if (item) lastSeq = item.seq;
    keepPlace(story.sessionId, anchor && item ? { ...anchor, seq: item.seq } : undefined);
  };
  const more = (load: () => Promise<boolean>) => () => void load().catch(() => undefined); // Tried again when the reader scrolls on.
  const scroller = new Scroller(
    (key) => (rowWith(key, rows.peek()) ?? rowBefore(lastSeq, rows.peek()))?.key, more(() => story.loadOlder()), more(() => story.loadNewer()), moved);
  return { story, opened, rows, scroller, cwd: computed(() => story.view.value.cwd) };
}

/** Open what tells of an entry, until it has a row of its own; gives that row's key. */
export function reveal(room: Room, seq: number): string | undefined {
  const key = shownFor(room, room.story.timeline.ownerOf(seq));
  for (let level = 0; key !== undefined && level < NESTED_MOST; level += 1) {
    const row = rowWith(key, room.rows.peek());
    if (row === undefined) break;
    if (row.key === key || (row.kind === 'group' ? row.open : room.opened.of(row.key))) return row.key;
    room.opened.set(row.key, true);
  }
  return rowBefore(seq, room.rows.peek())?.key;
}

/** A decision is shown on its call. */
function shownFor({ story }: Room, key: string | undefined): string | undefined {
  const item = key === undefined ? undefined : story.timeline.find(key);
  return item?.kind === 'approval' && item.resolved.peek() !== undefined ? story.timeline.callOf(item.callId)?.key ?? key : key;
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
