/**
 * What stands in the composer's place while another program has the session: what can be done, in words, before it is done.
 *
 * Rule 1: a button that cannot be pressed says why. When the other program has ended, it can be.
 * Rule 2: what the hub says in words is shown as it says it.
 */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { HandoverView, Way } from '../../generated/api';
import { handoverOf, takeOver } from '../../hub/handover';
import { asHubError } from '../../hub/http';
import { sessionList } from '../../hub/session_list';
import { t, type Key } from '../../i18n';
import type { OpenSession } from '../../model/open_session';
import { go } from '../../route';
import { Button, Copy, Icon, Spinner } from '../../ui';

/** How long is waited before the hub is asked again after it could not be. */
const RETRY_MS = 5_000;
const NAMES: Record<Way['how'], Key> = { resume: 'composer.continueHere', fork: 'composer.fork', summary: 'composer.continueAnew' };

export function Elsewhere({ session }: { session: OpenSession }): JSX.Element {
  const { sessionId } = session;
  const [handover, look] = useHandover(session);
  const [busy, setBusy] = useState<Way['how'] | null>(null);
  const [problem, setProblem] = useState('');
  const act = async (how: Way['how']): Promise<void> => {
    setBusy(how);
    setProblem('');
    try {
      const view = await takeOver(sessionId, how);
      sessionList.put(view);
      if (view.id !== sessionId) go({ view: 'session', id: view.id, tab: 'timeline' });
    } catch (error) {
      setProblem(asHubError(error).message);
      look();
    }
    setBusy(null);
  };
  if (handover === null) return <p class="composer-cannot"><Spinner size={16} label={t('common.loading')} /></p>;
  return (
    <section class="composer-elsewhere" aria-label={t('composer.elsewhere')}>
      <p class="composer-elsewhere-words" role="status"><Icon name="eye" size={16} /> {t(handover.running ? 'composer.runsElsewhere' : 'composer.isElsewhere')}</p>
      {handover.ways.map((way) => (
        <div key={way.how} class="composer-way">
          <Button kind={way.how === 'fork' ? 'plain' : 'primary'} busy={busy === way.how} disabled={!way.possible || busy !== null} onClick={() => void act(way.how)}>{t(NAMES[way.how])}</Button>
          <span>{way.words}</span>
        </div>
      ))}
      {handover.resumeCommand !== null && <Command command={handover.resumeCommand} words={t(handover.running ? 'composer.commandOther' : 'composer.command')} />}
      {problem && <p class="composer-problem" role="alert"><Icon name="warning" size={16} /> {problem}</p>}
    </section>
  );
}

/** A command to be typed in a terminal. */
export function Command({ command, words }: { command: string; words: string }): JSX.Element {
  return (
    <p class="composer-command">
      <span>{words}</span> <code>{command}</code> <Copy text={command} label={t('composer.copyCommand')} />
    </p>
  );
}

/** Who has the session, kept true; and what looks again. */
function useHandover(session: OpenSession): [HandoverView | null, () => void] {
  const { sessionId } = session;
  const [handover, setHandover] = useState<HandoverView | null>(null);
  const [asked, setAsked] = useState(0);
  const status = session.state.value.status; // who goes on elsewhere begins a turn
  useEffect(() => {
    let isOn = true;
    const follow = async (): Promise<void> => {
      let wait = false;
      while (isOn) {
        try {
          const next = await handoverOf(sessionId, wait);
          if (isOn) setHandover(next);
          if (!next.running) return;
          wait = true;
        } catch (error) {
          if (asHubError(error).status >= 400) return;
          await new Promise((over) => setTimeout(over, RETRY_MS));
        }
      }
    };
    void follow();
    return () => {
      isOn = false;
    };
  }, [sessionId, asked, status]);
  return [handover, () => setAsked((before) => before + 1)];
}
