import { describe, expect, it } from 'vitest';
import { clockText, passedMark, remaining } from '../../../src/views/approvals/countdown';

const START = '2026-01-01T00:00:00.000Z';
const END = '2026-01-01T00:10:00.000Z';
const at = (seconds: number) => Date.parse(START) + seconds * 1000;

describe('what is left of a wait', () => {
  it('counts down to zero and stays there', () => {
    expect(remaining(END, START, at(0))).toEqual({ seconds: 600, share: 1, urgency: 'calm' });
    expect(remaining(END, START, at(300))).toEqual({ seconds: 300, share: 0.5, urgency: 'calm' });
    expect(remaining(END, START, at(900))).toEqual({ seconds: 0, share: 0, urgency: 'over' });
  });
  it('is never more than the whole of it, where the ask came after our last tick', () => {
    expect(remaining(END, START, at(-0.7))).toEqual({ seconds: 600, share: 1, urgency: 'calm' });
  });
  it('is urgent in its last minute and more so in its last seconds', () => {
    expect(remaining(END, START, at(545))?.urgency).toBe('soon');
    expect(remaining(END, START, at(586))?.urgency).toBe('last');
  });
  it('is over only when no part of a second is left', () => {
    expect(remaining(END, START, at(599.5))).toMatchObject({ seconds: 1, urgency: 'last' });
  });
  it('is nothing where nothing expires', () => {
    expect(remaining(undefined, START, at(0))).toBeNull();
    expect(remaining('', START, at(0))).toBeNull();
  });
  it('has no share where its beginning is not known', () => {
    expect(remaining(END, undefined, at(0))).toMatchObject({ seconds: 600, share: 0 });
  });
});

describe('the text of a clock', () => {
  it.each([[0, '0:00'], [9, '0:09'], [582, '9:42'], [3600, '1 h 00 min'], [3900, '1 h 05 min'], [86400 * 3 + 7200, '3 d 2 h']])(
    '%d s is %s', (seconds, text) => expect(clockText(seconds)).toBe(text));
});

describe('what a voice says', () => {
  it('speaks when a mark is passed, once', () => {
    expect(passedMark(301, 300)).toBe(300);
    expect(passedMark(300, 299)).toBeNull();
  });
  it('speaks of the last mark only after a long sleep', () => {
    expect(passedMark(400, 8)).toBe(10);
  });
  it('does not say that something is left when nothing is', () => {
    expect(passedMark(400, 0)).toBeNull();
  });
});
