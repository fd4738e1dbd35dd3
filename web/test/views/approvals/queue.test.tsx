import { render } from 'preact';
import { act } from 'preact/test-utils';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ACPEvent } from '../../../src/generated/agent-context';
import { connection } from '../../../src/hub/connection';
import { askId, sessionList } from '../../../src/hub/session_list';
import { PAUSE_MS, REASON_PAUSE_MS, Sentence } from '../../../src/views/approvals/keys';
import { ApprovalsQueue } from '../../../src/views/approvals/queue';
import { onEvent } from '../../../src/views/approvals/resolutions';
import { placesAfter, REST_MS, scrolledByPage, SEEN_MS, Shown, Steadiness } from '../../../src/views/approvals/steady';

const idOf = (one: string): string => one;

describe('places', () => {
  it('are in order while nobody looks', () => expect(placesAfter(['b', 'c'], ['a', 'c'], false, idOf)).toEqual(['a', 'c']));
  it('hold still while somebody does: the new below, the decided where it was', () => {
    expect(placesAfter(['b', 'c'], ['a', 'c'], true, idOf)).toEqual(['b', 'c', 'a']);
  });
});

describe('a card', () => {
  it('rests when it came and when it moved, and scrolling is no move', () => {
    const card = new Steadiness(0);
    expect([card.rests(10), card.rests(REST_MS)]).toEqual([true, false]);
    card.look({ onScreen: 100, inPage: 100 }, 2000);
    card.look({ onScreen: 40, inPage: 100 }, 2100);
    expect(card.rests(2150)).toBe(false);
    card.look({ onScreen: 10, inPage: 70 }, 2200);
    expect([card.rests(2300), card.rests(2200 + REST_MS)]).toEqual([true, false]);
  });
});

describe('what a card decides', () => {
  const card = document.createElement('article');
  card.innerHTML = '<div data-decided><pre></pre><footer data-decides></footer></div>';
  const [decided, command, buttons] = ['div', 'pre', 'footer'].map((name) => card.querySelector(name)!) as [Element, Element, Element];
  const placed = (top: number, height: number): void => {
    decided.getBoundingClientRect = () => ({ left: 0, top }) as DOMRect;
    command.getBoundingClientRect = () => ({ height }) as DOMRect;
  };
  const screen = (from: number, to: number, at: Element = command, height = 144): void => {
    vi.stubGlobal('document', { querySelector: () => null, elementFromPoint: (_: number, y: number) => (y >= from && y < to ? at : null) });
    vi.stubGlobal('innerHeight', height);
  };
  afterEach(() => vi.unstubAllGlobals());

  const seenAfter = (ms: number): boolean => {
    const shown = new Shown();
    shown.wasSeen(card, 0);
    return shown.wasSeen(card, ms);
  };

  it('was not seen while it is above the screen, and was once it has been there for a moment, bit by bit too', () => {
    const shown = new Shown();
    screen(0, 80);
    const stays = (top: number, from: number): boolean => {
      placed(top, 400);
      shown.wasSeen(card, from);
      return shown.wasSeen(card, from + SEEN_MS);
    };
    expect(stays(-300, 0)).toBe(false);
    expect(stays(10, 1_000)).toBe(false);
    expect(stays(-60, 2_000)).toBe(true);
    expect(stays(-300, 3_000)).toBe(true);
  });
  it('was not seen where it only flew past, however often', () => {
    const shown = new Shown();
    screen(0, 200);
    for (let now = 0; now < 10 * SEEN_MS; now += SEEN_MS / 2) {
      placed(now % SEEN_MS === 0 ? 20 : -300, 400);
      expect(shown.wasSeen(card, now)).toBe(false);
    }
  });
  it('was seen where it stayed on the screen while somebody scrolled slowly', () => {
    const shown = new Shown();
    screen(0, 200);
    for (let now = 0; now < SEEN_MS; now += 100) {
      placed(60 - now / 20, 400);
      expect(shown.wasSeen(card, now)).toBe(false);
    }
    expect(shown.wasSeen(card, SEEN_MS)).toBe(true);
  });
  it('is not what can be opened at its end, until it is open', () => {
    placed(40, 80);
    command.innerHTML = '<details></details>';
    const more = command.querySelector('details')!;
    command.getBoundingClientRect = () => ({ top: 40, height: 80 }) as DOMRect;
    more.getBoundingClientRect = () => ({ top: 80 }) as DOMRect;
    screen(0, 80);
    expect(seenAfter(SEEN_MS)).toBe(true);
    more.open = true;
    expect(seenAfter(SEEN_MS)).toBe(false);
    command.innerHTML = '';
  });
  it('is all of a short command', () => {
    placed(40, 38);
    screen(0, 70);
    expect(seenAfter(SEEN_MS)).toBe(false);
    screen(0, 80);
    expect(seenAfter(SEEN_MS)).toBe(true);
    expect(seenAfter(SEEN_MS - 1)).toBe(false);
  });
  it('is all of a long one, as far as the screen takes it', () => {
    placed(0, 400);
    screen(0, 300, command, 600);
    expect(seenAfter(SEEN_MS)).toBe(false);
    screen(0, 400, command, 600);
    expect(seenAfter(SEEN_MS)).toBe(true);
    screen(0, 300, command, 300);
    expect(seenAfter(SEEN_MS)).toBe(true);
  });
  it('was not seen while the buttons lie over it', () => {
    placed(40, 38);
    screen(0, 200, buttons);
    expect(seenAfter(SEEN_MS)).toBe(false);
  });
});

