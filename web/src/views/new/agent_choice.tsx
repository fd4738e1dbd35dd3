/** Choosing an agent: those that are installed first, when to pick which, and how to get and log in to the others. */
import type { JSX } from 'preact';
import type { AgentView } from '../../generated/api';
import { agentsAt, agentOf, installedAgents, loadAgents } from '../../hub/agents';
import { t } from '../../i18n';
import { AgentSign, Badge, Button, Copy, Spinner } from '../../ui';

interface AgentChoiceProps {
  chosen: string;
  /** The node of a cluster whose agents they are; empty for the hub's own. */
  node: string;
  onChoose: (name: string) => void;
}

export function AgentChoice({ chosen, node, onChoose }: AgentChoiceProps): JSX.Element {
  const { state, error, agents: all } = agentsAt(node);
  const installed = installedAgents(node);
  const login = agentOf(chosen, node)?.loginHint;
  const others = all.filter((agent) => !agent.installed);
  return (
    <fieldset class="new-part">
      <legend>{t('new.agent')}</legend>
      {state === 'failed' && (
        <p class="new-error" role="alert">
          {t('new.agentsFailed', { why: error?.message ?? '' })} <Button kind="quiet" icon="refresh" onClick={() => void loadAgents(true, node)}>{t('common.retry')}</Button>
        </p>
      )}
      {!all.length && state === 'asked' && <Spinner label={t('common.loading')} />}
      {state === 'known' && !installed.length && <p class="new-hint">{node ? t('new.noneInstalledOn', { node }) : t('new.noneInstalled')}</p>}
      <div class="new-agents">{installed.map((agent) => <AgentCard key={agent.name} agent={agent} chosen={agent.name === chosen} onChoose={onChoose} />)}</div>
      {login && <p class="new-hint new-login">{t('new.ifLogin')} <Hint text={login} /></p>}
      {others.length > 0 && (
        <details class="new-others" open={!installed.length}>
          <summary>{t('new.notInstalled', { n: others.length })}</summary>
          <ul>{others.map((agent) => <MissingAgent key={agent.name} agent={agent} />)}</ul>
        </details>
      )}
    </fieldset>
  );
}

function AgentCard({ agent, chosen, onChoose }: { agent: AgentView; chosen: boolean; onChoose: (name: string) => void }): JSX.Element {
  return (
    <label class="new-agent">
      <input type="radio" name="agent" value={agent.name} checked={chosen} onChange={() => onChoose(agent.name)} />
      <AgentSign name={agent.name} size={32} />
      <span class="new-agent-words">
        <span class="new-agent-name">{agent.displayName} {agent.version && <small>{agent.version}</small>}</span>
        {agent.pick && <span class="new-pick">{agent.pick}</span>}
        {!agent.asksPermission && <Badge tone="warn" title={t('new.mayActHint')}>{t('new.mayAct')}</Badge>}
      </span>
    </label>
  );
}

function MissingAgent({ agent }: { agent: AgentView }): JSX.Element {
  return (
    <li class="new-missing">
      <AgentSign name={agent.name} size={28} />
      <span class="new-agent-name">{agent.displayName}</span>
      {agent.docsUrl && <a href={agent.docsUrl} target="_blank" rel="noopener noreferrer">{t('new.howToInstall')}</a>}
      {agent.pick && <span class="new-pick">{agent.pick}</span>}
      {agent.installHint && <span class="new-install"><span>{t('new.install')}</span> <code>{agent.installHint}</code><Copy text={agent.installHint} label={t('new.copyInstall', { name: agent.displayName })} /></span>}
      {agent.loginHint && <span class="new-install"><span>{t('new.login')}</span> <Hint text={agent.loginHint} name={agent.displayName} /></span>}
    </li>
  );
}

/** Words with commands in them, the first of which can be copied. */
function Hint({ text, name = '' }: { text: string; name?: string }): JSX.Element {
  const parts = text.split('`');
  return (
    <>
      <span>{parts.map((part, at) => (at % 2 ? <code key={at}>{part}</code> : part))}</span>
      {parts.length > 2 && <Copy text={parts[1] ?? ''} label={name ? t('new.copyLogin', { name }) : t('common.copy')} />}
    </>
  );
}
