import { render } from 'preact';
import { act } from 'preact/test-utils';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { PolicyView, RuleAnswer } from '../../../src/generated/api';
import { http, HubError } from '../../../src/hub/http';
import { PolicyFile } from '../../../src/views/policy/policy_file';
import { RemoveRule } from '../../../src/views/policy/remove_rule';

const POLICY: PolicyView = { text: 'old', rules: [], autoApprove: null, problem: null, path: '/p', version: 'v1', lastGood: null, of: 'node', node: null };
const WAITS: RuleAnswer = { requestId: 'r1', sessionId: 's1', description: 'Run: ls', decision: 'allow' };
const root = document.createElement('div');
const nothing = (): void => undefined;
const settled = async (): Promise<void> => act(async () => { for (let turn = 0; turn < 5; turn++) await Promise.resolve(); });
const file = async (draft: string): Promise<void> => act(() => render(
  <PolicyFile policy={POLICY} draft={draft} base="v1" cameBack={false} line={null} mayWrite onDraft={nothing} onDiscard={nothing} onSaved={nothing} onReload={nothing} />, root));
const press = async (): Promise<void> => {
  await act(() => root.querySelector('button')?.click());
  await settled();
};
const hub = (answers: RuleAnswer[]) => {
  vi.spyOn(http, 'get').mockResolvedValue(POLICY);
  return { post: vi.spyOn(http, 'post').mockImplementation(() => Promise.resolve({ answers })), put: vi.spyOn(http, 'put').mockResolvedValue(POLICY) };
};
afterEach(async () => {
  await act(() => render(null, root));
  vi.restoreAllMocks();
});

describe('rules that are about to be saved', () => {
  it('are saved at once where nothing waits that they answer', async () => {
    const { post, put } = hub([]);
    await file('new');
    await press();
    expect(post).toHaveBeenCalledWith('/policy/preview', { text: 'new' });
    expect(put).toHaveBeenCalledTimes(1);
  });
  it('say what they answer first, and are saved with the second press', async () => {
    const { put } = hub([WAITS, { ...WAITS, requestId: 'r2', description: 'Run: rm', decision: 'deny' }]);
    await file('new');
    await press();
    expect(put).not.toHaveBeenCalled();
    expect(root.textContent).toContain('Approved: Run: ls');
    expect(root.textContent).toContain('Denied: Run: rm');
    await press();
    expect(put).toHaveBeenCalledTimes(1);
  });
  it('say it anew where something else waits by then, or the text is another one', async () => {
    const { post, put } = hub([WAITS]);
    await file('new');
    await press();
    post.mockResolvedValue({ answers: [WAITS, { ...WAITS, requestId: 'r3', description: 'Run: make' }] });
    await press();
    expect(root.textContent).toContain('Run: make');
    await file('newer');
    await press();
    expect(put).not.toHaveBeenCalled();
  });
  it('are saved where the hub cannot say it', async () => {
    const { post, put } = hub([]);
    post.mockRejectedValue(new HubError('not_found', 'nothing is there', 404, undefined, false));
    await file('new');
    await press();
    expect(put).toHaveBeenCalledTimes(1);
  });
});

describe('a rule that is about to be removed', () => {
  it('shows what the others answer then', async () => {
    const { post } = hub([WAITS]);
    await act(() => render(<RemoveRule policy={{ ...POLICY, text: 'one\ntwo\n' }} rule={{ action: 'ask' }} span={{ from: 0, to: 4 }} onClose={nothing} onRemoved={nothing} onReload={nothing} />, root));
    await settled();
    expect(post).toHaveBeenCalledWith('/policy/preview', { text: 'two\n' });
    expect(document.body.textContent! + root.textContent!).toContain('Approved: Run: ls');
  });
});