const root = document.createElement('div');
let seq = 0;
const receive = (event: object): Promise<void> => act(() => (sessionList as unknown as { trackPending(event: ACPEvent): void }).trackPending({ sessionId: 's', timestamp: '2026-01-01T00:00:00Z', seq: ++seq, ...event } as never));
const request = (requestId: string, expiresAt: string): Promise<void> => receive({ type: 'approval:requested', requestId, toolCallId: requestId, toolName: 'x', toolInput: {}, description: requestId, riskLevel: 'low', expiresAt });
const resolved = (requestId: string): Promise<void> => receive({ type: 'approval:resolved', requestId, approved: true });
const elsewhere = async (requestId: string): Promise<void> => {
  await act(() => onEvent({ type: 'approval:resolved', sessionId: 's', timestamp: '2026-01-01T00:00:00Z', seq, requestId, approved: true, resolvedBy: 'user', _meta: { by: 'Bo' } } as never));
  await resolved(requestId);
};
const cardOf = (ask: string): HTMLElement | null => root.querySelector(`[data-ask="${ask}"]`);
const type = (key: string, more: KeyboardEventInit = {}): Promise<void> => act(() => { (document.activeElement ?? document.body).dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more })); });
const refused = (): string | undefined => root.querySelector('[role=alert][data-refused]')?.textContent ?? undefined;
const sized = (scrollHeight: number): void => void Object.defineProperties(root, { scrollHeight: { value: scrollHeight, configurable: true }, clientHeight: { value: 100, configurable: true } });
const shown = (): string[] => [...root.querySelectorAll<HTMLElement>('[data-ask]')].map((card) => card.dataset['ask'] ?? '');
const approveOf = (ask: string): HTMLButtonElement | null => root.querySelector(`[data-ask="${ask}"] .ui-button-primary`);
const decided = (): string[] => connection.outbox.peek().map((sent) => (sent.command as { requestId: string }).requestId);
const later = (ms: number): Promise<void> => act(() => { vi.advanceTimersByTime(ms); });
const point = (type: string): Promise<void> => act(() => { root.querySelector('ol')?.dispatchEvent(Object.assign(new Event(type, { bubbles: false }), { pointerType: 'mouse' })); });

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
  connection.outbox.peek().forEach((sent) => sent.drop());
  (connection as unknown as { currentScope: { value: string } }).currentScope.value = 'admin';
  document.body.append(root);
  await act(() => render(<ApprovalsQueue />, root));
});
afterEach(async () => {
  await act(() => render(null, root));
  for (const ask of sessionList.pending.peek()) await resolved(askId(ask));
  connection.outbox.peek().forEach((sent) => sent.drop());
  (connection as unknown as { currentScope: { value: string } }).currentScope.value = 'view';
  root.remove();
  vi.useRealTimers();
});

