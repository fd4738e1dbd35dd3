import { beforeEach, describe, expect, it, vi } from 'vitest';
import { forgetPersonalData } from '../../../src/hub/personal_data';
import { draftOf, enterSends, flushDrafts, keepDraft, rewriteDraft, setEnterSends, writesIn } from '../../../src/views/composer/drafts';

const IN_A = 'trunkline.draft.a';

beforeEach(() => {
  forgetPersonalData();
  localStorage.clear();
});

describe('a draft', () => {
  it('is kept for its session only', () => {
    keepDraft('a', 'half a thought');
    expect(draftOf('a')).toBe('half a thought');
    expect(draftOf('b')).toBe('');
  });
  it('goes when it is sent', () => {
    keepDraft('a', 'x');
    keepDraft('a', '');
    expect(draftOf('a')).toBe('');
    expect(localStorage.length).toBe(0);
  });
  it('is not taken away by what another tab sends', () => {
    keepDraft('a', 'of this tab');
    flushDrafts();
    localStorage.removeItem(IN_A); // as the other tab does
    expect(draftOf('a')).toBe('of this tab');
    expect(sessionStorage.getItem(IN_A)).toBe('of this tab');
  });
  it('takes away no draft of another tab when it is sent', () => {
    keepDraft('a', 'of this tab');
    flushDrafts();
    localStorage.setItem(IN_A, 'of another tab');
    keepDraft('a', '');
    expect(localStorage.getItem(IN_A)).toBe('of another tab');
    expect(sessionStorage.getItem(IN_A)).toBeNull();
  });
  it('that was kept last is there for who comes anew', () => {
    localStorage.setItem(IN_A, 'of a tab that was closed');
    expect(draftOf('a')).toBe('of a tab that was closed');
    keepDraft('a', '');
    expect([draftOf('a'), localStorage.length]).toEqual(['', 0]);
  });
  it('is put into storage when somebody pauses, not at every key', () => {
    vi.useFakeTimers();
    for (const text of ['l', 'lo', 'long']) keepDraft('d', text);
    expect(localStorage.getItem('trunkline.draft.d')).toBeNull();
    expect(draftOf('d')).toBe('long');
    vi.advanceTimersByTime(1_000);
    vi.useRealTimers();
    expect(localStorage.getItem('trunkline.draft.d')).toBe('long');
  });
  it('is changed by who writes in its session, and where it is kept while nobody does', () => {
    const field = { text: 'in the field' };
    const leave = writesIn('g', (change) => void (field.text = change(field.text)));
    rewriteDraft('g', (text) => `${text}, changed`);
    expect([field.text, draftOf('g')]).toEqual(['in the field, changed', '']);
    const again = writesIn('g', (change) => keepDraft('g', change('of who came after'))); // a view is there before the old one is gone
    leave();
    rewriteDraft('g', (text) => `${text}, changed`);
    expect(draftOf('g')).toBe('of who came after, changed');
    again();
    rewriteDraft('g', (text) => text.toUpperCase());
    expect(draftOf('g')).toBe('OF WHO CAME AFTER, CHANGED');
  });
  it('is not left for the next person', () => {
    keepDraft('e', 'mine');
    flushDrafts();
    keepDraft('f', 'mine too');
    forgetPersonalData();
    expect([draftOf('e'), draftOf('f'), localStorage.length, sessionStorage.length]).toEqual(['', '', 0, 0]);
  });
  it('lives in memory where the browser keeps nothing', () => {
    const full = vi.spyOn(Storage.prototype, 'setItem').mockImplementation(() => { throw new Error('full'); });
    keepDraft('c', 'kept all the same');
    flushDrafts();
    full.mockRestore();
    expect(draftOf('c')).toBe('kept all the same');
  });
});

describe('Enter', () => {
  it('sends where there are keys, and begins a line where there is only touch', () => {
    expect([enterSends(false), enterSends(true)]).toEqual([true, false]);
  });
  it('does what somebody said', () => {
    setEnterSends(true);
    expect(enterSends(true)).toBe(true);
    setEnterSends(false);
    expect(enterSends(false)).toBe(false);
  });
  it('does in every tab what was said in one', () => {
    setEnterSends(true);
    localStorage.setItem('trunkline.enter', 'newline');
    expect(enterSends(false)).toBe(false);
  });
});
