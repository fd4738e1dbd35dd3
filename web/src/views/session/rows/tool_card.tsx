// One call of a tool as a card: closed, unless it failed.

import type { JSX } from 'preact';
import { t } from '../../../i18n';
import { VisibleText } from '../../../content/visible_text';
import { isOver } from '../../../model/timeline/tool_call_state';
import type { Call, ToolItem } from '../../../model/timeline/items';
import { Icon, Spinner } from '../../../ui';
import { Card, CardIcon } from './card';
import { useOpenRow, useSessionView } from '../view_state';
import { durationOf, iconOf, subjectOf } from './labels';
import { CopyLink } from './copy_link';
import { decisionOn } from './decision';
import { ToolDetails } from './tool_details';

export function ToolRow({ item }: { item: ToolItem }): JSX.Element {
  const { cwd } = useSessionView();
  const call = item.call.value;
  const [open, toggle] = useOpenRow(item.key, call.status === 'failed');
  const subject = subjectOf(call, cwd.value);
  const decided = decisionOn(call);
  const label = `${call.name}${subject ? ` ${subject}` : ''}: ${[stateInWords(call), decided].filter(Boolean).join(', ')}`;
  return (
    <Card icon={<CardIcon name={iconOf(call)} />} open={open} onToggle={toggle} look={lookOf(call)} label={label}
      title={<><b>{call.name || t('session.callPending')}</b>{subject && ' '}{subject && <span class="session-subject"><VisibleText text={subject} /></span>}</>}
      note={decided} end={<CallEnd call={call} />} tools={<CopyLink seq={item.seq} />}>
      {() => <ToolDetails item={item} />}
    </Card>
  );
}

function lookOf(call: Call): string {
  if (call.status === 'failed') return 'call session-card-failed';
  return call.waits ? 'call session-card-waits' : 'call';
}

function CallEnd({ call }: { call: Call }): JSX.Element {
  const duration = durationOf(call);
  return (
    <>
      <Lines call={call} />
      {call.exitCode !== undefined && call.exitCode !== 0 && <span class="session-exit" title={t('session.exitWhy', { code: call.exitCode })}>{t('session.exit', { code: call.exitCode })}</span>}
      {duration !== undefined && <span class="session-took">{duration}</span>}
      <CallMark call={call} />
    </>
  );
}

function Lines({ call }: { call: Call }): JSX.Element | null {
  const added = call.changes.reduce((sum, change) => sum + (change.linesAdded ?? 0), 0);
  const removed = call.changes.reduce((sum, change) => sum + (change.linesRemoved ?? 0), 0);
  return <LineCounts added={added} removed={removed} />;
}

export function LineCounts({ added, removed }: { added: number; removed: number }): JSX.Element | null {
  if (added === 0 && removed === 0) return null;
  return <span class="session-lines">{added > 0 && <ins>+{added}</ins>}{removed > 0 && <del>−{removed}</del>}</span>;
}

/** Spinner, check or cross. */
function CallMark({ call }: { call: Call }): JSX.Element {
  const words = stateInWords(call);
  if (call.status === 'completed') return <span class="session-mark session-mark-done" title={words}><Icon name="check" size={16} /></span>;
  if (call.status === 'failed') return <span class="session-mark session-mark-failed" title={words}><Icon name="cross" size={16} /></span>;
  if (call.abandoned) return <span class="session-mark" title={words}><Icon name="minus" size={16} /></span>;
  if (call.waits) return <span class="session-mark session-mark-waits" title={words}><Icon name="shield" size={16} /></span>;
  return <span class="session-mark session-mark-runs" title={words}><Spinner size={16} /></span>;
}

function stateInWords(call: Call): string {
  if (call.status === 'failed') {
    if (call.error?.code === 'denied') return t('session.callDenied');
    return call.error?.code === 'cancelled' ? t('session.callCancelled') : t('session.callFailed');
  }
  if (isOver(call)) return call.exitCode ? t('session.exitWhy', { code: call.exitCode }) : t('session.callDone');
  if (call.abandoned) return t('session.callLeft');
  if (call.waits) return t('session.callWaits');
  return call.status === 'pending' ? t('session.callPending') : t('session.callRunning');
}
