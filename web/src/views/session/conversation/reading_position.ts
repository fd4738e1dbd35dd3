// Where the reader of a session is: kept over views and over a reload of the page.

interface ReadingPosition {
  /** The entry of the row at the top of the screen. */
  seq: number;
  key: string;
  /** How far its top is below the top of the screen; negative: above. */
  below: number;
}

const PREFIX = 'trunkline.place.';
const WRITE_PAUSE_MS = 200;

/** What is not written yet: scrolling changes it with every frame. */
const unwritten = new Map<string, ReadingPosition | undefined>();
let timer: ReturnType<typeof setTimeout> | undefined;
addEventListener('pagehide', () => writeAll());

export function readingPositionIn(sessionId: string): ReadingPosition | undefined {
  if (unwritten.has(sessionId)) return unwritten.get(sessionId);
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(PREFIX + sessionId) ?? 'null');
    return isPlace(stored) ? stored : undefined;
  } catch {
    return undefined; // No storage, or not ours: the newest is a good place to begin.
  }
}

/** Without a place the reader is at the end. */
export function keepReadingPosition(sessionId: string, place: ReadingPosition | undefined): void {
  unwritten.set(sessionId, place);
  timer ??= setTimeout(writeAll, WRITE_PAUSE_MS);
}

function writeAll(): void {
  clearTimeout(timer);
  timer = undefined;
  for (const [sessionId, place] of unwritten) write(sessionId, place);
  unwritten.clear();
}

function write(sessionId: string, place: ReadingPosition | undefined): void {
  try {
    if (place === undefined) sessionStorage.removeItem(PREFIX + sessionId);
    else sessionStorage.setItem(PREFIX + sessionId, JSON.stringify(place));
  } catch {
    // A browser that keeps nothing forgets this too.
  }
}

function isPlace(value: unknown): value is ReadingPosition {
  const place = value as Partial<ReadingPosition> | null;
  return typeof place?.seq === 'number' && typeof place.key === 'string' && typeof place.below === 'number';
}
