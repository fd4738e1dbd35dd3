// @vitest-environment node
// What a call puts out while it runs.

import { describe, expect, test } from 'vitest';
import { NO_OUTPUT, putOutput, partialText, type PartialOutput } from '../../../src/model/timeline/tool_output';

function joined(...pieces: [number, string, string?][]): PartialOutput {
  return pieces.reduce<PartialOutput>((running, [offset, output, from = 'agent']) => putOutput(running, from, offset, output), NO_OUTPUT);
}

describe('running output', () => {
  test('grows at its end', () => {
    expect(partialText(joined([0, 'one\n'], [4, 'two\n']))).toBe('one\ntwo\n');
  });

  test('is replaced from the offset on', () => {
    expect(partialText(joined([0, '10 %'], [0, '20 %'], [2, '!']))).toBe('20!');
  });

  test('counts characters as the hub does', () => {
    expect(partialText(joined([0, '🙂🙂'], [2, 'x'], [1, 'y']))).toBe('🙂y');
  });

  test('shows where something was not told', () => {
    expect(partialText(joined([0, 'start'], [100, 'end'], [103, '.']))).toBe('start\n…\nend.');
    expect(partialText(joined([50, 'only the end']))).toBe('…\nonly the end');
  });

  test('a piece before a gap takes the place of all that came after it', () => {
    expect(partialText(joined([0, 'start'], [100, 'end'], [5, 'ed']))).toBe('started');
  });

  test('two terminals of one call do not write into each other', () => {
    expect(partialText(joined([0, 'a', 't1'], [0, 'b', 't2'], [1, 'A', 't1']))).toBe('aA\nb');
  });
});
