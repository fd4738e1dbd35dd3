// What is inside the card of a call: its input, what it put out, what it changed, who let it run.

import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Diff } from '../../../generated/api';
import { asHubError } from '../../../hub/http';
import { t } from '../../../i18n';
import { CodeView } from '../../../content/code';
import { Command } from '../../../content/terminal';
import { DiffView } from '../../../content/diff/diff';
import { Json } from '../../../content/json';
import { ToolResult } from '../../../content/tool_result';
import { Terminal } from '../../../content/terminal';
import { isOver } from '../../../model/timeline/tool_call_state';
import type { Call, Change, ToolItem } from '../../../model/timeline/items';
import { actionOf } from '../../../model/timeline/call_summary';
import { partialText } from '../../../model/timeline/tool_output';
import { Badge, Button } from '../../../ui';
import { useSessionView } from '../view_state';
import { Decision } from './decision';
import { ToolError } from './tool_error';
import { shortPath } from './labels';
import { TodoList } from '../todos';

export function ToolDetails({ item }: { item: ToolItem }): JSX.Element {
  const call = item.call.value;
  return (
    <>
      <About call={call} />
      {call.error !== undefined && <ToolError message={call.error.message} output={showsOutput(call) ? printed(call) ?? partialText(item.partialOutput.value) : ''} />}
      <CallContent item={item} call={call} />
    </>
  );
}

/** Whether what the call printed stands below. */
function showsOutput(call: Call): boolean {
  return call.reading?.command !== undefined || (call.changes.length === 0 && todosIn(call) === undefined && (call.structured === undefined || call.structured.type === 'command_output'));
}

/** As on the card that asks. */
const RISK_TONES = { low: 'good', medium: 'plain', high: 'warn', critical: 'bad' } as const;

function About({ call }: { call: Call }): JSX.Element | null {
  const { cwd } = useSessionView();
  const risky = call.risk !== undefined && call.risk !== 'low';
  if (!risky && call.decisions.length === 0) return null;
  return (
    <div class="session-about">
      {risky && <Badge tone={RISK_TONES[call.risk!]} title={call.riskReason}>{t(`session.risk_${call.risk!}`)}</Badge>}
      {risky && call.riskReason !== undefined && <span>{call.riskReason.replaceAll(`${cwd.value}/`, '')}</span>}
      {call.decisions.map((decision) => <Decision key={decision.requestId} decision={decision} />)}
    </div>
  );
}

function CallContent({ item, call }: { item: ToolItem; call: Call }): JSX.Element {
  const command = call.reading?.command ?? undefined;
  if (command !== undefined) return <Ran item={item} call={call} command={command} />;
  if (call.changes.length > 0) return <Changes changes={call.changes} />;
  if (call.structured?.type === 'file_diff') return <DiffView diff={call.structured.diff} path={call.structured.path} />;
  const todos = todosIn(call);
  if (todos !== undefined) return <TodoList todos={todos} />;
  if (call.structured !== undefined) return <ToolResult output={call.structured} />;
  if (actionOf(call) === 'read' && call.output) return <CodeView text={call.output} path={call.reading?.paths?.[0]} />;
  return <Plain item={item} call={call} />;
}

/** A command and what it printed, while it runs too. */
function Ran({ item, call, command }: { item: ToolItem; call: Call; command: string }): JSX.Element {
  const running = !isOver(call) && !call.abandoned;
  const text = printed(call) ?? partialText(item.partialOutput.value);
  return (
    <>
      <Command command={command} />
      {text !== '' && <Terminal text={text} live={running} />}
      {text === '' && !running && call.error === undefined && <p class="session-faint">{t('session.noOutput')}</p>}
      {call.changes.length > 0 && <Changes changes={call.changes} />}
    </>
  );
}

function printed(call: Call): string | undefined {
  if (call.structured?.type === 'command_output') {
    const { stdout, stderr } = call.structured;
    const both = stderr === '' ? stdout : stdout === '' || stdout.endsWith('\n') ? stdout + stderr : `${stdout}\n${stderr}`;
    return both.length >= (call.output?.length ?? 0) ? both : call.output;
  }
  return call.output;
}

const CHANGES_MOST = 20;

export function Changes({ changes }: { changes: readonly Change[] }): JSX.Element {
  const [all, setAll] = useState(false);
  const shown = all ? changes : changes.slice(0, CHANGES_MOST);
  return (
    <div class="session-changes">
      {shown.map((change, index) => <OneChange key={`${change.path} ${index}`} change={change} />)}
      {shown.length < changes.length && <Button kind="quiet" onClick={() => setAll(true)}>{t('session.moreChanges', { n: changes.length - shown.length })}</Button>}
    </div>
  );
}

function OneChange({ change }: { change: Change }): JSX.Element {
  const { cwd } = useSessionView();
  if (change.diff !== undefined) {
    return <>{change.fragment && <p class="session-faint">{t('session.fragment')}</p>}<DiffView diff={change.diff} path={change.path} /></>;
  }
  return (
    <div class="session-change">
      <code>{shortPath(change.path, cwd.value)}</code> {t(`session.${change.changeType}`)}
      {change.url !== undefined && <LongDiff url={change.url} path={change.path} />}
    </div>
  );
}

/** A diff that is too long for its event, fetched when somebody wants it. */
function LongDiff({ url, path }: { url: string; path: string }): JSX.Element {
  const { session } = useSessionView();
  const [diff, setDiff] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const load = (): void => {
    setBusy(true);
    session.get<Diff>(url).then((found) => setDiff(found.diff), (error: unknown) => setProblem(asHubError(error).message)).finally(() => setBusy(false));
  };
  if (diff !== undefined) return <DiffView diff={diff} path={path} />;
  return (
    <>
      <Button kind="quiet" busy={busy} onClick={load}>{t('session.longDiffShow')}</Button>
      {problem !== undefined && <p class="session-error-text">{t('session.longDiffFailed', { why: problem })}</p>}
    </>
  );
}

function todosIn(call: Call): { content: string; status: string }[] | undefined {
  const todos = call.input?.['todos'];
  const fits = Array.isArray(todos) && todos.length > 0 && todos.every((todo) => typeof todo?.content === 'string' && typeof todo?.status === 'string');
  return fits ? todos as { content: string; status: string }[] : undefined;
}

function Plain({ item, call }: { item: ToolItem; call: Call }): JSX.Element {
  const args = item.args.value;
  const output = call.output ?? partialText(item.partialOutput.value);
  return (
    <>
      {call.input !== undefined && Object.keys(call.input).length > 0 && <Part title={t('session.input')}><Json value={call.input} /></Part>}
      {call.input === undefined && args !== '' && <Part title={t('session.arguments')}><pre class="session-args">{args}</pre></Part>}
      {output !== '' && <Part title={t('session.output')}><Terminal text={output} live={call.output === undefined} /></Part>}
    </>
  );
}

function Part({ title, children }: { title: string; children: ComponentChildren }): JSX.Element {
  return <section class="session-part"><h3>{title}</h3>{children}</section>;
}
