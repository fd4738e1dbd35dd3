// @vitest-environment node
import { expect, it } from 'vitest';
import type { ACPEvent } from '../../../src/generated/agent-context';
import { Timeline } from '../../../src/model/timeline/timeline';

let seq = 0;
const event = (type: string, more: object): ACPEvent => {
  seq += 1;
  return { type, seq, sessionId: 's', timestamp: '2026-01-01T00:00:00.000Z', ...more } as unknown as ACPEvent;
};
const CALLS = ['a', 'b'].map((toolCallId) => ({ toolCallId, toolName: 'bash', description: `Run: ${toolCallId}`, riskLevel: 'low' }));

it('an ask for several calls waits at each of them, and its answer is told at each', () => {
  const timeline = new Timeline();
  for (const id of ['a', 'b', 'c']) timeline.apply([event('tool:start', { toolCallId: id, name: 'bash', category: 'terminal' })]);
  timeline.apply([event('approval:requested', {
    requestId: 'r', toolCallId: 'confirm-1', toolName: 'Confirm', toolInput: {}, description: '2 calls', riskLevel: 'low', expiresAt: '', _meta: { calls: CALLS },
  })]);
  const waits = (): boolean[] => ['a', 'b', 'c'].map((id) => timeline.callOf(id)!.call.peek().waits === true);
  expect(waits()).toEqual([true, true, false]);
  timeline.apply([event('approval:resolved', { requestId: 'r', toolCallId: 'confirm-1', approved: true, resolvedBy: 'user', _meta: { by: 'ann' } })]);
  expect(waits()).toEqual([false, false, false]);
  expect(['a', 'b', 'c'].map((id) => timeline.callOf(id)!.call.peek().decisions.length)).toEqual([1, 1, 0]);
});
