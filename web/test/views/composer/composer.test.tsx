import { signal } from '@preact/signals';
import { render } from 'preact';
import { act } from 'preact/test-utils';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { connection } from '../../../src/hub/connection';
import type { OpenSession } from '../../../src/model/open_session';
import { Composer, leftOf } from '../../../src/views/composer/composer';
import { keepDraft } from '../../../src/views/composer/drafts';

const root = document.createElement('div');
const view = { id: 's', agent: 'x', status: 'idle', turn: null, queue: [], paused: false, capabilities: null, commands: null, watchOnly: false };
const session = { sessionId: 'composed', state: signal(view), timeline: { items: signal([]) }, prompts: signal([]) } as unknown as OpenSession;
const scope = (connection as unknown as { currentScope: { value: string } }).currentScope;
const sentTexts = (): string[] => connection.outbox.peek().map((sent) => (sent.command as { message: string }).message);
const field = (): HTMLTextAreaElement => root.querySelector('textarea')!;
const type = (text: string): void => {
  field().value = text;
  field().dispatchEvent(new Event('input', { bubbles: true }));
};
const enter = (): void => void field().dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }));

beforeEach(async () => {
  connection.outbox.peek().forEach((sent) => sent.drop());
  keepDraft('composed', '');
  scope.value = 'admin';
  document.body.append(root);
  await act(() => render(<Composer session={session} />, root));
});
afterEach(async () => {
  await act(() => render(null, root));
  connection.outbox.peek().forEach((sent) => sent.drop());
  keepDraft('composed', '');
  scope.value = 'view';
  root.remove();
});

describe('sending', () => {
  it('is one flight at a time, and keeps what is typed meanwhile', async () => {
    await act(() => type('hello'));
    await act(() => {
      enter();
      enter();
      type('hello and more');
    });
    await vi.waitFor(() => expect(sentTexts()).toEqual(['hello']));
    expect(field().value).toBe('and more');
  });
  it('leaves what is the next message', () => {
    expect(leftOf('one', 'one')).toBe('');
    expect(leftOf('one two', 'one')).toBe('two');
    expect(leftOf('another', 'one')).toBe('another');
  });
});

describe('a long text', () => {
  it('is not measured', async () => {
    const measured = vi.spyOn(HTMLTextAreaElement.prototype, 'scrollHeight', 'get');
    await act(() => type('x'.repeat(200_000)));
    expect(measured).not.toHaveBeenCalled();
    await act(() => type('x'));
    expect(measured).toHaveBeenCalled();
    measured.mockRestore();
  });
});
