// Below the last row: prompts on their way, and that the agent is at work.

import type { JSX } from 'preact';
import type { SendMessageCommand } from '../../../generated/agent-context';
import { link } from '../../../hub/connection';
import { ANOTHER_LOGIN } from '../../../hub/outbox';
import { t } from '../../../i18n';
import type { OwnPrompt } from '../../../model/outgoing_prompts';
import { Button, Elapsed, Icon, Spinner } from '../../../ui';
import { useRoom } from '../context';

export function Activity(): JSX.Element {
  const { story } = useRoom();
  return (
    <div class="session-after">
      {story.prompts.value.map((prompt) => <OnItsWay key={prompt.sent.id} prompt={prompt} />)}
      <AtWork />
      <Untouched />
    </div>
  );
}

/** Nobody has said anything yet. */
function Untouched(): JSX.Element | null {
  const { story } = useRoom();
  const said = story.timeline.items.value.some((item) => item.kind !== 'notice');
  const { turn, status, watchOnly } = story.view.value;
  if (said || story.hasOlder.value || turn || story.prompts.value.length > 0) return null;
  return (
    <div class="session-empty">
      <p>{t('session.empty')}</p>
      {!watchOnly && status !== 'completed' && <p class="session-faint">{t('session.emptyHint')}</p>}
    </div>
  );
}

function OnItsWay({ prompt }: { prompt: OwnPrompt }): JSX.Element {
  const { sent } = prompt;
  const { message, attachments } = sent.command as SendMessageCommand;
  const again = (): void => {
    sent.drop();
    link.command(sent.sessionId, sent.command);
  };
  void link.outbox.value; // What became of it is written into it: the list says when.
  return (
    <div class="session-row session-asked session-on-its-way" role="article" aria-label={t('session.saidBy', { who: t('session.you') })}>
      <div class="session-bubble">
        <p class="session-plain" dir="auto">{message}</p>
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
  const { story } = useRoom();
  const { turn, status } = story.view.value;
  if (!turn || !story.atEnd.value) return null;
  if (status === 'waiting_for_approval' || status === 'waiting_for_input' || status === 'paused') return null;
  const progress = story.timeline.progress.value;
  return (
    <div class="session-at-work" aria-hidden="true">
      <span class="session-dots"><i /><i /><i /></span>
      <span>{story.timeline.waiting.value ? t('session.typing') : progress?.label ?? t(status === 'thinking' ? 'session.thinking' : 'session.working')}</span>
      {progress?.percentage !== undefined && <span class="session-took">{Math.round(progress.percentage)} %</span>}
      <Elapsed since={turn.startedAt} class="session-took" />
    </div>
  );
}
