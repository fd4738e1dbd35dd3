import { signal } from '@preact/signals';
import { describe, expect, it } from 'vitest';
import { summaryOf } from '../../../src/model/timeline/call_summary';
import { summaryInWords } from '../../../src/views/session/rows/labels';
import type { Call, Item } from '../../../src/model/timeline/items';

const call = (status: Call['status'], code?: string, more: Partial<Call> = {}): Item => ({
  kind: 'tool', key: `t:${Math.random()}`,
  call: signal({ status, category: 'terminal', name: 'bash', changes: [], ...(code !== undefined ? { error: { code } } : {}), ...more }),
} as unknown as Item);

describe('a run of calls', () => {
  it('counts what was denied as neither done nor failed', () => {
    const { counts, denied, failed } = summaryOf([call('completed'), call('failed', 'denied'), call('failed', 'exit')]);
    expect([counts, denied, failed]).toEqual([[{ action: 'ran', count: 2 }], 1, 1]);
  });
  it('tells what waits and what runs by itself, not as done', () => {
    const members = [call('completed'), call('in_progress', undefined, { waits: true }), call('in_progress', undefined, { waits: true }), call('pending', undefined, { category: 'web' })];
    expect(summaryInWords(members)).toBe('Ran 1 command, 1 call runs, 2 commands wait');
    expect(summaryInWords(members.slice(1, 3))).toBe('2 commands wait');
  });
});
