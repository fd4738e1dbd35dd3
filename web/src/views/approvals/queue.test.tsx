import { render } from 'preact';
import { act } from 'preact/test-utils';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ACPEvent } from '../../generated/agent-context';
import { link } from '../../hub/link';
import { store } from '../../hub/sessions';
import { ApprovalsQueue } from './queue';
import { placesAfter, REST_MS, Steadiness } from './steady';

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

const root = document.createElement('div');
let seq = 0;
const heard = (event: object): Promise<void> => act(() => (store as unknown as { heardAsk(event: ACPEvent): void }).heardAsk({ sessionId: 's', timestamp: '2026-01-01T00:00:00Z', seq: ++seq, ...event } as never));
const asked = (requestId: string, expiresAt: string): Promise<void> => heard({ type: 'approval:requested', requestId, toolCallId: requestId, toolName: 'x', toolInput: {}, description: requestId, riskLevel: 'low', expiresAt });
const resolved = (requestId: string): Promise<void> => heard({ type: 'approval:resolved', requestId, approved: true });
const shown = (): string[] => [...root.querySelectorAll<HTMLElement>('[data-ask]')].map((card) => card.dataset['ask'] ?? '');
const approveOf = (ask: string): HTMLButtonElement | null => root.querySelector(`[data-ask="${ask}"] .ui-button-primary`);
const decided = (): string[] => link.outbox.peek().map((sent) => (sent.command as { requestId: string }).requestId);
const later = (ms: number): Promise<void> => act(() => { vi.advanceTimersByTime(ms); });
const point = (type: string): Promise<void> => act(() => { root.querySelector('ol')?.dispatchEvent(Object.assign(new Event(type, { bubbles: false }), { pointerType: 'mouse' })); });

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
  link.outbox.peek().forEach((sent) => sent.drop());
  (link as unknown as { currentScope: { value: string } }).currentScope.value = 'admin';
  document.body.append(root);
  await act(() => render(<ApprovalsQueue />, root));
});
afterEach(async () => {
  await act(() => render(null, root));
  for (const ask of ['q-a', 'q-b', 'q-c']) await resolved(ask);
  link.outbox.peek().forEach((sent) => sent.drop());
  (link as unknown as { currentScope: { value: string } }).currentScope.value = 'view';
  root.remove();
  vi.useRealTimers();
});

describe('the queue', () => {
  it('takes no press on a card that came just now, by key or by mouse', async () => {
    await asked('q-a', '2');
    const press = (): Promise<void> => act(() => { document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true })); approveOf('q-a')?.click(); });
    await press();
    expect(decided()).toEqual([]);
    await later(REST_MS + 200);
    await press();
    expect(decided()).toEqual(['q-a']);
  });
  it('takes no press on a card that moved under the pointer', async () => {
    await asked('q-a', '2');
    await later(REST_MS + 200);
    const card = root.querySelector<HTMLElement>('[data-ask="q-a"]')!;
    card.getBoundingClientRect = () => ({ top: 300 }) as DOMRect;
    await act(() => approveOf('q-a')?.click());
    expect(decided()).toEqual([]);
    await later(REST_MS + 200);
    await act(() => approveOf('q-a')?.click());
    expect(decided()).toEqual(['q-a']);
  });
  it('shows at once that a card that moved takes no press, also while a reason is written', async () => {
    await asked('q-a', '1');
    await asked('q-b', '2');
    await later(REST_MS + 200);
    const card = root.querySelector<HTMLElement>('[data-ask="q-b"]')!;
    const enabled = (): boolean[] => [...card.querySelectorAll<HTMLButtonElement>('.approvals-actions button')].map((button) => !button.disabled);
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
    await asked('q-b', '2');
    await asked('q-c', '3');
    await point('pointerenter');
    await asked('q-a', '1');
    await resolved('q-b');
    expect(shown()).toEqual(['q-b', 'q-c', 'q-a']);
    expect(approveOf('q-b')).toBeNull();
    await point('pointerleave');
    expect(shown()).toEqual(['q-a', 'q-c']);
  });
  it('counts decisions on two asks in quick succession', async () => {
    await asked('q-a', '1');
    await asked('q-b', '2');
    await later(REST_MS + 200);
    await act(() => approveOf('q-a')?.click());
    await act(() => approveOf('q-b')?.click());
    expect(decided()).toEqual(['q-a', 'q-b']);
  });
});
