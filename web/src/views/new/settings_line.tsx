/**
 * What a new session begins with, in one line under its first prompt: agent, folder with its branch, the node in a cluster, and what the
 * agent lets one choose.
 *
 * Rule: each is seen before the first prompt, and can be changed there.
 */
import type { Signal } from '@preact/signals';
import type { JSX } from 'preact';
import type { AgentInfo } from '../../generated/api';
import { agentName, agentOf } from '../../hub/agents';
import { ownNode, runners, takesSessions } from '../../hub/cluster';
import { t } from '../../i18n';
import { AgentSign, Button, Icon } from '../../ui';
import { VisibleText } from '../../content/visible_text';
import { projectOf } from '../home/groups';
import { sandboxWords } from '../session/sandbox';
import { placesToChoose } from './node';
import type { Choice } from './options';
import type { SandboxChoice } from './start';

export type Panel = 'agent' | 'folder' | '';

interface SettingsLineProps {
  /** The node that was chosen. */
  node: Signal<string>;
  /** The one whose agents and folders are on offer. */
  at: string;
  agent: string;
  cwd: string;
  branch: string;
  panel: Panel;
  onPanel: (panel: Panel) => void;
  choices: readonly Choice[];
  /** The agent has not said yet what can be chosen. */
  isNew: boolean;
  options: Signal<Record<string, string>>;
  sandbox: Signal<SandboxChoice>;
}

export function SettingsLine({ node, at, agent, cwd, branch, panel, onPanel, choices, isNew, options, sandbox }: SettingsLineProps): JSX.Element {
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
      {runners.value.length > 1 && <ChooseNode node={node} />}
      {choices.map((choice) => <Choose key={choice.id} choice={choice} options={options} />)}
      <Sandbox chosen={sandbox} agent={agentOf(agent, at)} />
      {!node.value && placesToChoose().length > 1 && <p class="new-hint new-line-hint">{t('new.placed', { node: at || ownNode.value })}</p>}
      {!agentOf(agent, at)?.sandbox && <p class="new-hint new-line-hint" id="new-sandbox-hint">{t(sandbox.value ? 'new.sandboxHint' : ownNode.value ? 'new.sandboxNoneHintNode' : 'new.sandboxNoneHint')}</p>}
      {isNew && <p class="new-hint new-line-hint">{t('new.optionsLater')}</p>}
    </div>
  );
}

/** Where it runs; a node that takes none says why. */
function ChooseNode({ node }: { node: Signal<string> }): JSX.Element {
  const places = placesToChoose();
  const only = places.length === 1 ? places[0] : undefined;
  return (
    <label class="new-choose">
      <span>{t('cluster.node')}</span>
      <select value={node.value} onChange={(event) => (node.value = event.currentTarget.value)}>
        <option value="">{only ? only.node : t('new.anywhere')}</option>
        {runners.value.filter((each) => each !== only).map((each) => (
          <option key={each.node} value={each.node} disabled={!takesSessions(each)} title={each.away}>{takesSessions(each) ? each.node : t(each.away ? 'new.nodeAway' : 'new.nodeDraining', { node: each.node })}</option>
        ))}
      </select>
    </label>
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
