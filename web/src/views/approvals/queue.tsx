/**
 * Everything that waits for somebody, in all sessions.
 *
 * Rule 1: the selection is an ask, not a place in the list. When it goes, what took its place is selected, and keys rest for a moment.
 * Rule 2: places hold still while somebody points at the list or has a card in focus; see steady.ts.
 * Rule 3: what is decided elsewhere while it is looked at does not vanish without a word: it says by whom. While somebody types in
 * it, it keeps its fields as well; see typing.ts.
 * Rule 4: who decides with keys goes on from the next card, not from the top of the page. Only keys that do something are named. One
 * that is pressed and does nothing says why on the card (refusals.tsx).
 */
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks';
import { loadAgents } from '../../hub/agents';
import { connection } from '../../hub/connection';
import { askId, pending, type Pending } from '../../hub/session_list';
import { t } from '../../i18n';
import { sessionHref } from '../../route';
import { Icon } from '../../ui';
import { mayDo } from '../controls/availability';
import { ApprovalCard, QuestionForm } from './card/card';
import { HeldKey, isForPage, press, selectionAfter, Sentence, stepFrom } from './keys';
import { refuse, type Refusal } from './refusals';
import { ResolutionLine } from './resolution_line';
import { resolutions, type Resolution } from './resolutions';
import { lookAtCards, placesAfter, REST_MS } from './steady';
import { fieldOf, typedIn } from './typing';
import '../../style/shared_views.css';

const KEPT_DECIDED = 5;
const DECIDES: ReadonlySet<string> = new Set(['a', 'd', 'e']);

export function ApprovalsQueue(): JSX.Element {
  const waiting = pending.value;
  const { places, hold } = usePlaces(waiting);
  const open = new Set(waiting.map(askId));
  const selected = useSelection(places.map(askId).filter((ask) => open.has(ask)));
  const heading = useRef<HTMLHeadingElement>(null);
  useNextInFocus(open, selected, heading);
  useEffect(() => void loadAgents(), []); // for their names
  return (
    <div class="approvals-view">
      <header class="approvals-title">
        <h1 ref={heading} tabIndex={-1}>{t('approvals.title')}</h1>
        {waiting.length > 0 && <p role="status">{t('approvals.count', { n: waiting.length })}</p>}
      </header>
      {places.length === 0 && <Nothing />}
      <ol class="approvals-list" aria-label={t('approvals.title')} {...hold}>
        {places.map((ask) => <Place key={askId(ask)} ask={ask} over={!open.has(askId(ask)) && typedIn.value !== askId(ask)} selected={askId(ask) === selected} />)}
      </ol>
      <Decided waiting={waiting} places={places} />
      {waiting.length > 0 && <Keys selected={waiting.find((ask) => askId(ask) === selected)} />}
    </div>
  );
}

/** A card at its place. What is over keeps the room that it had, so that nothing moves up. */
function Place({ ask, over, selected }: { ask: Pending; over: boolean; selected: boolean }): JSX.Element {
  const place = useRef<HTMLLIElement>(null);
  const height = useRef(0);
  useLayoutEffect(() => {
    if (!over && place.current) height.current = place.current.offsetHeight;
  });
  const names = [selected ? 'approvals-selected' : '', over ? 'approvals-over' : ''].filter(Boolean).join(' ');
  return (
    <li ref={place} class={names || undefined} style={over ? { minHeight: `${height.current}px` } : undefined} aria-current={selected || undefined}>
      {ask.approval ? <ApprovalCard pending={ask} over={over} /> : <QuestionForm pending={ask} over={over} />}
    </li>
  );
}

interface Held {
  ref: { current: HTMLOListElement | null };
  onPointerEnter: (event: PointerEvent) => void;
  onPointerMove: (event: PointerEvent) => void;
  onPointerLeave: () => void;
  onFocusOut: () => void;
}

function usePlaces(waiting: Pending[]): { places: Pending[]; hold: Held } {
  const list = useRef<HTMLOListElement>(null);
  const pointed = useRef(false);
  const before = useRef<Pending[]>([]);
  const [, draw] = useReducer((count: number) => count + 1, 0);
  const held = pointed.current || (list.current?.contains(document.activeElement) ?? false);
  const places = placesAfter(before.current, waiting, held, askId);
  before.current = places;
  useLayoutEffect(lookAtCards);
  useEffect(() => watchSize(list.current), []);
  const points = (event: PointerEvent): void => void (pointed.current = event.pointerType !== 'touch');
  const leaves = (): void => {
    pointed.current = false;
    draw(0);
  };
  return { places, hold: { ref: list, onPointerEnter: points, onPointerMove: points, onPointerLeave: leaves, onFocusOut: () => void setTimeout(() => draw(0)) } };
}

/** A card that grows or shrinks moves those below it. */
function watchSize(list: Element | null): (() => void) | undefined {
  if (list === null || typeof ResizeObserver === 'undefined') return undefined;
  const observer = new ResizeObserver(lookAtCards);
  observer.observe(list);
  return () => observer.disconnect();
}

function Nothing(): JSX.Element {
  return (
    <div class="approvals-none">
      <Icon name="check" size={28} />
      <p>{t('approvals.none')}</p>
      <p class="approvals-note">{t('approvals.noneHint')}</p>
    </div>
  );
}

