// @vitest-environment node
import { describe, expect, it } from 'vitest';
import { commandsOf, completed, matchingCommands, tokenAt } from '../../../src/views/composer/suggestions';

describe('the word at the caret', () => {
  it('is a command at the very beginning only', () => {
    expect(tokenAt('/to', 3)).toEqual({ kind: 'command', query: 'to', from: 0, to: 3 });
    expect(tokenAt('/', 1)).toMatchObject({ kind: 'command', query: '' });
    expect(tokenAt('see /etc', 8)).toBeNull();
    expect(tokenAt('/tour now', 9)).toBeNull();
  });
  it('is a file at the beginning of a word', () => {
    expect(tokenAt('look at @src/a', 14)).toEqual({ kind: 'file', query: 'src/a', from: 8, to: 14 });
    expect(tokenAt('@', 1)).toMatchObject({ kind: 'file', query: '' });
    expect(tokenAt('one\n@b', 6)).toMatchObject({ kind: 'file', query: 'b' });
    expect(tokenAt('ann@example.com', 15)).toBeNull();
  });
  it('reaches behind the caret', () => expect(tokenAt('@read me', 3)).toMatchObject({ query: 're', from: 0, to: 5 }));
});

describe('a suggestion that was taken', () => {
  it('replaces the word and leaves a gap behind it', () => {
    expect(completed('look at @sr', { kind: 'file', query: 'sr', from: 8, to: 11 }, 'src/a.ts')).toEqual({ text: 'look at @src/a.ts ', caret: 18 });
  });
  it('adds no second gap', () => {
    expect(completed('/to the end', { kind: 'command', query: 'to', from: 0, to: 3 }, 'tour')).toEqual({ text: '/tour the end', caret: 6 });
  });
});

describe('commands that fit', () => {
  const commands = commandsOf([
    { name: 'compact', description: 'Shorten the talk' }, { name: '/commit', description: 'Commit it', input: { hint: 'message' } },
    { name: 'recommend' }, { name: 7 }, {}]);
  const names = (query: string) => matchingCommands(commands, query).map((command) => command.name);
  it('are read without their slash, with their hint', () => expect(commands[1]).toEqual({ name: 'commit', description: 'Commit it', hint: 'message' }));
  it('are all for nothing typed', () => expect(names('')).toEqual(['compact', 'commit', 'recommend']));
  it('come with those first that begin so', () => expect(names('com')).toEqual(['compact', 'commit', 'recommend']));
  it('fit by letters in order and by their description', () => {
    expect(names('cmt')).toEqual(['compact', 'commit']);
    expect(names('cmit')).toEqual(['commit']);
    expect(names('shorten')).toEqual(['compact']);
    expect(names('zzz')).toEqual([]);
  });
  it('are none where the agent has none', () => expect(commandsOf(null)).toEqual([]));
});
