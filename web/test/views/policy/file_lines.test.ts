// @vitest-environment node
import { describe, expect, it } from 'vitest';
import { cutOut, lineRange, problemLine, ruleLines, ruleSpan, withRule } from '../../../src/views/policy/file_lines';

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

describe('a rule that is removed', () => {
  const without = (text: string, count: number, index: number): string | null => {
    const span = ruleSpan(text, count, index);
    return span && cutOut(text, span);
  };
  it('takes its own lines along, and nobody else’s', () => {
    expect(without(TEXT, 2, 0)).toBe('# mine\n\n  [[ rules ]]\naction = "ask"\n');
    expect(without(TEXT, 2, 1)).toBe('# mine\n\n[[rules]]\npath = ".env"\naction = "deny"\n');
  });
  it('leaves the comments of what follows, and tables that are no rules', () => {
    const text = '[[rules]]\n# about it\ncommand = [\n  "[a]*",\n]\naction = "deny" # no\n\n# the next one\n[auto_approve]\nreads = true\n';
    expect(without(text, 1, 0)).toBe('# the next one\n[auto_approve]\nreads = true\n');
  });
  it('may be all there is, with or without an end of its last line', () => {
    expect(without('[[rules]]\naction = "deny"', 1, 0)).toBe('');
    expect(without('# mine\n[[rules]]\naction = "deny"\n\n\n', 1, 0)).toBe('# mine\n');
    expect(without('[[rules]]\r\naction = "deny"\r\n\r\n[[rules]]\r\naction = "ask"\r\n', 2, 0)).toBe('[[rules]]\r\naction = "ask"\r\n');
  });
  it('is not cut out of a text that does not say plainly where it ends', () => {
    expect(ruleSpan('[[rules]]\nreason = """\n[x]\n"""\naction = "deny"\n', 1, 0)).toBeNull();
    expect(ruleSpan('rules = [{action = "deny"}]', 1, 0)).toBeNull();
  });
});
