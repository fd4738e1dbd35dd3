import { effect, untracked } from '@preact/signals';
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

  it('comes to rest where an ask is a little taller than it may be, and stands too near the end to be shown from its beginning', () => {
    const scroller = new Scroller(() => undefined, () => undefined, () => undefined, () => undefined);
    const [view, space, block] = [document.createElement('div'), document.createElement('div'), document.createElement('div')];
    const keys = Array.from({ length: 40 }, (_, at) => `r${at}`);
    const most = 39 * 40 + 60 - 100;
    let top = 0;
    Object.defineProperties(view, {
      clientHeight: { value: 100 }, scrollHeight: { value: most + 100 },
      scrollTop: { get: () => top, set: (wanted: number) => { top = Math.min(wanted, most); } },
    });
    scroller.attach({ view, space, block });
    scroller.showFrom('r39');
    let drawings = 0;
    effect(() => {
      void scroller.range;
      drawings += 1;
      untracked(() => {
        scroller.setRows(keys, (at) => (at === 39 ? 60 : 40));
        scroller.settle();
      });
    });
    expect([top, drawings <= 3]).toEqual([most, true]);
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

  it('lets the reader go at once, whatever is drawn, let go or held before the browser tells that they scrolled', () => {
    for (const meanwhile of ['draw', 'letGo', 'keepStill'] as const) {
      const scroller = new Scroller(() => undefined, () => undefined, () => undefined, () => undefined);
      const { view, rows } = viewOf(scroller);
      scroller.showFrom('r18');
      rows(20);
      scroller.keepStill('r18');
      view.scrollTop = 580;
      if (meanwhile === 'draw') rows(20);
      else if (meanwhile === 'letGo') scroller.letGo('r18');
      else scroller.keepStill('r19');
      scroller.scrolled();
      scroller.letGo('r18');
      scroller.letGo('r19');
      rows(20);
      expect([meanwhile, view.scrollTop, scroller.stuck.value]).toEqual([meanwhile, 580, false]);
    }
  });

  it('lets the reader go by their first pixels, and follows again when they come back', () => {
    const scroller = new Scroller(() => undefined, () => undefined, () => undefined, () => undefined);
    const { view, rows } = viewOf(scroller);
    rows(20);
    view.scrollTop = 695;
    scroller.scrolled();
    rows(21);
    expect([view.scrollTop, scroller.stuck.value]).toEqual([695, false]);
    view.scrollTop = 735;
    scroller.scrolled();
    rows(22);
    expect([view.scrollTop, scroller.stuck.value]).toEqual([780, true]);
  });

  it('shows several asks from the first of them where they do not fit together', () => {
    const scroller = new Scroller(() => undefined, () => undefined, () => undefined, () => undefined);
    const { view, rows } = viewOf(scroller);
    scroller.showFrom('r16');
    scroller.showFrom('r19');
    rows(20);
    expect(view.scrollTop).toBe(640);
    scroller.showOn('r16');
    expect(view.scrollTop).toBe(700);
  });
});
