import { describe, expect, it } from 'vitest';
import { segmentsOf } from './parts';

describe('a command in pieces', () => {
  it('is whole without parts', () => expect(segmentsOf('ls -l', undefined)).toEqual([{ text: 'ls -l', role: null }]));
  it('keeps what lies between the parts', () => {
    const parts = [{ start: 0, end: 2, role: 'command' }, { start: 3, end: 5, role: 'argument' }];
    expect(segmentsOf('ls -l', parts)).toEqual([
      { text: 'ls', role: 'command' }, { text: ' ', role: null }, { text: '-l', role: 'argument' }]);
  });
  it('lets the inner part count', () => {
    const parts = [{ start: 5, end: 10, role: 'substitution' }, { start: 7, end: 9, role: 'command' }];
    expect(segmentsOf('echo $(ls)', parts).map((segment) => segment.role)).toEqual([null, 'substitution', 'command', 'substitution']);
  });
  it('counts characters as the hub does', () => {
    const segments = segmentsOf('echo 🦩 x', [{ start: 0, end: 4, role: 'command' }, { start: 7, end: 8, role: 'argument' }]);
    expect(segments.at(-1)).toEqual({ text: 'x', role: 'argument' });
  });
  it('skips parts that lie outside the line, and loses no text', () => {
    const segments = segmentsOf('ls', [{ start: 0, end: 9, role: 'command' }, { start: -1, end: 1, role: 'command' }]);
    expect(segments).toEqual([{ text: 'ls', role: null }]);
  });
});
