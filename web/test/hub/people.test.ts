import { beforeEach, describe, expect, it, vi } from 'vitest';
import { forgetPersonalData } from '../../src/hub/personal_data';

const OLD = 'browser (0ca7b43ee138)';
const NEW = 'browser (bd97ee34b91c)';

const people = async (): Promise<typeof import('../../src/hub/people')> => {
  vi.resetModules(); // as after a reload
  return import('../../src/hub/people');
};

beforeEach(() => localStorage.clear());

describe('who did something', () => {
  it('is you, by each login of this browser', async () => {
    (await people()).setOwnName(OLD);
    const after = await people();
    after.setOwnName(NEW);
    expect([OLD, NEW].map(after.whoIs)).toEqual(['You', 'You']);
    expect(after.byWhom(OLD)).toBe('you');
  });
  it('is nobody of before, once somebody has left', async () => {
    (await people()).setOwnName(OLD);
    forgetPersonalData();
    expect((await people()).whoIs(OLD)).toBe('Another browser');
  });
  it('is never told by an id', async () => {
    const { byWhom, whoIs } = await people();
    expect([whoIs(NEW), byWhom(NEW), whoIs('Ada’s phone (0123456789ab)'), whoIs('mainly')]).toEqual(['Another browser', 'another browser', 'Ada’s phone', 'mainly']);
  });
  it('is you at a terminal, who has the hub’s own token', async () => {
    const { byWhom, whoIs, withNames } = await people();
    expect([whoIs('main'), byWhom('main'), withNames('decided by main'), withNames('decided by main street')])
      .toEqual(['You (terminal)', 'you (terminal)', 'decided by you (terminal)', 'decided by main street']);
  });
  it('is named in the reason of a rule, too', async () => {
    const { setOwnName, withNames } = await people();
    setOwnName(OLD);
    expect(withNames(`decided by ${OLD}`)).toBe('decided by you');
    expect(withNames(`the rule at line 3 allows it: decided by ${NEW}`)).toBe('the rule at line 3 allows it: decided by another browser');
    expect(withNames('decided by the team (see notes)')).toBe('decided by the team (see notes)');
  });
});
