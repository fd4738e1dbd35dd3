/**
 * Files that go with something that is not sent yet, over a reload of the page.
 *
 * Rule 1: a browser keeps about five million characters for a tab, and what waits to be sent needs some of them. What does not fit is
 * kept by its name alone, so that the page can say what has to be attached again.
 * Rule 2: each tab has its own. They are of who attached them: they go when another person may come (hub/leave.ts).
 */
const PREFIX = 'trunkline.draft.files.';
/** Characters of all files together. */
const MOST = 2_000_000;

/** A file of which only the name is left has no body. */
export interface KeptFile {
  name: string;
  body?: string;
}

/** Keep the files of a draft, instead of those that were kept of it before. */
export function keepFiles(draft: string, files: readonly KeptFile[]): void {
  const key = PREFIX + draft;
  try {
    sessionStorage.removeItem(key);
    if (files.length) sessionStorage.setItem(key, JSON.stringify(fitting(files, MOST - charactersKept())));
  } catch {
    // Forbidden, or full: they live as long as the page.
  }
}

/** The files of a draft that were kept. */
export function keptFiles(draft: string): KeptFile[] {
  try {
    const found: unknown = JSON.parse(sessionStorage.getItem(PREFIX + draft) ?? '[]');
    return Array.isArray(found) ? found.filter(isFile) : [];
  } catch {
    return [];
  }
}

function fitting(files: readonly KeptFile[], room: number): KeptFile[] {
  let left = room;
  return files.map(({ name, body = '' }) => {
    if (body === '' || body.length > left) return { name };
    left -= body.length;
    return { name, body };
  });
}

function charactersKept(): number {
  const keys = Array.from({ length: sessionStorage.length }, (_, at) => sessionStorage.key(at) ?? '');
  return keys.filter((key) => key.startsWith(PREFIX)).reduce((sum, key) => sum + (sessionStorage.getItem(key)?.length ?? 0), 0);
}

function isFile(found: unknown): found is KeptFile {
  const file = found as KeptFile | null;
  return typeof file?.name === 'string' && (file.body === undefined || typeof file.body === 'string');
}
