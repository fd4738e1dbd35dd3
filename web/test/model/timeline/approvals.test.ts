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

it('the time that a call took leaves out how long it waited for a decision', () => {
  const at = (second: number): { timestamp: string } => ({ timestamp: new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString() });
  const took = (duration: number, type = 'tool:result'): number | undefined => {
    const timeline = new Timeline();
    timeline.apply([
      event('tool:start', { toolCallId: 'a', name: 'bash', category: 'terminal', ...at(0) }),
      event('approval:requested', { requestId: 'r', toolCallId: 'a', toolName: 'bash', toolInput: {}, description: '', riskLevel: 'low', expiresAt: '', ...at(1) }),
      event('approval:resolved', { requestId: 'r', toolCallId: 'a', approved: true, resolvedBy: 'user', ...at(41) }),
      event(type, { toolCallId: 'a', name: 'bash', output: '', error: { code: 'exit', message: '' }, duration, ...at(43) }),
    ]);
    return timeline.callOf('a')!.call.peek().durationMs;
  };
  expect([took(43_000), took(43_000, 'tool:error')]).toEqual([3_000, 3_000]);
  expect(took(2_000)).toBe(2_000); // its clock began after the decision
  expect(took(12_000)).toBe(2_000);
});
