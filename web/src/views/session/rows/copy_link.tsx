// Copies the address of one event of the session.

import type { JSX } from 'preact';
import { t } from '../../../i18n';
import { sessionHref } from '../../../route';
import { copyText, IconButton, toast } from '../../../ui';
import { useSessionView } from '../view_state';

export function CopyLink({ seq }: { seq: number }): JSX.Element {
  const { session } = useSessionView();
  return <IconButton icon="link" size={16} label={t('session.link')} onClick={() => void copyLink(session.sessionId, seq)} />;
}

export async function copyLink(sessionId: string, seq?: number): Promise<void> {
  const address = `${location.origin}${location.pathname}${sessionHref(sessionId, seq)}`;
  if (await copyText(address)) toast(t('session.linkCopied'), 'good');
}
