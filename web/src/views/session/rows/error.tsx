// A turn that failed: what happened, and a way to try again.
//
// Rule: that it failed is said once. While the head says it, this says why.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { SendMessageCommand } from '../../../generated/agent-context';
import type { SessionState } from '../../../generated/api';
import { connection, type Sent } from '../../../hub/connection';
import { t } from '../../../i18n';
import { Json } from '../../../content/json';
import type { ErrorItem, Item } from '../../../model/timeline/items';
import { Button, Icon, toast } from '../../../ui';
import { messageOf, sentBefore } from '../../composer/pictures';
import { isHeldBack } from '../../composer/queue';
import { useOpenRow, useSessionView } from '../view_state';

/** Whether nothing came since: only the newest failure can be tried again, whoever tried an older one. */
export function isNewest(items: readonly Item[], failed: Item): boolean {
  for (let at = items.length - 1; at >= 0; at -= 1) {
    const item = items[at];
    if (item === undefined || item.key === failed.key) return true;
    if (item.kind === 'error' || (item.kind === 'message' && item.role === 'user')) return false;
  }
  return true;
}

/** Whether something on its way to the hub is this prompt once more: a press before a reload counts, too. */
export function isAgain(sent: Pick<Sent, 'sessionId' | 'command' | 'state'>, sessionId: string, prompt: string | undefined): boolean {
  return sent.sessionId === sessionId && sent.state !== 'failed' && sent.command.command === 'send_message' && sent.command.message === prompt;
}

/** What is tried again was before those that wait behind its failure, and so is sent as one that goes behind nothing. */
function inItsOldPlace(command: SendMessageCommand, view: SessionState): SendMessageCommand {
  return isHeldBack(view) ? { ...command, _meta: { whenBusy: 'reject' } } : command;
}

export function ErrorRow({ item }: { item: ErrorItem }): JSX.Element {
  const { session } = useSessionView();
  const [open, toggle] = useOpenRow(item.key);
  const [again, setAgain] = useState(false);
  const { error, prompt, pictures } = item;
  const retry = async (): Promise<void> => {
    setAgain(true);
    const found = await sentBefore(pictures);
    if (found) connection.command(session.sessionId, inItsOldPlace(messageOf(prompt!, found), session.state.peek()));
    else toast(t('session.retryWithoutPictures'), 'bad');
  };
  const view = session.state.value;
  const waits = connection.outbox.value.some((sent) => isAgain(sent, session.sessionId, prompt));
  const newest = isNewest(session.timeline.items.value, item);
  const canRetry = prompt !== undefined && (prompt !== '' || pictures.length > 0) && !view.watchOnly && (again || waits || (view.turn === null && newest));
  return (
    <div class="session-banner" role="group" aria-label={t('session.failedTitle')}>
      <Icon name="warning" size={18} />
      <div class="session-banner-text">
        {!(newest && view.status === 'error') && <p><b>{t('session.failedTitle')}</b></p>}
        <p class="session-plain">{error.message}</p>
        {open && <p><code>{error.code}</code></p>}
        {open && error.details !== undefined && <Json value={error.details} />}
      </div>
      <div class="session-banner-actions">
        <Button kind="quiet" expanded={open} onClick={toggle}>{t('session.errorDetails')}</Button>
        {canRetry && <Button icon="refresh" disabled={again || waits} onClick={() => void retry()}>{again || waits ? t('session.retried') : t('session.retry')}</Button>}
      </div>
    </div>
  );
}
