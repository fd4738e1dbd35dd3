// @vitest-environment node
import { describe, expect, it } from 'vitest';
import { fileWithin, withoutNumbers } from '../../../src/text/code/line_numbers';

describe('a file within its tags', () => {
  it('is its lines, with the numbers as numbers', () => {
    expect(fileWithin('<file>\n00001| import x\n00002| \n00003|   y\n</file>')).toEqual({ text: 'import x\n\n  y', firstLine: 1 });
  });
  it('may be a piece of the file', () => expect(fileWithin('<file>\n00041| a\n00042| b\n</file>\n')).toEqual({ text: 'a\nb', firstLine: 41 }));
  it('does not show the tool’s own remark', () => {
    expect(fileWithin('<file>\n00001| a\n\n(End of file - total 1 lines)\n</file>')).toEqual({ text: 'a', firstLine: 1 });
  });
  it('has no tags where its lines have no numbers', () => expect(fileWithin('<file>\nplain\ntext\n</file>')).toEqual({ text: 'plain\ntext', firstLine: 1 }));
  it('is not just any text', () => expect([fileWithin('<file>'), fileWithin('a <file>\nx\n</file>'), fileWithin('1\tx')]).toEqual([null, null, null]));
});

describe('numbers in front of lines', () => {
  it('are taken off where they are in order', () => expect(withoutNumbers(' 7\ta\n 8\tb\n')).toEqual({ text: 'a\nb\n', firstLine: 7 }));
  it('stay where they are not', () => expect(withoutNumbers('1\ta\n3\tb')).toBe(null));
});
