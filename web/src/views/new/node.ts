/** On which node of a cluster a new session is begun. Without a cluster there is none. */
import type { NodeView } from '../../generated/api';
import { nodes, ownNode, runners, takesSessions } from '../../hub/cluster';

let likely = '';

/** What was chosen, as long as that node takes sessions; else it is as if nothing were. */
export function chosenNode(name: string): string {
  return runners.value.some((node) => node.node === name && takesSessions(node)) ? name : '';
}

/** Where a session may be put for which no node is chosen: a hub that runs sessions keeps it in its own pool, as that is where the folders
 * are; one that does not has all to choose among. */
export function placesToChoose(): NodeView[] {
  const own = ownView();
  return runners.value.filter((node) => own === undefined || own.role === 'gateway' || node.pool === own.pool);
}

/** Where a session goes that may go anywhere, as far as it can be said beforehand: to the hub itself (empty) where that runs sessions,
 * else to the node that has the least to do. It stays that one while it takes sessions: what is on offer shall not change under who reads it. */
export function likelyNode(): string {
  const own = ownView();
  if (own === undefined || own.role !== 'gateway') return '';
  const free = runners.value.filter(takesSessions).sort((one, other) => one.running - other.running);
  if (!free.some((node) => node.node === likely)) likely = free[0]?.node ?? '';
  return likely;
}

function ownView(): NodeView | undefined {
  return nodes.value.find((node) => node.node === ownNode.value);
}