describe('the queue', () => {
  it('shows what only its terminal can answer, and takes no press for it', async () => {
    await receive({ type: 'approval:requested', requestId: 'q-there', toolCallId: 'q-there', toolName: 'x', toolInput: {}, description: 'd', riskLevel: 'low', expiresAt: '2', _meta: { answerThere: true, options: [] } });
    await later(REST_MS + 200);
    await type('a');
    expect([cardOf('q-there')?.textContent?.includes('Answer it in the terminal'), approveOf('q-there'), decided()]).toEqual([true, null, []]);
  });

  it('takes no press on a card that came just now, by key or by mouse', async () => {
    await request('q-a', '2');
    const press = (): Promise<void> => act(() => { document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true })); approveOf('q-a')?.click(); });
    await press();
    expect(decided()).toEqual([]);
    await later(REST_MS + 200);
    await press();
    expect(decided()).toEqual(['q-a']);
  });
  it('takes no press on a card that moved under the pointer', async () => {
    await request('q-a', '2');
    await later(REST_MS + 200);
    const card = root.querySelector<HTMLElement>('[data-ask="q-a"]')!;
    card.getBoundingClientRect = () => ({ top: 300 }) as DOMRect;
    await act(() => approveOf('q-a')?.click());
    expect(decided()).toEqual([]);
    await later(REST_MS + 200);
    await act(() => approveOf('q-a')?.click());
    expect(decided()).toEqual(['q-a']);
  });
  it.each([
    ['takes a press where the reader scrolled', (): void => void (root.scrollTop += 60), ['q-a']],
    ['takes no press where the page scrolled by itself', (): void => { root.scrollTop += 60; scrolledByPage(root, 60); }, []],
    ['takes no press where what is below shrank, so that the browser scrolled', (): void => { sized(130); root.scrollTop = 30; }, []],
  ])('%s', async (_, scroll, taken) => {
    sized(5_000);
    root.scrollTop = 90;
    await request('q-a', '2');
    cardOf('q-a')!.getBoundingClientRect = () => ({ top: 300 - root.scrollTop }) as DOMRect;
    await later(2 * REST_MS + 200);
    scroll();
    await act(() => approveOf('q-a')?.click());
    expect(decided()).toEqual(taken);
  });
  it('shows at once that a card that moved takes no press, also while a reason is written', async () => {
    await request('q-a', '1');
    await request('q-b', '2');
    await later(REST_MS + 200);
    const card = root.querySelector<HTMLElement>('[data-ask="q-b"]')!;
    const enabled = (): boolean[] => [...card.querySelectorAll<HTMLButtonElement>('.approvals-actions button')].map((button) => !button.disabled && button.getAttribute('aria-disabled') !== 'true');
    await act(() => card.querySelector<HTMLButtonElement>('.approvals-deny')?.click());
    expect([enabled().length > 1, enabled().every(Boolean)]).toEqual([true, true]);
    card.getBoundingClientRect = () => ({ top: 300 }) as DOMRect;
    await resolved('q-a');
    expect(enabled().some(Boolean)).toBe(false);
    await act(() => { card.querySelector('form')?.querySelector<HTMLButtonElement>('[type=submit]')?.click(); });
    expect(decided()).toEqual([]);
    await later(REST_MS + 200);
    expect(enabled().every(Boolean)).toBe(true);
  });
  it('keeps places while somebody points at it, and puts them right when they leave', async () => {
    await request('q-b', '2');
    await request('q-c', '3');
    await point('pointerenter');
    await request('q-a', '1');
    await resolved('q-b');
    expect(shown()).toEqual(['q-b', 'q-c', 'q-a']);
    expect(approveOf('q-b')).toBeNull();
    await point('pointerleave');
    expect(shown()).toEqual(['q-a', 'q-c']);
  });
  it('counts decisions on two asks in quick succession', async () => {
    await request('q-a', '1');
    await request('q-b', '2');
    await later(REST_MS + 200);
    await act(() => approveOf('q-a')?.click());
    await act(() => approveOf('q-b')?.click());
    expect(decided()).toEqual(['q-a', 'q-b']);
  });
});

describe('while a reason is typed and the ask ends elsewhere', () => {
  const writing = async (one: string, other: string): Promise<HTMLInputElement> => {
    await request(one, '2026-01-01T00:10:00Z');
    await request(other, '2026-01-01T00:20:00Z');
    await later(REST_MS + 200);
    await type('d');
    const field = cardOf(one)!.querySelector<HTMLInputElement>('input')!;
    field.focus();
    field.value = 'this would';
    await act(() => { field.dispatchEvent(new Event('input', { bubbles: true })); });
    await elsewhere(one);
    return field;
  };
  it('the field stays with what was typed, and says by whom', async () => {
    const field = await writing('w1-a', 'w1-b');
    expect([field.isConnected, document.activeElement === field, field.value, field.readOnly]).toEqual([true, true, 'this would', true]);
    expect(cardOf('w1-a')!.textContent).toContain('Approved by Bo');
    await later(REST_MS + 200);
    for (const key of [...' break a', 'Enter']) await type(key);
    await act(() => { field.form!.dispatchEvent(new Event('submit', { bubbles: true, cancelable: true })); });
    expect(decided()).toEqual([]);
    await act(() => field.blur());
    await later(10);
    expect(shown()).toEqual(['w1-b']);
  });
  it('the clock of what is over is gone', async () => {
    await request('w2-a', new Date(Date.now() + 600_000).toISOString());
    expect(cardOf('w2-a')!.querySelector('[role=timer]')).not.toBeNull();
    await point('pointerenter');
    await elsewhere('w2-a');
    expect(cardOf('w2-a')!.querySelector('[role=timer]')).toBeNull();
    await point('pointerleave');
  });
  it('keys rest until the typing pauses, should the field go after all', async () => {
    const field = await writing('w3-a', 'w3-b');
    await act(() => field.blur());
    field.focus();
    await later(REST_MS + 200);
    await act(() => field.remove());
    for (const key of 'a staging area') {
      await type(key);
      await later(PAUSE_MS / 3);
    }
    expect(decided()).toEqual([]);
    await later(PAUSE_MS);
    await type('a');
    expect(decided()).toEqual(['w3-b']);
  });
});

