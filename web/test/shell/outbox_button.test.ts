import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ACPCommand } from '../../src/generated/agent-context';
import { http } from '../../src/hub/http';
import { Outbox } from '../../src/hub/outbox';
import { speak } from '../../src/i18n';
import { en } from '../../src/i18n/en';
import { span } from '../../src/ui';
import { clockText } from '../../src/views/approvals/countdown';
import { wordsOf } from '../../src/shell/outbox_button';

afterEach(() => {
  speak('en', en);
  vi.unstubAllGlobals();
});

const GERMAN = {
  common: {
    unreachable: 'Nicht erreichbar.', hubAnswered: 'Antwort: {status}.', outboxDropped: 'Verworfen.', command_approve_tool_call: 'Erlauben', clockHours: '{h} Std. {m} Min.', clockDays: '{d} T. {h} Std.',
    spanHoursMinutes: '{n} Std. {m} Min.',
  },
};

describe('words that are not markup', () => {
  it('are in the language that is spoken: why the hub failed', async () => {
    speak('de', GERMAN);
    vi.stubGlobal('fetch', vi.fn().mockRejectedValueOnce(new TypeError()).mockResolvedValueOnce(new Response('<html>', { status: 502 })));
    await expect(http.get('/x')).rejects.toThrow('Nicht erreichbar.');
    await expect(http.get('/x')).rejects.toThrow('Antwort: 502.');
  });

  it('are in the language that is spoken: what waits to be sent', async () => {
    speak('de', GERMAN);
    const approve = { command: 'approve_tool_call', requestId: 'r' } as unknown as ACPCommand;
    expect(wordsOf(approve)).toBe('Erlauben');
    const sent = new Outbox(null).add('s', approve, 0);
    sent.drop();
    await expect(sent.done).rejects.toThrow('Verworfen.');
  });

  it('are in the language that is spoken: lengths of time', () => {
    speak('de', GERMAN);
    expect([clockText(3900), clockText(86_400 * 3), span(3_600_000 + 60_000)]).toEqual(['1 Std. 05 Min.', '3 T. 0 Std.', '1 Std. 1 Min.']);
  });

  it('have a name for every command', () => {
    for (const command of ['approve_tool_call', 'deny_tool_call', 'answer_question', 'cancel', 'pause', 'resume', 'terminate', 'set_permission_policy']) {
      expect(wordsOf({ command } as ACPCommand)).toMatch(/^[A-Z][a-z ]+$/);
    }
    expect(wordsOf({ command: 'send_message', message: 'hello' } as ACPCommand)).toBe('hello');
  });

  it('of lengths of time are as short as they can be', () => {
    expect([850, 1_500, 12_300, 180_000, 185_000, 7_200_000, 7_440_000].map(span)).toEqual(['850 ms', '1.5 s', '12 s', '3 min', '3 min 5 s', '2 h', '2 h 4 min']);
  });
});
