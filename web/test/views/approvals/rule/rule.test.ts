// @vitest-environment node
import { describe, expect, it } from 'vitest';
import { limitsOf, ruleFor, ruleText, type Rule } from '../../../../src/views/approvals/rule/rule';

const ALWAYS: Rule = { action: 'allow', tool: ['bash'], agent: ['demo'], command: ['rm -rf build'], path: ['.'], risk: ['high'], root: '/home/ann/app' };

describe('a rule as text', () => {
  it('is what the hub appends to the file, with its action last', () => {
    expect(ruleText(ALWAYS)).toBe([
      '[[rules]]', 'tool = ["bash"]', 'agent = ["demo"]', 'command = ["rm -rf build"]', 'path = ["."]', 'risk = ["high"]',
      'root = "/home/ann/app"', 'action = "allow"', '',
    ].join('\n'));
  });
  it('escapes what would end a string', () => {
    expect(ruleText({ action: 'deny', command: ['echo "a\\b"\n\x7f'] })).toContain('command = ["echo \\"a\\\\b\\"\\n\\u007f"]');
  });
  it('leaves out lists that are empty, never an empty text', () => {
    expect(ruleText({ action: 'ask', tool: [], session: '' })).toBe('[[rules]]\nsession = ""\naction = "ask"\n');
  });
});

describe('the rule that a decision writes', () => {
  it('is the hub’s own for always', () => expect(ruleFor(ALWAYS, true, 'always', 's1', 't1')).toEqual(ALWAYS));
  it('is bound to the session and to the turn', () => {
    expect(ruleFor(ALWAYS, true, 'session', 's1', 't1')).toMatchObject({ session: 's1' });
    expect(ruleFor(ALWAYS, true, 'session', 's1', 't1').turn).toBeUndefined();
    expect(ruleFor(ALWAYS, true, 'turn', 's1', 't1')).toMatchObject({ session: 's1', turn: 't1' });
  });
  it('denies a command from any tool and any agent', () => {
    expect(ruleFor(ALWAYS, false, 'always', 's1')).toEqual({ action: 'deny', command: ['rm -rf build'], root: '/home/ann/app' });
  });
  it('denies a path to the tool, whichever agent has it', () => {
    const rule = ruleFor({ action: 'allow', tool: ['edit'], agent: ['demo'], path: ['src/a.ts'], root: '/r' }, false, 'always', 's1');
    expect(rule).toEqual({ action: 'deny', tool: ['edit'], path: ['src/a.ts'], root: '/r' });
  });
});

describe('what a rule is limited to', () => {
  it('is told with the command first', () => {
    expect(limitsOf(ALWAYS).map((limit) => limit.key)).toEqual(['command', 'path', 'tool', 'agent', 'risk', 'root']);
  });
  it('is nothing for a rule about everything', () => expect(limitsOf({ action: 'deny' })).toEqual([]));
});
