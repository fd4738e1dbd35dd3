import { afterEach, describe, expect, it } from 'vitest';
import type { NodeView } from '../../../src/generated/api';
import { putCluster } from '../../../src/hub/cluster';
import { chosenNode, likelyNode } from '../../../src/views/new/node';

function put(own: string, ...all: Partial<NodeView>[]): void {
  const nodes = all.map((more) => ({ node: '', role: 'hub', pool: '', labels: {}, version: '1', sessions: 0, running: 0, lag: 0, late: {}, taken: 0, aside: 0, draining: false, gone: false, ...more }));
  putCluster({ node: own, role: '', commit: 'local', generation: 0, connected: true, nodes });
}

afterEach(() => putCluster(undefined));

describe('the node of a new session', () => {
  it('is none without a cluster', () => expect([chosenNode('box'), likelyNode()]).toEqual(['', '']));

  it('is the one that was chosen, while it takes sessions', () => {
    put('box', { node: 'box' }, { node: 'laptop' });
    expect([chosenNode('laptop'), chosenNode('unknown')]).toEqual(['laptop', '']);
    put('box', { node: 'box' }, { node: 'laptop', away: 'why' });
    expect(chosenNode('laptop')).toBe('');
  });

  it('is likely the hub’s own; behind a gateway it is the one with the least to do, and stays that one', () => {
    put('box', { node: 'box', running: 5 }, { node: 'laptop' });
    expect(likelyNode()).toBe('');
    put('web', { node: 'web', role: 'gateway' }, { node: 'box', running: 5 }, { node: 'laptop', running: 1 });
    expect(likelyNode()).toBe('laptop');
    put('web', { node: 'web', role: 'gateway' }, { node: 'box' }, { node: 'laptop', running: 9 });
    expect(likelyNode()).toBe('laptop');
    put('web', { node: 'web', role: 'gateway' }, { node: 'box' }, { node: 'laptop', draining: true });
    expect(likelyNode()).toBe('box');
  });
});
