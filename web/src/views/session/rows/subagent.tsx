// A sub-agent: what it was asked, how far it is, what came of it. What it did is below it in the list when it is open.

import type { JSX } from 'preact';
import { t } from '../../../i18n';
import { Markdown } from '../../../content/markdown/markdown';
import { isOver } from '../../../model/timeline/tool_call_state';
import type { SubagentItem } from '../../../model/timeline/items';
import { Icon, Spinner } from '../../../ui';
import { Card, CardIcon } from './card';
import { useOpenRow } from '../view_state';
import { decisionOn } from './decision';
import { durationOf, oneLine, tokensInWords } from './labels';
import { CopyLink } from './copy_link';

export function SubagentRow({ item }: { item: SubagentItem }): JSX.Element {
  const [open, toggle] = useOpenRow(item.key);
  const state = item.state.value;
  const call = item.tool?.call.value;
  const over = state.done || (call !== undefined && (isOver(call) || call.abandoned));
  const failed = state.failed || call?.status === 'failed';
  const duration = call && durationOf(call);
  return (
    <Card icon={<CardIcon name="robot" />} look={failed ? 'subagent session-card-failed' : 'subagent'} open={open} onToggle={toggle}
      title={<>
        <b>{state.agentType ?? t('session.subagent')}</b>
        <span class="session-subject">{oneLine(state.description ?? state.task)}</span>
        {!over && state.lastMessage !== undefined && <span class="session-subagent-said">{oneLine(state.lastMessage)}</span>}
      </>}
      note={decisionOn(call)} end={<>
        {item.children.length > 0 && <span class="session-took">{t('session.subagentSteps', { n: item.children.length })}</span>}
        {duration !== undefined && <span class="session-took">{duration}</span>}
        <SubagentMark over={over} failed={failed} progress={state.progress} />
      </>} tools={<CopyLink seq={item.seq} />}>
      {() => <SubagentInside item={item} />}
    </Card>
  );
}

function SubagentMark({ over, failed, progress }: { over: boolean; failed: boolean; progress: number | undefined }): JSX.Element {
  if (failed) return <span class="session-mark session-mark-failed"><Icon name="cross" size={16} label={t('session.callFailed')} /></span>;
  if (over) return <span class="session-mark session-mark-done"><Icon name="check" size={16} label={t('session.callDone')} /></span>;
  return (
    <>
      {progress !== undefined && <span class="session-took">{Math.round(progress)} %</span>}
      <span class="session-mark session-mark-runs"><Spinner size={16} label={t('session.callRunning')} /></span>
    </>
  );
}

function SubagentInside({ item }: { item: SubagentItem }): JSX.Element {
  const { task, model, result, tokens } = item.state.value;
  const answer = result ?? item.tool?.call.value.output;
  return (
    <>
      {task !== '' && <section class="session-part"><h3>{t('session.subagentTask')}</h3><Markdown text={task} live={false} /></section>}
      {answer !== undefined && answer !== '' && <section class="session-part"><h3>{t('session.subagentResult')}</h3><Markdown text={answer} live={false} /></section>}
      {(model !== undefined || tokens !== undefined) && (
        <p class="session-faint">{[model, tokens && t('session.subagentTokens', { n: tokensInWords(tokens.inputTokens + tokens.outputTokens) })].filter(Boolean).join(' · ')}</p>
      )}
    </>
  );
}
