/**
 * The agents of the hub's catalog: names, icons, whether they are installed. Asked for when first needed, and again on demand.
 *
 * Rule: an agent that nobody knows any more is shown by its name.
 */
import { signal, type ReadonlySignal } from '@preact/signals';
import type { AgentView } from '../generated/api';
import { asHubError, http, type HubError } from './http';

interface AgentList {
  state: 'unasked' | 'asked' | 'known' | 'failed';
  agents: AgentView[];
  error?: HubError;
}

/** The agent that ships with the hub. */
export const DEMO = 'demo';

const list = signal<AgentList>({ state: 'unasked', agents: [] });

export const agents: ReadonlySignal<AgentList> = list;

/** Ask, unless it is known already. */
export async function loadAgents(again = false): Promise<void> {
  const { state } = list.peek();
  if (state === 'asked' || (state === 'known' && !again)) return;
  list.value = { ...list.peek(), state: 'asked' };
  try {
    list.value = { state: 'known', agents: await http.get<AgentView[]>('/agents') };
  } catch (error) {
    list.value = { ...list.peek(), state: 'failed', error: asHubError(error) };
  }
}

/** Those that can be started, people's own first. */
export function installedAgents(): AgentView[] {
  const installed = list.value.agents.filter((agent) => agent.installed);
  return [...installed.filter(({ name }) => name !== DEMO), ...installed.filter(({ name }) => name === DEMO)];
}

export function agentOf(name: string): AgentView | undefined {
  return list.value.agents.find((agent) => agent.name === name);
}

/** How people call it. */
export function agentName(name: string): string {
  return agentOf(name)?.displayName || name;
}

/** Its sign: a letter or a shape. */
export function agentIcon(name: string): string {
  return agentOf(name)?.icon || name.slice(0, 1).toUpperCase();
}
