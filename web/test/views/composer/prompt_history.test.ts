// @vitest-environment node
import { describe, expect, it } from 'vitest';
import { meansHistory, PromptHistory } from '../../../src/views/composer/prompt_history';

describe('prompts called back', () => {
  it('come newest first, and stop at the oldest', () => {
    const history = new PromptHistory(['one', 'two']);
    expect([history.older(''), history.older('two'), history.older('one')]).toEqual(['two', 'one', null]);
  });
  it('give back what was being written', () => {
    const history = new PromptHistory(['one']);
    history.older('half a sent');
    expect(history.newer()).toBe('half a sent');
    expect(history.newer()).toBeNull();
  });
  it('are looked at once each, and empty ones never', () => {
    const history = new PromptHistory(['a', 'b', ' ', 'a']);
    expect([history.older(''), history.older(''), history.older('')]).toEqual(['a', 'b', null]);
  });
  it('are left when somebody types', () => {
    const history = new PromptHistory(['one', 'two']);
    history.older('');
    history.edited();
    expect(history.older('two, changed')).toBe('two');
    expect(history.newer()).toBe('two, changed');
  });
});

describe('an arrow key', () => {
  it('means the history at the beginning or end of the first line', () => {
    expect(meansHistory('ArrowUp', 'one\ntwo', 0, 0)).toBe(true);
    expect(meansHistory('ArrowUp', 'one\ntwo', 5, 5)).toBe(false);
    expect(meansHistory('ArrowUp', 'one', 1, 1)).toBe(false);
    expect(meansHistory('ArrowUp', 'one', 3, 3)).toBe(true);
    expect(meansHistory('ArrowUp', 'one', 0, 2)).toBe(false);
  });
  it('means the history on the last line for down', () => {
    expect(meansHistory('ArrowDown', 'one\ntwo', 4, 4)).toBe(true);
    expect(meansHistory('ArrowDown', 'one\ntwo', 1, 1)).toBe(false);
  });
});
