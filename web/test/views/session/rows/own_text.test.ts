import { describe, expect, it } from 'vitest';
import { beginningOf } from '../../../../src/views/session/rows/own_text';

describe('a message of a person', () => {
  it('is whole where it is not long', () => {
    expect([beginningOf(''), beginningOf('a\n'.repeat(19)), beginningOf('x'.repeat(3_000))]).toEqual([undefined, undefined, undefined]);
  });
  it('is folded by its lines', () => {
    expect(beginningOf(Array.from({ length: 300 }, (_, at) => `line ${at}`).join('\n'))?.split('\n').at(-1)).toBe('line 9');
  });
  it('is folded by its length, between words and never inside of a character', () => {
    const words = beginningOf('word '.repeat(2_000))!;
    expect(words.length).toBeLessThanOrEqual(1_500);
    expect(words.trimEnd().endsWith(' word')).toBe(true);
    const birds = beginningOf(`x${'🐦'.repeat(2_000)}`)!;
    expect(birds.endsWith('🐦')).toBe(true);
  });
});
