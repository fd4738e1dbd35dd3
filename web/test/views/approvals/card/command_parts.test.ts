// @vitest-environment node
import { describe, expect, it } from 'vitest';
import { segmentsOf } from '../../../../src/views/approvals/card/command_parts';

const program = (start: number, end: number) => ({ start, end, kind: 'program' as const });

describe('a command in pieces', () => {
  it('is whole without parts', () => expect(segmentsOf('ls -l', undefined)).toEqual([{ text: 'ls -l', kind: null, risk: null }]));
  it('keeps what lies between the parts', () => {
    expect(segmentsOf('ls -l', [program(0, 2), { start: 3, end: 5, kind: 'flag' }])).toEqual([
      { text: 'ls', kind: 'program', risk: null }, { text: ' ', kind: null, risk: null }, { text: '-l', kind: 'flag', risk: null }]);
  });
  it('lets the inner part say what it is, and the worst how dangerous', () => {
    const segments = segmentsOf('echo $(rm x)', [{ start: 5, end: 12, kind: 'substitution', risk: 'medium' }, { ...program(7, 9), risk: 'high' }]);
    expect(segments.map(({ text, kind, risk }) => [text, kind, risk])).toEqual([
      ['echo ', null, null], ['$(', 'substitution', 'medium'], ['rm', 'program', 'high'], [' x)', 'substitution', 'medium']]);
  });
  it('does not let a harmless inner part hide the danger around it', () => {
    const segments = segmentsOf('sh -c "x"', [{ start: 6, end: 9, kind: 'string', risk: 'critical' }, { start: 7, end: 8, kind: 'argument', risk: 'low' }]);
    expect(segments.at(-2)).toEqual({ text: 'x', kind: 'argument', risk: 'critical' });
  });
  it('counts characters as the hub does', () => {
    const segments = segmentsOf('echo 🦩 x', [program(0, 4), { start: 7, end: 8, kind: 'argument' }]);
    expect(segments.at(-1)).toEqual({ text: 'x', kind: 'argument', risk: null });
  });
  it('skips parts that lie outside the line, and loses no text', () => {
    expect(segmentsOf('ls', [program(0, 9), program(-1, 1)])).toEqual([{ text: 'ls', kind: null, risk: null }]);
  });
});
