// @vitest-environment node
import { describe, expect, it } from 'vitest';
import { isTime } from '../../src/ui/lazy';

describe('a page that lacks a part', () => {
  it('is loaded anew at once, then with pauses that grow, and never without end', () => {
    expect(isTime([], 0)).toBe(true);
    expect([isTime([0], 1_000), isTime([0], 1_500)]).toEqual([false, true]);
    expect([isTime([0, 1_500], 4_000), isTime([0, 1_500], 4_500)]).toEqual([false, true]);
    const many = Array.from({ length: 20 }, (_, at) => at);
    expect([isTime(many, 29_000), isTime(many, 30_019)]).toEqual([false, true]);
  });
});
