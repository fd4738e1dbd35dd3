import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ClusterView, NodeView } from '../../src/generated/api';
import { awayReason, followCluster, isCutOff, loadCluster, nodes, ownNode, putCluster, runners, secondsBehind, takesSessions } from '../../src/hub/cluster';
import { connection } from '../../src/hub/connection';
import { clockTime } from '../../src/i18n';

function node(name: string, more: Partial<NodeView> = {}): NodeView {
  return { node: name, role: 'hub', pool: name, labels: {}, version: '1', sessions: 0, running: 0, lag: 0, late: {}, taken: 0, aside: 0, draining: false, gone: false, ...more };
}

function cluster(...all: NodeView[]): ClusterView {
  return { node: 'web', role: 'gateway', commit: 'local', generation: 0, connected: true, nodes: [node('web', { role: 'gateway' }), ...all] };
}

afterEach(() => {
  putCluster(undefined);
  vi.unstubAllGlobals();
});

describe('a hub without a cluster', () => {
  it('has no nodes, and is not asked for them', async () => {
    const asked = vi.fn();
    vi.stubGlobal('fetch', asked);
    await loadCluster();
    expect(asked).not.toHaveBeenCalled();
    expect([nodes.value, ownNode.value, awayReason({}), secondsBehind({ id: 's' })]).toEqual([[], '', '', 0]);
  });

  it('says so when it lets us in, as one with a cluster says its name', () => {
    vi.stubGlobal('fetch', vi.fn(() => new Promise(() => undefined)));
    followCluster();
    const welcomes = (connection as unknown as { welcomeListeners: Set<(welcome: { node?: string }) => void> }).welcomeListeners;
    welcomes.forEach((welcome) => welcome({ node: 'web' }));
    expect(ownNode.value).toBe('web');
    putCluster(cluster(node('box')));
    welcomes.forEach((welcome) => welcome({}));
    expect([ownNode.value, nodes.value]).toEqual(['', []]);
  });
});

describe('a node', () => {
  it('that is away says why, and what was known of it before does not count', () => {
    putCluster(cluster(node('box'), node('laptop', { away: 'laptop has not been heard of since 14:03:20' })));
    expect(awayReason({ node: 'laptop' })).toBe('laptop has not been heard of since 14:03:20');
    putCluster(cluster(node('box'), node('laptop', { away: 'laptop has not been heard of since 14:03:20', heardAt: '2026-01-02T14:03:20Z' })));
    expect(awayReason({ node: 'laptop' })).toBe(`laptop has not been heard of since ${clockTime(Date.parse('2026-01-02T14:03:20Z'))}`); // by the reader’s clock
    putCluster(cluster(node('box'), node('laptop', { away: 'laptop is gone for good', heardAt: '2026-01-02T14:03:20Z', gone: true })));
    expect(awayReason({ node: 'laptop' })).toBe('laptop is gone for good');
    expect(awayReason({ node: 'box', nodeAway: 'it was away when this was loaded' })).toBe('');
    expect(awayReason({ node: 'forgotten', nodeAway: 'forgotten is away' })).toBe('forgotten is away');
  });

  it('is out of reach where the hub has lost its cluster; the hub’s own sessions are not', () => {
    putCluster({ ...cluster(node('box')), connected: false });
    expect(isCutOff.value).toBe(true);
    expect(awayReason({ node: 'box' })).toContain('web');
    expect(awayReason({ node: 'web' })).toBe('');
  });

  it('takes sessions unless it only shows those of others, is away or is being emptied', () => {
    putCluster(cluster(node('old', { role: '', away: 'gone' }), node('full', { draining: true }), node('box'), node('lost', { away: 'why' })));
    expect(runners.value.map((each) => [each.node, takesSessions(each)])).toEqual([['box', true], ['full', false], ['lost', false]]);
  });

  it('says which sessions are behind here; those of the hub itself never are', () => {
    putCluster(cluster(node('box', { late: { s: 12.4 } }), node('web', { late: { own: 9 } })));
    expect([{ id: 's', node: 'box' }, { id: 'other', node: 'box' }, { id: 'own', node: 'web' }, { id: 's' }].map(secondsBehind)).toEqual([12, 0, 0, 0]);
  });
});
