/**
 * Which tab this is. A tab that is duplicated takes a copy of the first one's session storage along: what lies in it is still the
 * first one's, and only that one acts on it.
 *
 * Rule: a tab that lives answers for its name. Who comes with the same name and is answered takes another.
 */
const KEY = 'trunkline.tab';
const PATIENCE_MS = 300;

type TabStorage = Pick<Storage, 'getItem' | 'setItem'>;
type Channel = Pick<BroadcastChannel, 'postMessage' | 'onmessage'>;

interface TabMessage {
  says: 'who' | 'mine';
  tab: string;
  /** Which page it is from: a page gets none of its own, but both may ask at once. */
  page: string;
}

/** Whether what lies in the storage is ours: false in a duplicate of a tab that is still there. */
export async function isOurs(storage: TabStorage | null, channel: Channel | null, newName: () => string): Promise<boolean> {
  const page = newName();
  let tab = nameIn(storage);
  const fresh = tab === null;
  tab ??= newName();
  if (channel === null) return true;
  let taken = false;
  channel.onmessage = ({ data }: MessageEvent<TabMessage>) => {
    if (data.tab !== tab || data.page === page) return;
    if (data.says === 'mine') taken = true;
    else channel.postMessage({ says: 'mine', tab, page } satisfies TabMessage);
  };
  if (fresh) {
    keep(storage, tab);
    return true;
  }
  channel.postMessage({ says: 'who', tab, page } satisfies TabMessage);
  await new Promise((done) => setTimeout(done, PATIENCE_MS));
  if (!taken) return true;
  tab = newName();
  keep(storage, tab);
  return false;
}

function nameIn(storage: TabStorage | null): string | null {
  try {
    return storage?.getItem(KEY) ?? null;
  } catch {
    return null;
  }
}

function keep(storage: TabStorage | null, tab: string): void {
  try {
    storage?.setItem(KEY, tab);
  } catch {
    // A browser that keeps nothing has nothing to copy.
  }
}

export function tabChannel(): Channel | null {
  return typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel(KEY);
}
