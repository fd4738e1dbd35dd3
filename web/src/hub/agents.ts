/**
 * The agents of the hub's catalog: names, icons, whether they are installed. Asked for when first needed, and again on demand. In a
 * cluster each node has its own.
 *
 * Rule 1: an agent that nobody knows any more is shown by its name.
 * Rule 2: what can be started is what that node has; what something is called is said by whichever node knows it.
 */
import { computed, signal, type ReadonlySignal } from '@preact/signals';
import type { AgentView, SessionState } from '../generated/api';
import { asHubError, http, pathOf, type HubError } from './http';

interface AgentList {
  state: 'unasked' | 'asked' | 'known' | 'failed';
  agents: AgentView[];
  error?: HubError;
}

/** The agent that ships with the hub. */
export const DEMO = 'demo';

const UNASKED: AgentList = { state: 'unasked', agents: [] };
/** By node; those of the hub itself have no name. */
const lists = signal<ReadonlyMap<string, AgentList>>(new Map());

/** Those of a node; of the hub itself where none is named. */
export function agentsAt(node = ''): AgentList {
  return lists.value.get(node) ?? UNASKED;
}

/** The hub's own. */
export const agents: ReadonlySignal<AgentList> = computed(() => agentsAt());

/** Ask, unless it is known already. */
export async function loadAgents(again = false, node = ''): Promise<void> {
  const before = lists.peek().get(node) ?? UNASKED;
  if (before.state === 'asked' || (before.state === 'known' && !again)) return;
  put(node, { ...before, state: 'asked' });
  try {
    put(node, { state: 'known', agents: await http.get<AgentView[]>(pathOf(['agents'], { node: node || undefined })) });
  } catch (error) {
    put(node, { ...before, state: 'failed', error: asHubError(error) });
  }
}

function put(node: string, list: AgentList): void {
  lists.value = new Map(lists.peek()).set(node, list);
}

/** Those that can be started, people's own first. */
export function installedAgents(node = ''): AgentView[] {
  const installed = agentsAt(node).agents.filter((agent) => agent.installed);
  return [...installed.filter(({ name }) => name !== DEMO), ...installed.filter(({ name }) => name === DEMO)];
}

export function agentOf(name: string, node = ''): AgentView | undefined {
  return agentsAt(node).agents.find((agent) => agent.name === name);
}

/** How people call it. */
export function agentName(name: string): string {
  return knownAgent(name)?.displayName || name;
}

/** How people call the agent of a session, which says so itself: who comes straight to one has no list of agents. */
export function agentNameOf({ agent, capabilities }: Pick<SessionState, 'agent' | 'capabilities'>): string {
  return capabilities?.agent.displayName || agentName(agent);
}

/** Its sign: a letter or a shape. */
export function agentIcon(name: string): string {
  return knownAgent(name)?.icon || name.slice(0, 1).toUpperCase();
}

function knownAgent(name: string): AgentView | undefined {
  return agentOf(name) ?? [...lists.value.values()].flatMap((list) => list.agents).find((agent) => agent.name === name);
}
