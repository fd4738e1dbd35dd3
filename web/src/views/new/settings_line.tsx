/**
 * What a new session begins with, in one line under its first prompt: agent, folder with its branch, and what the agent lets one choose.
 *
 * Rule: each is seen before the first prompt, and can be changed there.
 */
import type { Signal } from '@preact/signals';
import type { JSX } from 'preact';
import type { AgentInfo } from '../../generated/api';
import { agentName, agentOf } from '../../hub/agents';
import { t } from '../../i18n';
import { AgentSign, Button, Icon } from '../../ui';
import { VisibleText } from '../../content/visible_text';
import { projectOf } from '../home/groups';
import { sandboxWords } from '../session/sandbox';
import type { Choice } from './options';
import type { SandboxChoice } from './start';

export type Panel = 'agent' | 'folder' | '';

interface SettingsLineProps {
  agent: string;
  cwd: string;
  branch: string;
  panel: Panel;
  onPanel: (panel: Panel) => void;
  choices: readonly Choice[];
  options: Signal<Record<string, string>>;
  sandbox: Signal<SandboxChoice>;
}

export function SettingsLine({ agent, cwd, branch, panel, onPanel, choices, options, sandbox }: SettingsLineProps): JSX.Element {
  const toggle = (wanted: Panel): void => onPanel(panel === wanted ? '' : wanted);
  return (
    <div class="new-line" role="group" aria-label={t('new.beginsWith')}>
      <Button class="new-chip" expanded={panel === 'agent'} onClick={() => toggle('agent')}>
        <span class="visually-hidden">{t('new.agent')}: </span>
        {agent && <AgentSign name={agent} size={20} />}
        <span class="new-chip-name">{agent ? agentName(agent) : t('new.chooseAgent')}</span>
        <Icon name="chevron-down" size={14} />
      </Button>
      <Button class="new-chip" expanded={panel === 'folder'} title={cwd} onClick={() => toggle('folder')}>
        <span class="visually-hidden">{t('new.folder')}: </span>
        <Icon name="folder" size={16} />
        <span class="new-chip-name">{cwd.trim() ? <VisibleText text={projectOf(cwd.trim())} /> : t('new.chooseFolder')}</span>
        {branch && <span class="new-chip-branch"><Icon name="branch" size={14} /><VisibleText text={branch} /></span>}
        <Icon name="chevron-down" size={14} />
      </Button>
      {choices.map((choice) => <Choose key={choice.id} choice={choice} options={options} />)}
      <Sandbox chosen={sandbox} agent={agentOf(agent)} />
      {!agentOf(agent)?.sandbox && <p class="new-hint new-line-hint" id="new-sandbox-hint">{t(sandbox.value ? 'new.sandboxHint' : 'new.sandboxNoneHint')}</p>}
      {!choices.length && <p class="new-hint new-line-hint">{t('new.optionsLater')}</p>}
    </div>
  );
}

function Choose({ choice, options }: { choice: Choice; options: Signal<Record<string, string>> }): JSX.Element {
  const name = choice.isMode ? t('new.mode') : choice.name;
  return (
    <label class="new-choose">
      <span>{name}</span>
      <select value={options.value[choice.id] ?? ''} onChange={(event) => (options.value = { ...options.peek(), [choice.id]: event.currentTarget.value })}>
        <option value="">{t('new.asUsual')}</option>
        {choice.values.map((each) => <option key={each.value} value={each.value} title={each.description}>{each.name}</option>)}
      </select>
    </label>
  );
}

/** Where the agent's settings say it, there is nothing to choose but to say it. */
function Sandbox({ chosen, agent }: { chosen: Signal<SandboxChoice>; agent: AgentInfo | undefined }): JSX.Element {
  if (agent?.sandbox) return <p class="new-hint"><Icon name="shield" size={14} /> {sandboxWords(agent.sandbox)}</p>;
  return (
    <label class="new-choose">
      <span>{t('new.sandbox')}</span>
      <select value={chosen.value} aria-describedby="new-sandbox-hint" onChange={(event) => (chosen.value = event.currentTarget.value as SandboxChoice)}>
        <option value="">{t('new.sandboxNone')}</option>
        <option value="on">{t('new.sandboxOn')}</option>
        <option value="offline">{t('new.sandboxOffline')}</option>
      </select>
    </label>
  );
}
