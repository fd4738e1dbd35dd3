import { describe, expect, it } from 'vitest';
import type { Item } from '../../../../src/model/timeline/items';
import { isAgain, isNewest } from '../../../../src/views/session/rows/error';

const item = (kind: string, key: string, role?: string): Item => ({ kind, key, role }) as unknown as Item;

describe('a failure', () => {
  const first = item('error', 'x:1');
  const second = item('error', 'x:2');
  it('is the newest while nothing was said after it', () => {
    expect(isNewest([item('message', 'm', 'user'), first, item('turn_end', 't'), item('message', 'n', 'assistant')], first)).toBe(true);
  });
  it('is not to be tried again when something was, or when it failed again', () => {
    expect(isNewest([first, item('message', 'm', 'user')], first)).toBe(false);
    expect(isNewest([first, second], first)).toBe(false);
    expect(isNewest([first, second], second)).toBe(true);
  });
  it('is not to be tried again while the next try waits to be sent, also after a reload', () => {
    const sent = { sessionId: 's', state: 'queued', command: { command: 'send_message', message: 'go' } } as const;
    expect(isAgain(sent, 's', 'go')).toBe(true);
    expect([isAgain(sent, 's', 'other'), isAgain(sent, 't', 'go'), isAgain({ ...sent, state: 'failed' }, 's', 'go')]).toEqual([false, false, false]);
  });
});
