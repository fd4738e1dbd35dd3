// Where the files tab is, as the query of the page's address says: which file, which line, which list. And which artifact.

import { computed, type ReadonlySignal } from '@preact/signals';
import { route, write } from '../../route';

export interface FilesAddress {
  path: string | null;
  line: number | null;
  list: 'tree' | 'changes';
}

/** The place, kept true by the address. */
export const filesAddress: ReadonlySignal<FilesAddress> = computed(() => {
  void route.value; // a change of the fragment comes by the route
  return readFilesAddress(location.hash);
});

export function readFilesAddress(fragment: string): FilesAddress {
  const query = new URLSearchParams(fragment.split('?')[1] ?? '');
  const line = Number(query.get('line'));
  return { path: query.get('path'), line: Number.isInteger(line) && line > 0 ? line : null, list: query.get('list') === 'changes' ? 'changes' : 'tree' };
}

/** The address of a place in a session's files. */
export function filesHref(sessionId: string, to: Partial<FilesAddress>): string {
  const given = Object.entries({ path: to.path, line: to.line, list: to.list === 'changes' ? 'changes' : null });
  const query = new URLSearchParams(given.flatMap(([key, value]) => (value == null ? [] : [[key, String(value)]])));
  return `#/s/${encodeURIComponent(sessionId)}/files${query.size > 0 ? `?${query}` : ''}`;
}

/** The artifact that the address is about. */
export const chosenArtifact: ReadonlySignal<string | null> = computed(() => {
  void route.value; // a change of the fragment comes by the route
  return new URLSearchParams(location.hash.split('?')[1] ?? '').get('artifact');
});

/** The address of one of a session's artifacts, or of their list. */
export function artifactHref(sessionId: string, artifact?: string): string {
  const list = write({ view: 'session', id: sessionId, tab: 'artifacts' });
  return artifact === undefined ? list : `${list}?${new URLSearchParams({ artifact })}`;
}
