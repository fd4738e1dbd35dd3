/**
 * Sessions that the agents know of and the hub does not: in their own lists and files. Joined on demand.
 *
 * Rule 1: asking an agent may start it, so it is done once per visit, one agent after the other, and again only when asked to.
 * Rule 2: files are looked at by the hub alone, which says when they have changed, for as long as somebody looks at the list.
 * Rule 3: a session that is the hub's already is not shown twice.
 */
import { computed, signal, type ReadonlySignal } from '@preact/signals';
import type { DiscoveredSession } from '../../generated/agent-context';
import type { AdapterInfo, AdapterSessions, FoundPage, FoundView, SessionView } from '../../generated/api';
import { asHubError, http, HubError, pathOf } from '../../hub/http';
import { connection } from '../../hub/connection';
import { sessions, sessionList } from '../../hub/session_list';

interface Looking {
  state: 'unasked' | 'asked' | 'known';
  /** Agents that could not be asked, and why. */
  troubles: { agent: string; message: string }[];
}

/** `running`: another program has it open now. */
export interface Discovered extends DiscoveredSession {
  running?: boolean;
  pid?: number | null;
  /** The node of a cluster whose files it is in. */
  node?: string;
}

/** How long the hub is asked to wait for news; below the patience for any answer. */
const WAIT_S = 20;
/** The least time between two looks: what is written to all the time is news all the time. */
const PAUSE_MS = 700;
const RETRY_MS = 5_000;

const listed = signal<DiscoveredSession[]>([]);
const inFiles = signal<Discovered[]>([]);
let watcher = 0;
const current = signal<Looking>({ state: 'unasked', troubles: [] });

export const looking: ReadonlySignal<Looking> = current;

/** Newest activity first, without those of the hub. */
export const discovered: ReadonlySignal<Discovered[]> = computed(() => {
  const ours = new Set(sessions.value.flatMap((view) => [view.id, view.agentSessionId ?? '']));
  return newestFirst(onceEach([...inFiles.value, ...listed.value])).filter((one) => !ours.has(one.id));
});

/** Keep what is in files true, until what this returns is called. */
export function watchFiles(): () => void {
  if (mayOnlyLook()) return () => undefined;
  const mine = (watcher += 1);
  void follow(() => watcher === mine);
  return () => {
    if (watcher === mine) watcher += 1;
  };
}

async function follow(isOn: () => boolean): Promise<void> {
  let after: number | undefined;
  while (isOn()) {
    try {
      const page = await http.get<FoundPage>(pathOf(['found'], { after, wait: WAIT_S }));
      if (!isOn()) return;
      inFiles.value = page.sessions.map(fromFile);
      after = page.revision;
      await pause(PAUSE_MS);
    } catch (error) {
      if (error instanceof HubError && error.status >= 400 && error.status < 500) return; // it is not for us
      await pause(RETRY_MS);
    }
  }
}

/** Who may not start agents has nothing to join. */
function mayOnlyLook(): boolean {
  return connection.scope.peek() === 'view' || connection.scope.peek() === 'approve';
}

const pause = (ms: number): Promise<void> => new Promise((over) => setTimeout(over, ms));

function fromFile(view: FoundView): Discovered {
  return {
    id: view.id, agent: view.agent, projectPath: view.cwd, projectName: view.project, createdAt: view.createdAt, lastActivity: view.updatedAt,
    lastMessage: view.lastText, sessionName: view.title, running: view.running, pid: view.pid ?? null, ...(view.node ? { node: view.node } : {}),
  };
}

/** Look, unless somebody did already. */
export async function discover(again = false): Promise<void> {
  if (current.peek().state === 'asked' || (current.peek().state === 'known' && !again)) return;
  if (mayOnlyLook()) return;
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
  for (const adapter of adapters.filter((each) => each.installed)) {
    try {
      const { sessions: more } = await http.get<AdapterSessions>(pathOf(['adapters', adapter.name, 'sessions']));
      all = newestFirst(onceEach([...all, ...more]));
      listed.value = all;
    } catch (error) {
      current.value = { ...current.peek(), troubles: [...current.peek().troubles, { agent: adapter.name, message: asHubError(error).message }] };
    }
  }
}

/** What is in files is known best; of two ways to run an agent that share its sessions, the first that was asked has it. */
function onceEach<T extends DiscoveredSession>(all: T[]): T[] {
  return [...new Map([...all].reverse().map((one) => [one.id, one])).values()];
}

function newestFirst<T extends DiscoveredSession>(all: T[]): T[] {
  return all.sort((one, other) => Date.parse(other.lastActivity) - Date.parse(one.lastActivity));
}

/** Make it a session of the hub. */
export async function attach(one: Discovered): Promise<SessionView> {
  const view = await http.post<SessionView>(pathOf(['adapters', one.agent, 'sessions', one.id, 'attach'], { node: one.node }), {});
  sessionList.put(view);
  return view;
}
