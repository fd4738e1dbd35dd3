// @vitest-environment node
import { describe, expect, it } from 'vitest';
import { capsOf, capTexts, shareSpent, waitChoices } from '../../../src/views/controls/limits';

const EMPTY = { tokens: '', cost: '', minutes: '', turns: '' };

describe('caps from a form', () => {
  it('are absent where a field is empty', () => expect(capsOf(EMPTY)).toEqual({ caps: {}, problems: {} }));
  it('read numbers as people write them', () => {
    expect(capsOf({ tokens: '200 000', cost: '2,5', minutes: '0.5', turns: '20' }).caps).toEqual({ tokens: 200000, cost: 2.5, minutes: 0.5, turns: 20 });
    expect(capsOf({ ...EMPTY, tokens: '1.5M' }).caps).toEqual({ tokens: 1500000 });
  });
  it('say what is no cap', () => {
    expect(capsOf({ tokens: '1.5', cost: 'much', minutes: '0', turns: '-1' }).problems).toEqual({
      tokens: 'notWhole', cost: 'notNumber', minutes: 'notAbove', turns: 'notAbove' });
  });
  it('come back as they were', () => expect(capsOf(capTexts({ cost: 2.5, turns: 3 })).caps).toEqual({ cost: 2.5, turns: 3 }));
});

describe('what is spent of a cap', () => {
  it('is a share of it, at most all', () => expect([shareSpent(10, 5), shareSpent(10, 20), shareSpent(null, 5)]).toEqual([0.5, 1, null]));
});

describe('lengths of a wait', () => {
  it('have the one that is set among them', () => expect(waitChoices(90).slice(0, 2)).toEqual([60, 90]));
});
