/**
 * Where the reader of the list is: how far down, which filters and search are set, which groups are shown whole. It is kept while one
 * looks elsewhere, and over a reload.
 *
 * Rule 1: each tab has its own. It is of who reads: it goes when another person may come (hub/leave.ts).
 * Rule 2: the list may still grow when one comes back: the place is reached as soon as it is there, unless the reader moves first.
 */
import { effect, signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { onForgetPersonalData } from '../../hub/personal_data';
import type { Group } from './groups';

const KEY = 'trunkline.place.home';
const WRITE_PAUSE_MS = 200;

interface ListState {
  top: number;
  agent: string;
  cwd: string;
  node: string;
  query: string;
  whole: readonly Group[];
}

const BEGINNING: ListState = { top: 0, agent: '', cwd: '', node: '', query: '', whole: [] };

let place = stored();
let timer: ReturnType<typeof setTimeout> | undefined;
addEventListener('pagehide', store);

export function listState(): ListState {
  return place;
}

export function keepListState(change: Partial<ListState>): void {
  place = { ...place, ...change };
  timer ??= setTimeout(store, WRITE_PAUSE_MS); // scrolling changes it with every frame
}

/** What the list is narrowed to. */
export const filters = { agent: signal(place.agent), cwd: signal(place.cwd), node: signal(place.node) };

effect(() => keepListState({ agent: filters.agent.value, cwd: filters.cwd.value, node: filters.node.value }));
onForgetPersonalData(() => {
  clearFilters();
  place = BEGINNING;
});

export function clearFilters(): void {
  filters.agent.value = filters.cwd.value = filters.node.value = '';
}

/** What moves the page, or may be about to. */
const MOVES = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const;

/** Come back to where one was, and remember where one goes. */
export function useListState(list: { current: HTMLElement | null }): void {
  useLayoutEffect(() => {
    let wanted: number | null = place.top;
    const reach = (): void => {
      if (wanted === null) return;
      scrollTo({ top: wanted, behavior: 'instant' });
      if (scrollY >= wanted - 1) wanted = null;
    };
    const moved = (): void => void (wanted = null);
    const scrolled = (): void => {
      if (wanted === null) keepListState({ top: Math.round(scrollY) });
    };
    const grown = new ResizeObserver(reach);
    if (list.current) grown.observe(list.current);
    reach();
    addEventListener('scroll', scrolled, { passive: true });
    MOVES.forEach((name) => addEventListener(name, moved, { passive: true }));
    return () => {
      grown.disconnect();
      removeEventListener('scroll', scrolled);
      MOVES.forEach((name) => removeEventListener(name, moved));
    };
  }, []);
}

function stored(): ListState {
  try {
    const found = JSON.parse(sessionStorage.getItem(KEY) ?? '{}') as ListState;
    return { ...BEGINNING, ...found };
  } catch {
    return BEGINNING; // A browser that keeps nothing begins at the top.
  }
}

function store(): void {
  clearTimeout(timer);
  timer = undefined;
  try {
    sessionStorage.setItem(KEY, JSON.stringify(place));
  } catch {
    // It lives as long as the page.
  }
}
