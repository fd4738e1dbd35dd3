// The conversation of a session: its rows, where the reader is in them, and how the reader comes to the newest.

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { t } from '../../../i18n';
import type { Row } from '../../../model/timeline/rows';
import { Icon, Spinner } from '../../../ui';
import { Activity } from './activity';
import { useSessionView, type SessionViewState } from '../view_state';
import { List } from './list';
import { readingPositionIn } from './reading_position';
import { reveal } from '../view_state';
import { guessHeight, RowView } from '../rows/row';

const TARGET_MS = 4_000;

/** `seq`: the entry that the address names. */
export function Conversation({ seq }: { seq: number | undefined }): JSX.Element {
  const viewState = useSessionView();
  const { session, scroller, rows } = viewState;
  const target = useTarget(viewState, seq);
  const ready = session.loadState.value === 'ready';
  useReadingPlace(viewState, ready, seq !== undefined);
  const draw = (row: Row): JSX.Element => <RowView key={row.key} row={row} target={row.key === target} />;
  return (
    <div class="session-conversation">
      <h2 class="visually-hidden">{t('session.conversation')}</h2>
      <List rows={rows.value} scroller={scroller} draw={draw} estimate={guessHeight} label={t('session.feed')} busy={!ready}
        before={<Before />} after={<Activity />} />
      <ToNewest />
    </div>
  );
}

function Before(): JSX.Element {
  const { session } = useSessionView();
  if (session.hasOlder.value) return <div class="session-before"><Spinner size={16} /><span>{t('session.older')}</span></div>;
  return <div class="session-before-start" />;
}

/** The way back to the end, and how much has come there meanwhile. */
function ToNewest(): JSX.Element | null {
  const { session, scroller } = useSessionView();
  const left = useRef(0);
  const atEnd = scroller.stuck.value && session.atEnd.value;
  const stuck = atEnd && !scroller.still.value;
  const count = session.timeline.items.value.length;
  if (stuck) left.current = count;
  if (stuck) return null;
  const fresh = session.atEnd.value ? Math.max(0, count - left.current) : 0;
  if (atEnd && fresh === 0) return null;
  const go = (): void => void session.toEnd().then(() => scroller.toEnd());
  return (
    <button type="button" class={fresh > 0 ? 'session-newest session-newest-fresh' : 'session-newest'} onClick={go} aria-label={t('session.newest')} title={t('session.newest')}>
      <Icon name="arrow-down" size={16} />{fresh > 0 && <span>{t('session.newOnes', { n: fresh })}</span>}
    </button>
  );
}

/** Where the reader was, when the session is openRows again. */
function useReadingPlace({ session, scroller }: SessionViewState, ready: boolean, linked: boolean): void {
  const done = useRef(false);
  const [place] = useState(() => (linked ? undefined : readingPositionIn(session.sessionId))); // Read before the first drawing forgets it.
  useLayoutEffect(() => {
    if (!ready || done.current) return;
    done.current = true;
    if (place === undefined) return scroller.follow();
    void session.show(place.seq).then((key) => requestAnimationFrame(() => {
      if (!scroller.toRow(place.key, place.below) && key !== undefined) scroller.toRow(key, place.below);
    }), () => undefined);
  }, [ready]);
}

/** Shows the entry that the address names: loads what is around it, opens what it is in, marks it for a while. */
function useTarget(viewState: SessionViewState, seq: number | undefined): string | undefined {
  const target = useSignal<string | undefined>(undefined);
  useEffect(() => {
    if (seq === undefined) return undefined;
    let given = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    void loaded(viewState).then(() => viewState.session.show(seq)).then(() => {
      if (!given) return;
      target.value = reveal(viewState, seq);
      requestAnimationFrame(() => target.peek() !== undefined && viewState.scroller.toRow(target.peek()!));
      timer = setTimeout(() => (target.value = undefined), TARGET_MS);
    }, () => undefined);
    return () => {
      given = false;
      clearTimeout(timer);
    };
  }, [seq]);
  return target.value;
}

function loaded({ session }: SessionViewState): Promise<void> {
  return new Promise((resolve) => {
    const stop = session.loadState.subscribe((state) => state === 'ready' && queueMicrotask(() => (stop(), resolve())));
  });
}
