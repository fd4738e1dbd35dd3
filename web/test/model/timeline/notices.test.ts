// @vitest-environment node
import { describe, expect, it } from 'vitest';
import type { CustomEvent } from '../../../src/generated/agent-context';
import { applyEvent, emptyState, needsSnapshot } from '../../../src/model/session_state';
import { noticeOf } from '../../../src/model/timeline/notices';

function custom(eventName: string, data: Record<string, unknown>): CustomEvent {
  return { type: 'custom', seq: 14, sessionId: 's', timestamp: '2026-01-01T00:00:00Z', namespace: 'trunkline', eventName, data };
}

describe('a session that changed its node', () => {
  it('has a gap where the node before could not be asked, which is no damage', () => {
    const taken = noticeOf(custom('gap', { from: 14, to: 99, why: 'taken_over', message: 'box took this session over from laptop' }));
    expect([taken?.name, taken?.state.text]).toEqual(['taken_over', 'box took this session over from laptop']);
    const hurt = noticeOf(custom('gap', { from: 14, to: 20 }));
    expect([hurt?.name, hurt?.state.text]).toEqual(['gap', '14–20']);
  });

  it('is on the new one at once, and all of its state is asked for', () => {
    const moved = custom('session_moved', { from: 'laptop', to: 'box' });
    expect(applyEvent({ ...emptyState('s'), node: 'laptop' }, moved).node).toBe('box');
    expect(needsSnapshot(moved)).toBe(true);
    expect([noticeOf(moved)?.name, noticeOf(moved)?.state.text]).toEqual(['session_moved', 'box']);
  });
});
