/** What was given and has not reached the hub, or was refused: always in sight while there is any. */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { ACPCommand } from '../generated/agent-context';
import { connection, type Sent } from '../hub/connection';
import { sessionList } from '../hub/session_list';
import { t } from '../i18n';
import { Button, IconButton, now, Sheet } from '../ui';

/** An answer usually comes at once; only what takes longer is worth a word. */
const UNSEEN_MS = 1_000;

export function OutboxButton(): JSX.Element | null {
  const open = useSignal(false);
  const shown = connection.outbox.value.length ? unsent() : [];
  useEffect(() => {
    if (!shown.length) open.value = false;
  }, [shown.length]);
  if (!shown.length) return null;
  return (
    <>
      <Button kind="quiet" icon="queue" onClick={() => (open.value = true)}>
        <span class="shell-outbox-count" aria-hidden="true">{shown.length}</span>
        <span class="shell-link-text">{t('common.outbox', { n: shown.length })}</span>
      </Button>
      {open.value && (
        <Sheet title={t('common.outboxTitle')} onClose={() => (open.value = false)}>
          <ul class="shell-outbox">{shown.map((sent) => <OutboxLine key={sent.id} sent={sent} />)}</ul>
        </Sheet>
      )}
    </>
  );
}

function unsent(): Sent[] {
  return connection.outbox.value.filter((sent) => sent.state === 'failed' || now.value - sent.at > UNSEEN_MS);
}

function OutboxLine({ sent }: { sent: Sent }): JSX.Element {
  const title = sessionList.sessions.value.find((view) => view.id === sent.sessionId)?.title;
  return (
    <li>
      <span class="shell-outbox-text">{wordsOf(sent.command)}</span>
      <small class={sent.state === 'failed' ? 'shell-outbox-failed' : ''}>{[title, stateOf(sent)].filter(Boolean).join(' · ')}</small>
      <IconButton icon="trash" label={t('common.drop')} onClick={() => sent.drop()} />
    </li>
  );
}

function stateOf(sent: Sent): string {
  if (sent.state === 'failed') return t('common.outboxFailed', { why: sent.error?.message ?? '' });
  return sent.state === 'sent' ? t('common.outboxSent') : t('common.outboxQueued');
}

/** The text of a prompt, or what is to be done. */
export function wordsOf(command: ACPCommand): string {
  return command.command === 'send_message' ? command.message : t(`common.command_${command.command}`);
}
