import { describe, expect, it } from 'vitest';
import { Scroller } from '../../../../src/views/session/conversation/scroller';

/** A view of 100 px on rows of 40 px, as far as the scroller asks. */
function viewOf(scroller: Scroller): { view: HTMLElement; rows: (count: number, tall?: string) => void } {
  const [view, space, block] = [document.createElement('div'), document.createElement('div'), document.createElement('div')];
  let keys: string[] = [];
  Object.defineProperties(view, { clientHeight: { value: 100 }, scrollHeight: { get: () => Math.max(100, keys.length * 40) } });
  scroller.attach({ view, space, block });
  const rows = (count: number, tall?: string): void => {
    keys = Array.from({ length: count }, (_, at) => `r${at}`);
    scroller.setRows(keys, (at) => (keys[at] === tall ? 200 : 40));
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

  it('shows an ask that is taller than the screen from its beginning, until it is answered or the reader scrolls on', () => {
    const scroller = new Scroller(() => undefined, () => undefined, () => undefined, () => undefined);
    const { view, rows } = viewOf(scroller);
    scroller.showFrom('r10');
    rows(20, 'r10');
    expect([view.scrollTop, scroller.still.value]).toEqual([400, true]);
    rows(30, 'r10');
    expect(view.scrollTop).toBe(400);
    scroller.showOn('r10');
    expect(view.scrollTop).toBe(1100);
    scroller.showFrom('r10');
    scroller.settle();
    expect(view.scrollTop).toBe(400);
    view.scrollTop = 450;
    scroller.scrolled();
    rows(40, 'r10');
    expect(view.scrollTop).toBe(450);
  });

  it('goes to the end all the same where the reader wants it, and where the ask fits', () => {
    const scroller = new Scroller(() => undefined, () => undefined, () => undefined, () => undefined);
    const { view, rows } = viewOf(scroller);
    scroller.showFrom('r10');
    rows(20, 'r10');
    scroller.toEnd();
    expect([view.scrollTop, scroller.still.value]).toEqual([700, false]);
    scroller.showFrom('r19');
    rows(20, 'r10');
    expect(view.scrollTop).toBe(700);
  });
});
