// @vitest-environment node
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { connection } from '../../../src/hub/connection';
import { sendAnswer, askOf, sentFor } from '../../../src/views/approvals/outgoing_answers';

const approve = (requestId: string) => ({ command: 'approve_tool_call' as const, requestId, toolCallId: 'c' });

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  vi.advanceTimersByTime(1000);
  connection.outbox.peek().forEach((sent) => sent.drop());
});

describe('an answer on its way', () => {
  it('is found by its ask', () => {
    sendAnswer('s', 'one', approve('one'));
    expect(sentFor('one')?.command).toEqual(approve('one'));
    expect(sentFor('other')).toBeUndefined();
    expect(askOf({ command: 'cancel' })).toBeNull();
  });
  it('is the only one of its ask', () => {
    sendAnswer('s', 'one', approve('one'));
    vi.advanceTimersByTime(1000);
    sendAnswer('s', 'one', { command: 'deny_tool_call', requestId: 'one', toolCallId: 'c' });
    expect(connection.outbox.peek().map((sent) => sent.command.command)).toEqual(['approve_tool_call']);
  });
  it('does not keep the next one, to another ask, from counting', () => {
    sendAnswer('s', 'one', approve('one'));
    sendAnswer('s', 'two', approve('two'));
    expect([sentFor('one'), sentFor('two')].every((sent) => sent !== undefined)).toBe(true);
  });
});
