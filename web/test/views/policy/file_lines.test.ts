// @vitest-environment node
import { describe, expect, it } from 'vitest';
import { lineRange, problemLine, ruleLines, withRule } from '../../../src/views/policy/file_lines';

const TEXT = '# mine\n\n[[rules]]\npath = ".env"\naction = "deny"\n\n  [[ rules ]]\naction = "ask"\n';

describe('lines of a policy', () => {
  it('are where its rules begin', () => expect(ruleLines(TEXT, 2)).toEqual([3, 7]));
  it('are not told where they are not plain', () => expect(ruleLines('rules = [{action = "deny"}]', 1)).toEqual([]));
  it('are read from the hub’s errors', () => {
    expect(problemLine('rule 2 (line 14): unknown key \'x\'')).toBe(14);
    expect(problemLine('the policy is not TOML: Expected newline (at line 3, column 8)')).toBe(3);
    expect(problemLine('auto_approve: expected a table')).toBeNull();
  });
  it('have their place in the text', () => {
    expect(TEXT.slice(lineRange(TEXT, 4).from, lineRange(TEXT, 4).to)).toBe('path = ".env"');
    expect(lineRange('a', 9)).toEqual({ from: 0, to: 1 });
  });
});

describe('a rule that is added', () => {
  it('stands at the end, apart', () => expect(withRule('# mine\n\n\n', '[[rules]]\n')).toBe('# mine\n\n[[rules]]\n'));
  it('is all there is in an empty text', () => expect(withRule(' \n', '[[rules]]\n')).toBe('[[rules]]\n'));
});