describe('a sentence', () => {
  const key = (): KeyboardEvent => new KeyboardEvent('keydown', { key: 'a' });
  it('ends where somebody leaves the field, and goes on where the field goes', () => {
    const field = document.createElement('input');
    root.append(field);
    const sentence = new Sentence();
    sentence.came(field);
    sentence.left(100);
    expect(sentence.goesOn(key(), 200)).toBe(false);
    sentence.came(field);
    field.remove();
    sentence.left(300);
    expect([sentence.goesOn(key(), 300 + PAUSE_MS - 1), sentence.goesOn(key(), 300 + PAUSE_MS + 10), sentence.goesOn(key(), 400 + 3 * PAUSE_MS)]).toEqual([true, true, false]);
  });
});

describe('a press that is refused', () => {
  it('says why on its card', async () => {
    await request('r-a', '1');
    await type('a');
    expect(refused()).toContain('came or moved just now');
    await later(REST_MS + 200);
    expect(refused()).toBeDefined();
    await later(3_000);
    expect(refused()).toBeUndefined();
    expect(decided()).toEqual([]);
  });
  it('by mouse too, and the button stays one that can be pressed', async () => {
    await request('r-b', '1');
    const button = approveOf('r-b')!;
    expect([button.disabled, button.getAttribute('aria-disabled')]).toEqual([false, 'true']);
    await act(() => button.click());
    expect(refused()).toContain('came or moved just now');
    await later(REST_MS + 200);
    await act(() => button.click());
    expect(decided()).toEqual(['r-b']);
  });
  it('to deny makes letters rest until a pause', async () => {
    await request('r-c', '1');
    await type('d');
    for (const key of 'a bad idea') {
      await later(REASON_PAUSE_MS - 100);
      await type(key);
      expect(refused()).toContain('letters do nothing');
    }
    expect([decided(), document.activeElement?.tagName]).toEqual([[], 'BODY']);
    await later(REASON_PAUSE_MS);
    await type('a');
    expect(decided()).toEqual(['r-c']);
  });
  it('is one by a key that is held down, whatever it opened', async () => {
    await request('r-d', '1');
    await later(REST_MS + 200);
    await type('a', { repeat: true });
    expect([refused()?.includes('held down'), decided()]).toEqual([true, []]);
    await type('d');
    const field = document.activeElement!;
    expect(field.tagName).toBe('INPUT');
    const repeated = new KeyboardEvent('keydown', { key: 'd', repeat: true, bubbles: true, cancelable: true });
    await act(() => { field.dispatchEvent(repeated); });
    expect(repeated.defaultPrevented).toBe(true);
    const enter = new KeyboardEvent('keydown', { key: 'Enter', repeat: true, bubbles: true, cancelable: true });
    await act(() => { field.dispatchEvent(enter); });
    expect(enter.defaultPrevented).toBe(true);
  });
  it('is one while an answer is on its way', async () => {
    await request('r-e', '1');
    await later(REST_MS + 200);
    await type('a');
    await type('a');
    expect([refused(), decided()]).toEqual(['Your answer is on its way.', ['r-e']]);
  });
});

describe('who uses keys', () => {
  const named = (): string[] => [...root.querySelectorAll('kbd')].map((key) => key.textContent ?? '');
  const decidedHere = async (requestId: string): Promise<void> => {
    await act(() => onEvent({ type: 'approval:resolved', sessionId: 's', timestamp: '2026-01-01T00:00:00Z', seq, requestId, approved: false, resolvedBy: 'user' } as never));
    await resolved(requestId);
  };
  const deny = async (requestId: string): Promise<void> => {
    await later(REST_MS + 200);
    await type('d');
    expect(document.activeElement?.tagName).toBe('INPUT');
    await act(() => { cardOf(requestId)!.querySelector('form')!.dispatchEvent(new Event('submit', { bubbles: true, cancelable: true })); });
    expect(document.activeElement).toBe(cardOf(requestId));
    await decidedHere(requestId);
  };
  it('is on the next card after a denial, and on the heading after the last', async () => {
    await request('k-a', '1');
    await request('k-b', '2');
    await deny('k-a');
    expect(document.activeElement).toBe(cardOf('k-b'));
    await deny('k-b');
    expect(document.activeElement).toBe(root.querySelector('h1'));
    expect(decided()).toEqual(['k-a', 'k-b']);
  });
  it('is told of the keys that do something only', async () => {
    await request('k-c', '1');
    expect(named()).toEqual(['j', 'k', 'a', 'd']);
    await act(() => { (connection as unknown as { currentScope: { value: string } }).currentScope.value = 'view'; });
    expect(named()).toEqual(['j', 'k']);
  });
});
