import { describe, expect, it } from 'vitest';
import type { ACPEvent } from '../../../src/generated/agent-context';
import { HubError } from '../../../src/hub/http';
import { resolutionWords } from '../../../src/views/approvals/resolution_line';
import { markAnsweredHere, addResolution, onEvent, resolutionIn, resolutions } from '../../../src/views/approvals/resolutions';

const resolved = (requestId: string, more: object): ACPEvent => ({
  type: 'approval:resolved', seq: 1, sessionId: 's', timestamp: '2026-01-01T00:00:00.000Z', requestId, toolCallId: 'c', approved: true, resolvedBy: 'user',
  _meta: { by: 'phone' }, ...more } as ACPEvent);

describe('how an ask ended', () => {
  it('is told with who decided and why', () => {
    onEvent(resolved('a', { approved: false, reason: 'not today' }));
    expect(resolutions.value.get('a')).toMatchObject({ how: 'denied', by: 'phone', reason: 'not today', here: false });
  });
  it('may be the word of the policy or of the clock', () => {
    onEvent(resolved('b', { resolvedBy: 'policy', _meta: { by: 'policy' } }));
    onEvent(resolved('c', { resolvedBy: 'timeout', approved: false }));
    expect([resolutions.value.get('b')?.by, resolutions.value.get('c')?.how]).toEqual(['policy', 'timeout']);
  });
  it('by a rule names who saved it', () => {
    onEvent(resolved('r', { resolvedBy: 'policy', _meta: { by: 'policy', rule: { text: 'x', source: 'session', savedBy: 'ann' } } }));
    const end = resolutions.value.get('r');
    expect(end).toMatchObject({ by: 'policy', savedBy: 'ann' });
    expect(resolutionWords(end!)).toBe('Allowed by a rule that ann saved');
  });
  it('is no denial where a call that changed is asked about once more', () => {
    onEvent(resolved('n', { resolvedBy: 'policy', approved: false, reason: 'it changed', _meta: { by: 'hub', askedAnew: true } }));
    const end = resolutions.value.get('n');
    expect(end).toMatchObject({ how: 'withdrawn', reason: 'it changed' });
    expect(resolutionWords(end!)).toBe('Taken back');
  });
  it('says what was answered in the terminal', () => {
    const words = (more: object): string => {
      onEvent(resolved('t', { reason: 'answered in the terminal', _meta: { by: 'terminal' }, ...more }));
      return resolutionWords(resolutions.value.get('t')!);
    };
    expect([words({}), words({ approved: false }), words({ approved: false, resolvedBy: 'policy' })]).toEqual(
      ['Allowed in the terminal', 'Not allowed in the terminal', 'Answered in the terminal']);
  });
  it('is ours where we answered and nobody was faster', () => {
    markAnsweredHere('d');
    onEvent(resolved('d', {}));
    expect(resolutions.value.get('d')?.here).toBe(true);
    markAnsweredHere('d', false);
    addResolution('d', { how: 'denied', by: 'tablet', at: 0 });
    expect(resolutions.value.get('d')).toMatchObject({ how: 'denied', by: 'tablet', here: false });
  });
  it('says that a rule went along where we decided for good, and nobody was faster', () => {
    markAnsweredHere('g', true, true);
    onEvent(resolved('g', {}));
    expect(resolutions.value.get('g')).toMatchObject({ how: 'approved', here: true, ruled: true });
    markAnsweredHere('h', true, true);
    markAnsweredHere('h', false);
    addResolution('h', { how: 'denied', by: 'tablet', at: 0 });
    expect(resolutions.value.get('h')?.ruled).toBe(false);
  });
  it('of a question is its action', () => {
    onEvent({ type: 'custom', namespace: 'trunkline', eventName: 'question_resolved', seq: 2, sessionId: 's', timestamp: '2026-01-01T00:00:00.000Z',
      data: { questionId: 'q', action: 'decline' }, _meta: { by: 'phone' } } as ACPEvent);
    expect(resolutions.value.get('q')).toMatchObject({ how: 'declined', by: 'phone' });
  });
  it('keeps only the last ones', () => {
    for (let number = 0; number < 150; number += 1) addResolution(`x${number}`, { how: 'approved', at: number });
    expect(resolutions.value.size).toBe(100);
    expect(resolutions.value.has('x149')).toBe(true);
  });
});

describe('an answer that came too late', () => {
  it('says who was first', () => {
    const error = new HubError('already_resolved', 'x', 409, { approved: true, by: 'phone', at: '2026-01-01T00:00:00.000Z', resolvedBy: 'user' });
    expect(resolutionIn(error)).toEqual({ how: 'approved', by: 'phone', at: Date.parse('2026-01-01') });
  });
  it('says that time was up', () => expect(resolutionIn(new HubError('expired', 'x', 409, {}))?.how).toBe('timeout'));
  it('is not every refusal', () => expect(resolutionIn(new HubError('invalid', 'x', 400))).toBeNull());
});