/** What was on this screen and is decided now, the newest first. */
function Decided({ waiting, places }: { waiting: Pending[]; places: Pending[] }): JSX.Element | null {
  const seen = useRef(new Map<string, Pending>());
  waiting.forEach((ask) => seen.current.set(askId(ask), ask));
  const open = new Set(places.map(askId));
  const known = resolutions.value;
  const gone = [...seen.current.values()].flatMap((ask): [Pending, Resolution][] => {
    const resolution = known.get(askId(ask));
    return resolution && !open.has(askId(ask)) ? [[ask, resolution]] : [];
  });
  if (!gone.length) return null;
  gone.sort(([, one], [, other]) => other.at - one.at);
  return (
    <section class="approvals-decided" aria-label={t('approvals.decided')}>
      <h2>{t('approvals.decided')}</h2>
      <ul>
        {gone.slice(0, KEPT_DECIDED).map(([ask, resolution]) => (
          <li key={askId(ask)}>
            <a href={sessionHref(ask.sessionId)}>{ask.approval?.title || ask.question?.question || ask.title}</a>
            <ResolutionLine resolution={resolution} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Keys({ selected }: { selected: Pending | undefined }): JSX.Element {
  const decides = selected !== undefined && mayDecide(selected);
  return (
    <p class="approvals-keys">
      <span class="visually-hidden">{t('approvals.keys')}</span>
      <span><kbd>j</kbd> <kbd>k</kbd> {t('approvals.keyNext')}</span>
      {decides && <span><kbd>a</kbd> {t('approvals.keyApprove')}</span>}
      {decides && <span><kbd>d</kbd> {t('approvals.keyDeny')}</span>}
      {decides && selected.approval?.editable && <span><kbd>e</kbd> {t('approvals.keyEdit')}</span>}
    </p>
  );
}

function mayDecide(ask: Pending): boolean {
  return mayDo(connection.scope.value, ask.question?.cap ? 'control' : 'approve');
}

/** The focus is on a card that was decided here: it goes on to what is selected now, or to the heading where nothing waits. */
function useNextInFocus(open: ReadonlySet<string>, selected: string | null, heading: { current: HTMLElement | null }): void {
  const ends = resolutions.value;
  useLayoutEffect(() => {
    const active = document.activeElement;
    const ask = active instanceof HTMLElement && !fieldOf(active) ? active.dataset['ask'] : undefined;
    if (ask === undefined || open.has(ask) || !ends.get(ask)?.here) return;
    if (selected !== null) showCard(selected);
    else heading.current?.focus();
  });
}

function useSelection(asks: string[]): string | null {
  const [selected, setSelected] = useState<string | null>(asks[0] ?? null);
  const before = useRef(asks);
  const restUntil = useRef(0);
  const current = selectionAfter(before.current, asks, selected);
  // What a key acts on, known at once: a second key may come before the first one's choice is drawn.
  const chosen = useRef(current);
  useLayoutEffect(() => {
    before.current = asks;
    chosen.current = current;
    if (current === selected) return;
    if (selected !== null) restUntil.current = performance.now() + REST_MS;
    setSelected(current);
  });
  const sentence = useSentence();
  const held = useMemo(() => new HeldKey(), []);
  const refuseKey = (why: Refusal): void => {
    refuse(chosen.current, why);
    if (chosen.current) bringIntoView(chosen.current);
  };
  useLayoutEffect(() => {
    const decide = (event: KeyboardEvent): void => {
      const now = performance.now();
      const outcome = event.repeat ? 'held' : now < restUntil.current ? 'next' : press(chosen.current, event.key);
      if (outcome === null) return;
      event.preventDefault();
      if (outcome === 'done') return held.did(event.key);
      refuseKey(outcome);
      if (event.key === 'd' && outcome !== 'held') sentence.missed(now);
    };
    const pressed = (event: KeyboardEvent): void => {
      if (held.goesOn(event)) return event.preventDefault();
      const forPage = isForPage(event);
      if (sentence.goesOn(event, performance.now())) {
        if (forPage && event.key.length === 1) refuseKey('typing');
        return;
      }
      if (!forPage) return;
      if (event.key === 'j' || event.key === 'k') {
        const next = stepFrom(asks, chosen.current, event.key === 'j' ? 1 : -1);
        chosen.current = next;
        setSelected(next);
        restUntil.current = 0;
        if (next) showCard(next);
        event.preventDefault();
      } else if (DECIDES.has(event.key)) decide(event);
    };
    document.addEventListener('keydown', pressed);
    return () => document.removeEventListener('keydown', pressed);
  });
  return current;
}

function useSentence(): Sentence {
  const sentence = useMemo(() => new Sentence(), []);
  useEffect(() => {
    const came = (event: FocusEvent): void => sentence.came(event.target);
    const left = (): void => queueMicrotask(() => sentence.left(performance.now()));
    document.addEventListener('focusin', came);
    document.addEventListener('focusout', left);
    return () => {
      document.removeEventListener('focusin', came);
      document.removeEventListener('focusout', left);
    };
  }, []);
  return sentence;
}

function showCard(ask: string): void {
  const card = document.querySelector<HTMLElement>(`[data-ask="${CSS.escape(ask)}"]`);
  card?.focus({ preventScroll: true });
  bringIntoView(ask);
}

function bringIntoView(ask: string): void {
  document.querySelector(`[data-ask="${CSS.escape(ask)}"]`)?.scrollIntoView({ block: 'nearest' });
}
