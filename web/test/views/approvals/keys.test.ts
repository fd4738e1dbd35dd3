import { describe, expect, it, vi } from 'vitest';
import { isForPage, keepKeys, press, selectionAfter, stepFrom } from '../../../src/views/approvals/keys';

describe('the selection', () => {
  it('moves up and down, and stays at the ends', () => {
    expect(stepFrom(['a', 'b'], 'a', 1)).toBe('b');
    expect(stepFrom(['a', 'b'], 'b', 1)).toBe('b');
    expect(stepFrom(['a', 'b'], 'a', -1)).toBe('a');
    expect(stepFrom(['a', 'b'], null, 1)).toBe('a');
    expect(stepFrom([], null, 1)).toBeNull();
  });
  it('stays with its ask when others come and go', () => expect(selectionAfter(['a', 'b'], ['x', 'b'], 'b')).toBe('b'));
  it('goes to what took its place', () => {
    expect(selectionAfter(['a', 'b', 'c'], ['a', 'c'], 'b')).toBe('c');
    expect(selectionAfter(['a', 'b'], ['a'], 'b')).toBe('a');
    expect(selectionAfter(['a'], [], 'a')).toBeNull();
  });
});

describe('a key', () => {
  it('acts on the selected card only', () => {
    const one = { approve: vi.fn(), deny: vi.fn() };
    const other = { approve: vi.fn(), deny: vi.fn() };
    const [stopOne, stopOther] = [keepKeys('one', one), keepKeys('other', other)];
    expect(press('other', 'a')).toBe('done');
    expect(one.approve).not.toHaveBeenCalled();
    expect(other.approve).toHaveBeenCalledOnce();
    expect(press('one', 'e')).toBeNull();
    stopOne();
    stopOther();
    expect(press('one', 'a')).toBeNull();
  });
  it('is not for the page in a field or with a modifier', () => {
    const field = document.createElement('textarea');
    document.body.append(field);
    const typed: boolean[] = [];
    document.addEventListener('keydown', (event) => typed.push(isForPage(event)));
    field.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true }));
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true, ctrlKey: true }));
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true }));
    expect(typed).toEqual([false, false, true]);
  });
});
