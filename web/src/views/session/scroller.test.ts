import { describe, expect, it } from 'vitest';
import { Scroller } from './scroller';

/** A view of 100 px on rows of 40 px, as far as the scroller asks. */
function viewOf(scroller: Scroller): { view: HTMLElement; rows: (count: number) => void } {
  const [view, space, block] = [document.createElement('div'), document.createElement('div'), document.createElement('div')];
  let keys: string[] = [];
  Object.defineProperties(view, { clientHeight: { value: 100 }, scrollHeight: { get: () => Math.max(100, keys.length * 40) } });
  scroller.attach({ view, space, block });
  const rows = (count: number): void => {
    keys = Array.from({ length: count }, (_, at) => `r${at}`);
    scroller.setRows(keys, () => 40);
    scroller.settle();
  };
  return { view, rows };
}

describe('a conversation at its end', () => {
  it('keeps the row that somebody is about to press where it is, and follows its end again when they go', () => {
    const scroller = new Scroller(() => undefined, () => undefined, () => undefined, () => undefined);
    const { view, rows } = viewOf(scroller);
    rows(10);
    expect(view.scrollTop).toBe(300);
    scroller.keepStill('r8');
    rows(40);
    expect([view.scrollTop, scroller.still.value, scroller.range.first <= 8]).toEqual([300, true, true]);
    scroller.letGo('r7');
    expect(view.scrollTop).toBe(300);
    scroller.letGo('r8');
    expect([view.scrollTop, scroller.still.value]).toEqual([1500, false]);
  });
});
