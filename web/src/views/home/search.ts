/**
 * Searching titles and contents: what is typed is asked for when the typing pauses.
 *
 * Rule 1: an answer that comes after the next question is thrown away.
 * Rule 2: a word without a letter or a digit is not asked for: there is nothing of it in the index.
 * Rule 3: what could not be asked for is asked for again as soon as the hub is there.
 */
import { signal, type ReadonlySignal } from '@preact/signals';
import type { SearchPage } from '../../generated/api';
import { asHubError, http, pathOf, type HubError } from '../../hub/http';
import { onForgetPersonalData } from '../../hub/personal_data';
import { listState, keepListState } from './list_state';

const PAUSE_MS = 250;
const READ_ON_MS = 1_500;
const MOST = 50;

interface Search {
  query: string;
  busy: boolean;
  page?: SearchPage;
  error?: HubError;
}

const current = signal<Search>({ query: listState().query, busy: false });
let timer: ReturnType<typeof setTimeout> | undefined;

export const search: ReadonlySignal<Search> = current;

export function searchFor(query: string): void {
  clearTimeout(timer);
  keepListState({ query });
  const trimmed = query.trim();
  if (!isSearchable(trimmed)) {
    current.value = { query, busy: false };
    return;
  }
  const { page } = current.peek();
  current.value = { query, busy: true, ...(page ? { page } : {}) };
  timer = setTimeout(() => void runSearch(query, trimmed), PAUSE_MS);
}

/** Whether there is anything in it to search for. */
export function isSearchable(query: string): boolean {
  return /[\p{L}\p{N}]/u.test(query);
}

/** The hub is there: ask for what has no answer yet. */
export function searchAgain(): void {
  const { query, busy, page, error } = current.peek();
  if (!busy && (error || !page)) searchFor(query);
}

onForgetPersonalData(() => searchFor(''));

async function runSearch(query: string, trimmed: string): Promise<void> {
  try {
    const page = await http.get<SearchPage>(pathOf(['search'], { q: trimmed, limit: MOST }));
    if (current.peek().query !== query) return;
    current.value = { query, busy: !page.complete, page };
    if (!page.complete) timer = setTimeout(() => void runSearch(query, trimmed), READ_ON_MS);
  } catch (error) {
    if (current.peek().query === query) current.value = { query, busy: false, error: asHubError(error) };
  }
}
