/**
 * The cluster that the hub is in: its nodes, which of them are away, and which are behind in telling what they do.
 *
 * Rule 1: a hub says in its welcome whether it is in one. Where it is not, nothing is asked for, and nothing of this is shown.
 * Rule 2: that a node went away is no event: while somebody looks, it is asked for again and again.
 * Rule 3: what is asked for last is true. What a session's view said of its node when it was loaded counts only for nodes that are
 * not known.
 */
import { computed, effect, signal, type ReadonlySignal } from '@preact/signals';
import type { ClusterView, NodeView } from '../generated/api';
import { clockTime, t } from '../i18n';
import { connection } from './connection';
import { http } from './http';
import { whileLookedAt } from './looked_at';

const LOOK_MS = 5_000;

/** Something that is on a node, such as a session. */
export interface OnNode {
  node?: string;
  nodeAway?: string;
}

const own = signal('');
const known = signal<ClusterView | undefined>(undefined);
const byName = computed(() => new Map(known.value?.nodes.map((node) => [node.node, node])));

/** What the hub is called in its cluster; empty where it is in none. */
export const ownNode: ReadonlySignal<string> = own;

/** By name. */
export const nodes: ReadonlySignal<NodeView[]> = computed(() => [...(known.value?.nodes ?? [])].sort((one, other) => one.node.localeCompare(other.node)));

/** Whether the hub itself has lost its cluster, so that all other nodes are out of its reach. */
export const isCutOff: ReadonlySignal<boolean> = computed(() => known.value?.connected === false);

/** Those that run sessions. */
export const runners: ReadonlySignal<NodeView[]> = computed(() => nodes.value.filter(({ role }) => role !== 'gateway' && role !== ''));

/** Why what is on that node can only be read; empty where the node is there. */
export function awayReason(on: OnNode): string {
  if (!on.node) return '';
  if (isCutOff.value && on.node !== own.value) return t('cluster.cutOff', { node: own.value });
  const node = byName.value.get(on.node);
  if (node?.away && node.heardAt && !node.gone) return t('cluster.unheard', { node: node.node, time: clockTime(Date.parse(node.heardAt)) });
  return (node ? node.away : on.nodeAway) ?? '';
}

/** For how many seconds already what its node has done in a session has not come here; 0 where that is a moment only. */
export function secondsBehind({ id, node }: OnNode & { id: string }): number {
  if (!node || node === own.value) return 0;
  return Math.round(byName.value.get(node)?.late[id] ?? 0);
}

/** Whether a new session can be put there. */
export function takesSessions(node: NodeView): boolean {
  return node.away === undefined && !node.draining;
}

export async function loadCluster(): Promise<void> {
  if (!own.peek()) return;
  try {
    putCluster(await http.get<ClusterView>('/cluster'));
  } catch {
    // that the hub is away is shown elsewhere
  }
}

/** What the hub says of its cluster; undefined where it is in none. */
export function putCluster(view: ClusterView | undefined): void {
  own.value = view?.node ?? '';
  known.value = view;
}

/** Begin to look. */
export function followCluster(): void {
  connection.onWelcome((welcome) => {
    own.value = welcome.node ?? '';
    if (welcome.node) void loadCluster();
    else putCluster(undefined);
  });
  effect(() => (own.value ? whileLookedAt(loadCluster, LOOK_MS) : undefined));
}
