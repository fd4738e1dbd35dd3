/**
 * Sessions that the agents know of and the hub does not: in their own lists and files. Joined on demand.
 *
 * Rule 1: looking may start an agent, so it is done once per visit, one agent after the other, and again only when asked to.
 * Rule 2: a session that is the hub's already is not shown twice.
 */
import { computed, signal, type ReadonlySignal } from '@preact/signals';
import type { DiscoveredSession } from '../../generated/agent-context';
import type { AdapterInfo, AdapterSessions, SessionView } from '../../generated/api';
import { asHubError, http, pathOf } from '../../hub/http';
import { connection } from '../../hub/connection';
import { sessions, sessionList } from '../../hub/session_list';

interface Looking {
  state: 'unasked' | 'asked' | 'known';
  /** Agents that could not be asked, and why. */
  troubles: { agent: string; message: string }[];
}

const found = signal<DiscoveredSession[]>([]);
const current = signal<Looking>({ state: 'unasked', troubles: [] });

export const looking: ReadonlySignal<Looking> = current;

/** Newest activity first, without those of the hub. */
export const discovered: ReadonlySignal<DiscoveredSession[]> = computed(() => {
  const ours = new Set(sessions.value.flatMap((view) => [view.id, view.agentSessionId ?? '']));
  return found.value.filter((one) => !ours.has(one.id));
});

/** Look, unless somebody did already. */
export async function discover(again = false): Promise<void> {
  if (current.peek().state === 'asked' || (current.peek().state === 'known' && !again)) return;
  if (connection.scope.peek() === 'view' || connection.scope.peek() === 'approve') return;
  current.value = { state: 'asked', troubles: [] };
  try {
    await lookEverywhere();
  } catch (error) {
    current.value = { ...current.peek(), troubles: [{ agent: '', message: asHubError(error).message }] };
  }
  current.value = { ...current.peek(), state: 'known' };
}

async function lookEverywhere(): Promise<void> {
  const adapters = await http.get<AdapterInfo[]>('/adapters');
  let all: DiscoveredSession[] = [];
  const askable = adapters.filter((each) => each.installed || each.dataPaths.sessions);
  for (const adapter of askable.sort((one, other) => Number(other.installed) - Number(one.installed))) {
    try {
      const { sessions: more } = await http.get<AdapterSessions>(pathOf(['adapters', adapter.name, 'sessions']));
      all = newestFirst(onceEach([...all, ...more]));
      found.value = all;
    } catch (error) {
      current.value = { ...current.peek(), troubles: [...current.peek().troubles, { agent: adapter.name, message: asHubError(error).message }] };
    }
  }
}

/** Two ways to run an agent share its files; the first that was asked, an installed one where there is any, has it. */
function onceEach(all: DiscoveredSession[]): DiscoveredSession[] {
  return [...new Map([...all].reverse().map((one) => [one.id, one])).values()];
}

function newestFirst(all: DiscoveredSession[]): DiscoveredSession[] {
  return all.sort((one, other) => Date.parse(other.lastActivity) - Date.parse(one.lastActivity));
}

/** Make it a session of the hub. */
export async function attach(one: DiscoveredSession): Promise<SessionView> {
  const view = await http.post<SessionView>(pathOf(['adapters', one.agent, 'sessions', one.id, 'attach']), {});
  sessionList.put(view);
  return view;
}
