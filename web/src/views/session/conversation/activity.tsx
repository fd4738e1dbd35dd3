// Below the last row: prompts on their way, and that the agent is at work.

import type { JSX } from 'preact';
import type { SendMessageCommand } from '../../../generated/agent-context';
import { connection } from '../../../hub/connection';
import { ANOTHER_LOGIN } from '../../../hub/outbox';
import { t } from '../../../i18n';
import type { OutgoingPrompt } from '../../../model/outgoing_prompts';
import { Button, Elapsed, Icon, Spinner } from '../../../ui';
import { OwnText } from '../rows/own_text';
import { useSessionView } from '../view_state';

export function Activity(): JSX.Element {
  const { session } = useSessionView();
  return (
    <div class="session-after">
      {session.prompts.value.map((prompt) => <OnItsWay key={prompt.sent.id} prompt={prompt} />)}
      <AtWork />
      <Untouched />
    </div>
  );
}

/** Nothing has happened yet. */
function Untouched(): JSX.Element | null {
  const { session } = useSessionView();
  const begun = session.timeline.items.value.some((item) => item.kind !== 'notice');
  const { turn, status, watchOnly } = session.state.value;
  if (begun || session.hasOlder.value || turn || session.prompts.value.length > 0) return null;
  return (
    <div class="session-empty">
      <p>{t('session.empty')}</p>
      {!watchOnly && status !== 'completed' && <p class="session-faint">{t('session.emptyHint')}</p>}
    </div>
  );
}

function OnItsWay({ prompt }: { prompt: OutgoingPrompt }): JSX.Element {
  const { sent } = prompt;
  const { message, attachments } = sent.command as SendMessageCommand;
  const again = (): void => {
    sent.drop();
    connection.command(sent.sessionId, sent.command);
  };
  void connection.outbox.value; // What became of it is written into it: the list says when.
  return (
    <div class="session-row session-asked session-on-its-way" role="article" aria-label={t('session.saidBy', { who: t('session.you') })}>
      <div class="session-bubble">
        <OwnText text={message} rowKey={`o:${sent.id}`} />
        {attachments && attachments.length > 0 && <p class="session-faint">{t('session.withImages', { n: attachments.length })}</p>}
      </div>
      <div class="session-tools session-tools-shown">
        {sent.state === 'failed'
          ? <>
            <span class="session-error-text">{t('session.promptFailed', { why: sent.error?.message ?? '' })}</span>
            {sent.error?.code !== ANOTHER_LOGIN && <Button kind="quiet" icon="refresh" onClick={again}>{t('session.promptAgain')}</Button>}
            <Button kind="quiet" onClick={() => sent.drop()}>{t('session.promptDrop')}</Button>
          </>
          : sent.state === 'queued'
            ? <><Icon name="clock" size={14} /><span>{t('session.promptQueued')}</span><Button kind="quiet" onClick={() => sent.drop()}>{t('session.promptDrop')}</Button></>
            : <><Spinner size={14} /><span>{t('session.promptSending')}</span></>}
      </div>
    </div>
  );
}

function AtWork(): JSX.Element | null {
  const { session } = useSessionView();
  const { turn, status } = session.state.value;
  if (!turn || !session.atEnd.value) return null;
  if (status === 'waiting_for_approval' || status === 'waiting_for_input' || status === 'paused') return null;
  const progress = session.timeline.progress.value;
  return (
    <div class="session-at-work" aria-hidden="true">
      <span class="session-dots"><i /><i /><i /></span>
      <span>{session.timeline.waiting.value ? t('session.typing') : progress?.label ?? t(status === 'thinking' ? 'session.thinking' : 'session.working')}</span>
      {progress?.percentage !== undefined && <span class="session-took">{Math.round(progress.percentage)} %</span>}
      <Elapsed since={turn.startedAt} class="session-took" />
    </div>
  );
}
