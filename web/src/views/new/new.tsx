/**
 * A new session: one field for the first prompt, and in one line under it all that the session begins with.
 *
 * Rule 1: who wants what they had last time writes and presses Enter: agent, folder and choices are there.
 * Rule 2: what is typed survives everything but sending: a failure says why and leaves the form as it is, and so does a look elsewhere.
 */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import '../../style/new.css';
import '../../style/shared_views.css';
import { agentOf, agentsAt, DEMO, installedAgents, loadAgents } from '../../hub/agents';
import { asHubError } from '../../hub/http';
import { connection } from '../../hub/connection';
import { sessions } from '../../hub/session_list';
import { t } from '../../i18n';
import { goInstead } from '../../route';
import { Button, Icon } from '../../ui';
import { goOnWritingIn } from '../composer/next_field';
import { AgentChoice } from './agent_choice';
import { contentOf, featuresOf } from './attachments';
import { FolderField, fullPath, useFolders } from './folder_field';
import { form } from './form_state';
import { chosenNode, likelyNode } from './node';
import { choicesOf, hasRun, type Choice } from './options';
import { PromptField } from './prompt_field';
import { lastAgent, lastChoices, rememberChoices } from './remembered';
import { SettingsLine, type Panel } from './settings_line';
import { Starting } from './start';

export function NewView({ cwd: given }: { cwd?: string | undefined }): JSX.Element {
  useMemo(() => given && form.chooseFolder(given), [given]);
  const { agent, cwd, sandbox, options, prompt, files } = form;
  const busy = useSignal(false);
  const problem = useSignal('');
  const panel = useSignal<Panel | null>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const whole = useRef<HTMLFormElement>(null);
  const node = chosenNode(form.node.value);
  const at = node || likelyNode();
  const folders = useFolders(cwd, at, () => form.isFolderChosen);
  const choose = (name: string): void => {
    agent.value = name;
    options.value = lastChoices(name);
    form.starting = new Starting();
  };
  useEffect(() => void loadAgents(true, at), [at]);
  useEffect(() => {
    if (panel.value) whole.current?.querySelector('.new-part')?.scrollIntoView({ block: 'nearest' });
  }, [panel.value]);
  useEffect(() => {
    if (!installedAgents(at).some((each) => each.name === agent.peek())) choose(usualAgent(at));
  }, [agentsAt(at)]);
  const choices = useMemo(() => choicesOf(agent.value, sessions.value), [agent.value, sessions.value.length]);
  // Who has none of their own yet sees what there is, and how to get it.
  const open = panel.value ?? (agentsAt(at).state === 'known' && !installedAgents(at).some((each) => each.name !== DEMO) ? 'agent' : '');
  const mayStart = connection.scope.value === 'control' || connection.scope.value === 'admin';
  const canStart = mayStart && connection.state.value === 'online';
  const toPrompt = (): void => {
    panel.value = '';
    field.current?.focus();
  };
  const start = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (busy.peek() || !canStart) return;
    problem.value = missing(agent.value, cwd.value);
    if (problem.value) return;
    busy.value = true;
    const picked = chosen(options.value, choices);
    rememberChoices(agent.value, picked, node);
    try {
      const { mode = '', ...others } = picked;
      const content = contentOf(prompt.value, files.value, featuresOf(agentOf(agent.value, at)));
      const view = await form.starting.run({ agent: agent.value, node, cwd: await fullPath(cwd.value.trim(), at), mode, sandbox: sandbox.value, options: others, prompt: content });
      form.clear();
      goOnWritingIn(view.id);
      goInstead({ view: 'session', id: view.id, tab: 'timeline' });
    } catch (error) {
      const why = asHubError(error).message;
      problem.value = form.starting.session ? t('new.startedButUnsent', { why }) : why;
      busy.value = false;
    }
  };
  return (
    <form class="new" ref={whole} onSubmit={(event) => void start(event)}>
      <h1>{t('new.title')}</h1>
      <PromptField text={prompt} files={files} lost={form.lost} agent={agent.value} cwd={cwd.value} node={at} takesPictures={featuresOf(agentOf(agent.value, at))?.image !== false} field={field}>
        <Button kind="primary" type="submit" icon="play" busy={busy.value} disabled={!canStart}>{t('new.start')}</Button>
      </PromptField>
      <SettingsLine node={form.node} at={at} agent={agent.value} cwd={cwd.value} branch={folders.branch.value} panel={open} onPanel={(to) => (panel.value = to)}
        choices={choices} isNew={!hasRun(agent.value, sessions.value)} options={options} sandbox={sandbox} />
      {open === 'agent' && <AgentChoice chosen={agent.value} node={at} onChoose={choose} />}
      {open === 'folder' && <FolderField cwd={cwd} node={at} recent={folders.recent.value} onChoose={(path) => form.chooseFolder(path)} onDone={toPrompt} />}
      {problem.value && <p class="new-error" role="alert"><Icon name="warning" /> {problem.value}</p>}
      <p class="new-hint" role="status">{busy.value ? t('new.starting') : mayStart ? '' : t('new.onlyControl')}</p>
    </form>
  );
}

/** The agent of last time, else one that is installed; the demo only where there is no other. */
function usualAgent(node: string): string {
  const installed = installedAgents(node);
  const usual = [lastAgent(), ...sessions.peek().map((view) => view.agent)];
  return usual.find((name) => installed.some((each) => each.name === name)) ?? installed[0]?.name ?? '';
}

function missing(agent: string, cwd: string): string {
  if (!agent) return t('new.needAgent');
  if (!cwd.trim()) return t('new.needFolder');
  if (!/^([/~]|[A-Za-z]:[/\\])/.test(cwd.trim())) return t('new.needFullPath', { example: '/home/me/project' });
  return '';
}

/** What was chosen of what is on offer; the mode under `mode`. */
function chosen(options: Record<string, string>, choices: readonly Choice[]): Record<string, string> {
  const isOffered = (id: string, value: string): boolean => choices.some((choice) => choice.id === id && choice.values.some((each) => each.value === value));
  return Object.fromEntries(Object.entries(options).filter(([id, value]) => isOffered(id, value)));
}
