// @vitest-environment node
import { describe, expect, it } from 'vitest';
import type { JournalView } from '../../src/generated/api';
import { markOf } from '../../src/hub/journal_health';

const HURT: JournalView = { state: 'hurt', damages: [{ number: 1, at: '2026-01-31T23:59:59.000Z', sessionId: 's1', from: 3, to: 9, what: 'lost' }], asides: ['/data/journal.db.damaged-1'], unwritable: null };

describe('damage that was waved away', () => {
  it('is known again', () => expect(markOf({ ...HURT })).toBe(markOf(HURT)));
  it('is told from new damage and from another file that was put aside', () => {
    expect(markOf({ ...HURT, damages: [...HURT.damages, { number: 2, at: '', what: 'lost' }] })).not.toBe(markOf(HURT));
    expect(markOf({ ...HURT, asides: [...HURT.asides, '/data/journal.db.damaged-2'] })).not.toBe(markOf(HURT));
  });
});
