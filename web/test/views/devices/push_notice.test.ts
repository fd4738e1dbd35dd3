// @vitest-environment node
import { describe, expect, it } from 'vitest';
import { notices } from '../../../src/i18n/en/notices';
import { placeOf, requestOf, shownOf } from '../../../src/views/devices/push_notice';

const PUSH = { kind: 'approval', sessionId: 's/1', title: 'Fix the login', body: 'Run: npm test', requestId: 'r1', riskLevel: 'medium', actions: ['approve', 'deny'], tag: 'ask:r1' };

describe('the notification of a push', () => {
  it('of an approval can be answered', () => {
    expect(shownOf(PUSH)).toMatchObject({
      title: 'Fix the login', body: 'Run: npm test', tag: 'ask:r1', data: { kind: 'approval', sessionId: 's/1', ask: 'r1' },
      requireInteraction: true });
    expect(shownOf(PUSH).actions.map((action) => action.action)).toEqual(['approve', 'deny']);
  });
  it('of a risky one, or of one that is not told whole, cannot be approved without a look', () => {
    for (const more of [{ riskLevel: 'critical' }, { riskLevel: 'high' }, { riskLevel: undefined }, { body: 'Run: ls …' }, { body: 'x'.repeat(500) }, { actions: ['deny'] }]) {
      expect(shownOf({ ...PUSH, ...more }).actions.map((action) => action.action)).toEqual(['open', 'deny']);
    }
  });
  it('spells out what nobody would see', () => {
    expect(shownOf({ ...PUSH, title: 'a\u202e', body: 'ls\u200b' })).toMatchObject({ title: 'aU+202E', body: 'lsU+200B' });
  });
  it('offers nothing to a device that may only watch', () => expect(shownOf({ ...PUSH, actions: undefined }).actions).toEqual([]));
  it('of an ask that was answered takes the place of that ask, without a sound, and says how it ended', () => {
    const ended = { kind: 'resolved', sessionId: 's1', requestId: 'r1', title: 'Fix the login', body: '', outcome: 'approved', by: 'Ada’s phone' };
    expect(shownOf(ended)).toEqual({
      title: 'Fix the login', body: 'Approved by Ada’s phone', tag: shownOf(PUSH).tag, data: { kind: 'resolved', sessionId: 's1', ask: 'r1' }, actions: [], requireInteraction: false, silent: true });
    const shown = (more: object): string => shownOf({ ...ended, by: '', ...more }).body;
    expect([shown({}), shown({ outcome: 'denied', by: 'main$&' }), shown({ outcome: 'dismissed' }), shown({ outcome: 'expired' }), shown({ outcome: 'over' }), shown({ outcome: 7 })]).toEqual(
      ['Approved', 'Denied by main$&', 'Dismissed', 'Nobody answered in time', 'No longer waits for you', 'No longer waits for you']);
    expect([shown({ by: 'Ada’s phone (0123456789ab)' }), shown({ by: 'browser (0123456789ab)' }), shown({ by: 'main' })]).toEqual(['Approved by Ada’s phone', 'Approved by another browser', 'Approved by you (terminal)']);
    expect(shownOf({ ...ended, title: '' }).title).not.toBe('');
  });
  it('of anything else is heard', () => expect(shownOf(PUSH).silent).toBe(false));
  it('is in the words that it is given', () => {
    expect(shownOf({ kind: 'finished', sessionId: 's1' }, { ...notices, finished: 'Fertig' }).title).toBe('Fertig');
  });
  it('of a finished turn replaces the one before it', () => {
    expect(shownOf({ kind: 'finished', sessionId: 's1', title: 'x', body: 'y' })).toMatchObject({ tag: 'session:s1:finished', actions: [] });
  });
  it('of nonsense says only that something happened', () => {
    for (const push of [null, 'x', {}, { kind: 'approval' }, { kind: 'new', sessionId: 's' }]) {
      expect(shownOf(push)).toMatchObject({ title: 'Something happened', actions: [] });
    }
  });
});

describe('acting on a notification', () => {
  const data = shownOf(PUSH).data;
  it('asks the hub for exactly that approval', () => {
    expect(requestOf(data, 'approve')).toEqual({ path: '/sessions/s%2F1/permissions/r1', body: { decision: 'allow' } });
    expect(requestOf(data, 'deny')?.body).toEqual({ decision: 'deny' });
  });
  it('asks nothing where it only opens the page', () => {
    expect(requestOf(data, '')).toBeNull();
    expect(requestOf({ ...data, kind: 'question' }, 'approve')).toBeNull();
    expect(placeOf(data)).toBe('/#/s/s%2F1');
    expect(placeOf({ kind: 'unknown' })).toBe('/#/');
  });
});
