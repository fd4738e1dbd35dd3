import { signal, type Signal } from '@preact/signals';
import { render } from 'preact';
import { act } from 'preact/test-utils';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ClusterView, NodeView } from '../../../src/generated/api';
import { putCluster } from '../../../src/hub/cluster';
import { connection } from '../../../src/hub/connection';
import { http, HubError } from '../../../src/hub/http';
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

describe('a session whose node is away', () => {
  const node = (name: string, away?: string): NodeView => ({ node: name, role: 'hub', pool: name === 'apart' ? name : 'desk', labels: {}, version: '1', sessions: 0, running: 0, lag: 0, late: {}, taken: 0, aside: 0, draining: false, gone: false, ...(away ? { away } : {}) });
  const cluster = (...nodes: NodeView[]): ClusterView => ({ node: 'web', role: 'hub', commit: 'local', generation: 0, connected: true, nodes });
  const state = session.state as Signal<unknown>;
  afterEach(() => {
    putCluster(undefined);
    state.value = view;
  });

  it('says why it takes no message and what can be done, and gives the draft back with the node', async () => {
    await act(() => type('half a thought'));
    await act(() => {
      state.value = { ...view, node: 'laptop' };
      putCluster(cluster(node('web'), node('laptop', 'laptop has not been heard of since 14:03:20')));
    });
    expect(root.querySelector('textarea')).toBeNull();
    expect(root.textContent).toContain('laptop has not been heard of since 14:03:20');
    expect(root.querySelector('button')?.textContent).toContain('Continue on another node');
    await act(() => putCluster(cluster(node('web'), node('laptop'))));
    expect(field().value).toBe('half a thought');
  });

  it('offers no move where no other node of its pool takes sessions, and says so', async () => {
    await act(() => {
      state.value = { ...view, node: 'laptop' };
      putCluster(cluster(node('apart'), node('laptop', 'gone')));
    });
    expect(root.querySelector('button')).toBeNull();
    expect(root.textContent).toContain('the same pool as laptop');
  });

  it('is moved with a warning of what may be lost', async () => {
    const post = vi.spyOn(http, 'post').mockRejectedValue(new HubError('conflict', 'no'));
    HTMLDialogElement.prototype.showModal ??= vi.fn();
    await act(() => {
      state.value = { ...view, cwd: '/home/me/atlas', node: 'laptop' };
      putCluster(cluster(node('web'), node('laptop', 'gone')));
    });
    await act(() => root.querySelector('button')!.click());
    expect(root.querySelector('dialog')!.textContent).toMatch(/laptop cannot be asked.*not part of the session any more.*\/home\/me\/atlas, as that folder is on web/);
    expect(root.querySelector('dialog')!.textContent).toContain('trunkline cluster move composed web');
    await act(() => void [...root.querySelectorAll('dialog button')].find((each) => each.textContent === 'Continue on web')!.dispatchEvent(new Event('click')));
    expect(post).toHaveBeenCalledWith('/sessions/composed/move', { node: 'web' });
    post.mockRestore();
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
