// A run of calls in one line that says what happened.

import type { JSX } from 'preact';
import { t } from '../../../i18n';
import { summaryOf } from '../../../model/timeline/call_summary';
import type { Row } from '../../../model/timeline/rows';
import { Icon, Spinner } from '../../../ui';
import { Card, CardIcon } from './card';
import { useSessionView } from '../view_state';
import { decisionOnAll } from './decision';
import { summaryInWords } from './labels';
import { LineCounts } from './tool_card';

export function GroupRow({ row }: { row: Extract<Row, { kind: 'group' }> }): JSX.Element {
  const { openRows, scroller } = useSessionView();
  for (const member of row.members) if (member.kind === 'tool') void member.call.value; // Draw again when one of them goes on.
  const summary = summaryOf(row.members);
  const toggle = (): void => {
    scroller.hold(row.key);
    openRows.set(row.key, !row.open);
  };
  return (
    <Card icon={<CardIcon name="layers" />} look="group" open={row.open} onToggle={toggle} title={summaryInWords(row.members)}
      note={decisionOnAll(row.members)} end={<>
        <LineCounts added={summary.linesAdded} removed={summary.linesRemoved} />
        {summary.failed > 0 && <span class="session-exit">{t('session.didFailed', { n: summary.failed })}</span>}
        <GroupMark summary={summary} />
      </>} />
  );
}

/** How the run stands: a check only where all of it was done. */
function GroupMark({ summary: { running, waiting, failed, denied } }: { summary: ReturnType<typeof summaryOf> }): JSX.Element | null {
  if (running.count > 0) return <span class="session-mark session-mark-runs"><Spinner size={16} label={t('session.didRunning', { n: running.count })} /></span>;
  if (waiting.count > 0) return <span class="session-mark session-mark-waits"><Icon name="shield" size={16} label={t('session.callWaits')} /></span>;
  if (failed > 0) return null;
  if (denied > 0) return <span class="session-mark"><Icon name="minus" size={16} label={t('session.callDenied')} /></span>;
  return <span class="session-mark session-mark-done"><Icon name="check" size={16} label={t('session.callDone')} /></span>;
}
