import { render } from 'preact';
import { act } from 'preact/test-utils';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ApprovalView } from '../../../../src/generated/api';
import { callIdsOf, callsOf, doubtsOf, readApprovalMeta } from '../../../../src/hub/approval_meta';
import { http, HubError } from '../../../../src/hub/http';
import { CodeView } from '../../../../src/content/code';
import { CoveredCalls, Doubts, NoRule } from '../../../../src/views/approvals/card/details';
import { RuleAnswers } from '../../../../src/views/approvals/rule/rule_answers';

const ASK: ApprovalView = {
  requestId: 'r1', toolCallId: 'confirm-1', toolName: 'x', title: 'Confirm', description: 'Confirm', riskLevel: 'high', options: [], toolInput: {}, requestedAt: '', expiresAt: '',
};
const CALLS = [
  { toolCallId: 'a', toolName: 'bash', description: 'Run: touch a', riskLevel: 'low', riskReason: 'writes a file', command: 'touch a' },
  { toolCallId: 'b', toolName: 'write', description: 'Write b\u202e', riskLevel: 'high', riskReason: 'outside', paths: ['/etc/b'], doubts: ['a member that is not known: mode'] },
];
const root = document.createElement('div');
const shown = async (node: Parameters<typeof render>[0]): Promise<string> => {
  await act(() => render(node, root));
  return root.textContent ?? '';
};
afterEach(async () => {
  await act(() => render(null, root));
  vi.restoreAllMocks();
});

describe('what the hub is not sure of', () => {
  const unsure = { ...ASK, ...readApprovalMeta({ risk: { reason: 'r', sure: false, doubts: ['a member that is not known: run_as', 7] } }) };
  it('is read from the ask', () => expect([doubtsOf(unsure), doubtsOf(ASK)]).toEqual([['a member that is not known: run_as'], null]));
  it('stands on the card, and nothing does where it is sure', async () => {
    expect(await shown(<Doubts approval={unsure} />)).toContain('a member that is not known: run_as');
    expect(await shown(<Doubts approval={ASK} />)).toBe('');
  });
  it('is told though no doubt is named', async () => expect(await shown(<Doubts approval={{ ...ASK, ...readApprovalMeta({ risk: { sure: false } }) }} />)).toContain('not sure'));
});

describe('an ask that no rule can be about', () => {
  it('says why there is no "Always"', async () => expect(await shown(<NoRule approval={{ ...ASK, noRule: 'it is too long' }} />)).toBe('No rule can be made of this: it is too long'));
  it('says nothing where a rule can be made, or the hub does not say', async () => {
    expect(await shown(<NoRule approval={{ ...ASK, noRule: 'x', always: { action: 'allow' } }} />) + (await shown(<NoRule approval={ASK} />))).toBe('');
  });
});

describe('an ask for several calls', () => {
  const several = { ...ASK, ...readApprovalMeta({ calls: [...CALLS, { junk: 1 }, null] }) };
  it('lists them all, each with its command, its paths and its risk', async () => {
    expect(callsOf(several).map((call) => call.toolCallId)).toEqual(['a', 'b']);
    const text = await shown(<CoveredCalls approval={several} />);
    for (const part of ['Run: touch a', 'touch a', 'writes a file', '/etc/b', 'High risk', 'U+202E', 'a member that is not known: mode']) expect(text).toContain(part);
  });
  it('is about each of them, and else about its own', () => {
    expect(callIdsOf({ toolCallId: 'confirm-1', _meta: { calls: CALLS } })).toEqual(['a', 'b']);
    expect(callIdsOf({ toolCallId: 'c' })).toEqual(['c']);
  });
  it('lists nothing where it is about its own call only', () => {
    expect([callsOf(ASK), callsOf({ ...ASK, ...readApprovalMeta({ calls: [{ ...CALLS[0], toolCallId: ASK.toolCallId }] }) })]).toEqual([[], []]);
  });
});

describe('a rule that is about to be written', () => {
  const answers = [{ requestId: 'r1', sessionId: 's', description: 'itself', decision: 'allow' }, { requestId: 'r2', sessionId: 's2', description: 'Run: ls', decision: 'allow' }];
  it('says which other asks it answers', async () => {
    const post = vi.spyOn(http, 'post').mockResolvedValue({ answers });
    await shown(<RuleAnswers requestId="r1" allow scope="always" />);
    await act(async () => { await Promise.resolve(); });
    expect(root.textContent).toContain('Run: ls');
    expect(root.textContent).not.toContain('itself');
    expect(post).toHaveBeenCalledWith('/approvals/r1/always-preview', { decision: 'allow', scope: 'always' });
  });
  it('says nothing where the hub does not know', async () => {
    vi.spyOn(http, 'post').mockRejectedValue(new HubError('not_found', 'nothing is there', 404, undefined, false));
    await shown(<RuleAnswers requestId="r1" allow={false} scope="session" />);
    await act(async () => { await Promise.resolve(); });
    expect(root.textContent).toBe('');
  });
});

describe('a file that was read', () => {
  it('has one column of numbers and no tags', async () => {
    const text = await shown(<CodeView text={'<file>\n00001| one\n00002| two\n</file>'} />);
    expect(text).not.toContain('file>');
    expect(text).not.toContain('00001');
    expect(text).toContain('one');
  });
});
