import { signal } from '@preact/signals';
import { describe, expect, it } from 'vitest';
import type { ApprovalResolvedEvent } from '../../../../src/generated/agent-context';
import type { Call, Item } from '../../../../src/model/timeline/items';
import { decisionOnAll } from '../../../../src/views/session/rows/decision';

const decided = (resolvedBy: 'user' | 'policy', by: string): ApprovalResolvedEvent => ({
  type: 'approval:resolved', seq: 1, sessionId: 's', timestamp: '2026-01-01T00:00:00.000Z', requestId: 'r', toolCallId: 'c', approved: true, resolvedBy,
  _meta: { by } }) as ApprovalResolvedEvent;
const done = (...decisions: ApprovalResolvedEvent[]): Item => ({ kind: 'tool', call: signal({ status: 'completed', decisions, waits: false } as unknown as Call) }) as unknown as Item;

describe('who let a run of calls happen', () => {
  it('is told where one person decided on all that was asked', () => {
    expect(decisionOnAll([done(decided('user', 'Ada')), done(decided('user', 'Ada'))])).toBe('Approved by Ada');
    expect(decisionOnAll([done(decided('user', 'Ada')), done()]), 'nobody was asked about the other').toBe('Approved by Ada');
  });
  it('is told of no single one where two decided, or a rule did as well', () => {
    expect(decisionOnAll([done(decided('user', 'Ada')), done(decided('user', 'Bob'))])).toBeUndefined();
    expect(decisionOnAll([done(decided('policy', 'policy')), done(decided('user', 'Ada'))])).toBeUndefined();
  });
  it('is not told where rules alone decided, or nobody was asked', () => {
    expect(decisionOnAll([done(decided('policy', 'policy'))])).toBeUndefined();
    expect(decisionOnAll([done(), done()])).toBeUndefined();
  });
});
