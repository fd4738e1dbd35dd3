/**
 * The form for a new session: agent, folder, what the agent lets one choose, first prompt with files.
 *
 * Rule: what is typed survives everything but sending: a failure says why and leaves the form as it is, and so does a look elsewhere.
 */
import { useSignal, type Signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import '../../style/new.css';
import { agentOf, agents, loadAgents } from '../../hub/agents';
import type { AgentInfo, RecentFolder } from '../../generated/api';
import { asHubError } from '../../hub/http';
import { connection } from '../../hub/connection';
import { sessions } from '../../hub/session_list';
import { t } from '../../i18n';
import { goInstead } from '../../route';
import { Button, Icon } from '../../ui';
import { projectOf } from '../home/groups';
import { AgentChoice } from './agent_choice';
import { contentOf, featuresOf } from './attachments';
import { FolderSheet, foldersIn } from './folder_sheet';
import { form } from './form_state';
import { choicesOf, type Choice } from './options';
import { PromptField } from './prompt_field';
import { sandboxWords } from '../session/sandbox';
import { Starting, type SandboxChoice } from './start';

const REMEMBERED = 'trunkline.agent';

export function NewView({ cwd: given }: { cwd?: string | undefined }): JSX.Element {
  useMemo(() => given && form.chooseFolder(given), [given]);
  const { agent, cwd, sandbox, options, prompt, files } = form;
  const busy = useSignal(false);
  const problem = useSignal('');
  useEffect(() => void loadAgents(true), []);
  useEffect(() => chooseAgent(agent), [agents.value]);
  const choices = useMemo(() => choicesOf(agent.value, sessions.value), [agent.value, sessions.value.length]);
  const choose = (name: string): void => {
    agent.value = name;
    options.value = {};
    form.starting = new Starting();
  };
  const start = async (event: Event): Promise<void> => {
    event.preventDefault();
    problem.value = missing(agent.value, cwd.value);
    if (problem.value) return;
    busy.value = true;
    remember(agent.value);
    try {
      const { mode = '', ...others } = chosen(options.value, choices);
      const content = contentOf(prompt.value, files.value, featuresOf(agentOf(agent.value)));
      const view = await form.starting.run({ agent: agent.value, cwd: cwd.value.trim(), mode, sandbox: sandbox.value, options: others, prompt: content });
      form.clear();
      goInstead({ view: 'session', id: view.id, tab: 'timeline' });
    } catch (error) {
      const why = asHubError(error).message;
      problem.value = form.starting.session ? t('new.startedButUnsent', { why }) : why;
      busy.value = false;
    }
  };
  const mayStart = connection.scope.value === 'control' || connection.scope.value === 'admin';
  return (
    <form class="new" onSubmit={(event) => void start(event)}>
      <h1>{t('new.title')}</h1>
      <AgentChoice chosen={agent.value} onChoose={choose} />
      <FolderField cwd={cwd} onChoose={(path) => form.chooseFolder(path)} />
      <Options choices={choices} options={options} />
      <SandboxField chosen={sandbox} agent={agentOf(agent.value)} />
      <PromptField text={prompt} files={files} lost={form.lost} takesPictures={featuresOf(agentOf(agent.value))?.image !== false} />
      {problem.value && <p class="new-error" role="alert"><Icon name="warning" /> {problem.value}</p>}
      <div class="new-end">
        <Button kind="primary" type="submit" icon="play" busy={busy.value} disabled={!mayStart || connection.state.value !== 'online'}>{t('new.start')}</Button>
        <span class="new-hint" role="status">{busy.value ? t('new.starting') : mayStart ? '' : t('new.onlyControl')}</span>
      </div>
    </form>
  );
}

/** The agent of last time, else one that is installed. */
function chooseAgent(agent: Signal<string>): void {
  const installed = agents.value.agents.filter((each) => each.installed);
  if (installed.some((each) => each.name === agent.peek())) return;
  const usual = [remembered(), ...sessions.peek().map((view) => view.agent)];
  agent.value = usual.find((name) => installed.some((each) => each.name === name)) ?? installed[0]?.name ?? '';
}

function remembered(): string {
  try {
    return localStorage.getItem(REMEMBERED) ?? '';
  } catch {
    return '';
  }
}

function remember(name: string): void {
  try {
    localStorage.setItem(REMEMBERED, name);
  } catch {
    // A browser that keeps nothing.
  }
}

function missing(agent: string, cwd: string): string {
  if (!agent) return t('new.needAgent');
  if (!cwd.trim()) return t('new.needFolder');
  if (!/^([/~]|[A-Za-z]:[/\\])/.test(cwd.trim())) return t('new.needFullPath', { example: '/home/me/project' });
  return '';
}

/** What was chosen of what is on offer; the mode under `mode`. */
function chosen(options: Record<string, string>, choices: readonly Choice[]): Record<string, string> {
  return Object.fromEntries(Object.entries(options).filter(([id, value]) => value && choices.some((choice) => choice.id === id)));
}

function FolderField({ cwd, onChoose }: { cwd: Signal<string>; onChoose: (path: string) => void }): JSX.Element {
  const open = useSignal(false);
  const recent = useSignal<RecentFolder[]>([]);
  useEffect(() => {
    foldersIn().then((page) => {
      recent.value = page.recent;
      if (!cwd.peek()) cwd.value = page.recent[0]?.path ?? page.home;
    }, () => undefined); // The field can be filled by hand; the sheet says what is wrong.
  }, []);
  return (
    <div class="new-part">
      <label for="new-cwd">{t('new.folder')}</label>
      <div class="new-folder-entry">
        <input id="new-cwd" type="text" value={cwd.value} aria-describedby="new-cwd-hint" autocomplete="off" autocapitalize="off" spellcheck={false}
          onInput={(event) => onChoose(event.currentTarget.value)} />
        <Button icon="folder" onClick={() => (open.value = true)}>{t('new.browse')}</Button>
      </div>
      <p class="new-hint" id="new-cwd-hint">{t('new.folderHint')}</p>
      {recent.value.length > 0 && (
        <ul class="new-recent" aria-label={t('new.recent')}>
          {recent.value.slice(0, 6).map((folder) => (
            <li key={folder.path}>
              <Button title={folder.path} pressed={folder.path === cwd.value} onClick={() => onChoose(folder.path)}>{folder.name || projectOf(folder.path)}</Button>
            </li>
          ))}
        </ul>
      )}
      {open.value && (
        <FolderSheet start={cwd.value} onClose={() => (open.value = false)} onChoose={(path) => {
          onChoose(path);
          open.value = false;
        }} />
      )}
    </div>
  );
}

/** Where the agent's settings say it, there is nothing to choose but to say it. */
function SandboxField({ chosen, agent }: { chosen: Signal<SandboxChoice>; agent: AgentInfo | undefined }): JSX.Element {
  if (agent?.sandbox) return <p class="new-hint"><Icon name="shield" size={14} /> {sandboxWords(agent.sandbox)}</p>;
  return (
    <div class="new-options">
      <label class="new-option">
        <span>{t('new.sandbox')}</span>
        <select value={chosen.value} aria-describedby="new-sandbox-hint" onChange={(event) => (chosen.value = event.currentTarget.value as SandboxChoice)}>
          <option value="">{t('new.sandboxNone')}</option>
          <option value="on">{t('new.sandboxOn')}</option>
          <option value="offline">{t('new.sandboxOffline')}</option>
        </select>
      </label>
      <p class="new-hint" id="new-sandbox-hint">{t(chosen.value ? 'new.sandboxHint' : 'new.sandboxNoneHint')}</p>
    </div>
  );
}

function Options({ choices, options }: { choices: readonly Choice[]; options: Signal<Record<string, string>> }): JSX.Element {
  if (!choices.length) return <p class="new-hint">{t('new.optionsLater')}</p>;
  return (
    <div class="new-options">
      {choices.map((choice) => (
        <label key={choice.id} class="new-option">
          <span>{choice.isMode ? t('new.mode') : choice.name}</span>
          <select value={options.value[choice.id] ?? ''} onChange={(event) => (options.value = { ...options.peek(), [choice.id]: event.currentTarget.value })}>
            <option value="">{t('new.asUsual')}</option>
            {choice.values.map((each) => <option key={each.value} value={each.value} title={each.description}>{each.name}</option>)}
          </select>
        </label>
      ))}
    </div>
  );
}
