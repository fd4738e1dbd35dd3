// @vitest-environment node
import { describe, expect, it } from 'vitest';
import type { ApprovalView } from '../../../../src/generated/api';
import { commandFor, offered } from '../../../../src/views/approvals/card/decision';

const APPROVAL: ApprovalView = {
  requestId: 'r1', toolCallId: 'c1', toolName: 'bash', title: 'ls', description: 'Run: ls', riskLevel: 'low', toolInput: { command: 'ls' },
  options: [{ optionId: 'allow', name: 'Allow', kind: 'allow_once' }, { optionId: 'always', name: 'Always', kind: 'allow_always' },
    { optionId: 'reject', name: 'Deny', kind: 'reject_once' }, { optionId: 'cancel', name: 'Deny and stop', kind: 'reject_once' }],
  always: { action: 'allow', command: ['ls'] }, requestedAt: '', expiresAt: '',
};

describe('what can be decided', () => {
  it('is yes, no, and how long it counts', () => {
    expect(offered(APPROVAL, 't1', true)).toEqual({ approve: [{ name: null }], deny: [], scopes: ['once', 'turn', 'session', 'always'], onlyForGood: false });
  });
  it('is once only where there is nothing that a rule could be about', () => {
    expect(offered({ ...APPROVAL, always: null }, 't1', true).scopes).toEqual(['once']);
  });
  it('does not outlive the session for who may only approve, nor a turn that is not there', () => {
    expect(offered(APPROVAL, undefined, false).scopes).toEqual(['once', 'session']);
  });
  it('is by name where the agent has several ways to say yes and no', () => {
    const plan = { ...APPROVAL, options: [{ optionId: 'a', name: 'Approve, ask', kind: 'allow_once' }, { optionId: 'b', name: 'Approve, accept', kind: 'allow_once' },
      { optionId: 'p', name: 'Keep planning', kind: 'reject_once' }, { optionId: 'cancel', name: 'Deny and stop', kind: 'reject_once' }] };
    expect(offered(plan, 't1', true)).toMatchObject({
      approve: [{ name: 'Approve, ask', optionId: 'a' }, { name: 'Approve, accept', optionId: 'b' }], deny: [{ name: 'Keep planning', optionId: 'p' }] });
  });
  it('is by name where the agent offers what only it knows, and never a yes', () => {
    const odd = { ...APPROVAL, options: [...APPROVAL.options, { optionId: 'day', name: 'For a day', kind: 'other' }] };
    expect(offered(odd, 't1', true)).toMatchObject({ approve: [{ name: null }], deny: [{ name: 'For a day', optionId: 'day' }] });
  });
  it('is for good where the agent offers nothing else', () => {
    const only = { ...APPROVAL, options: [{ optionId: 'always', name: 'Always', kind: 'allow_always' }] };
    expect(offered(only, 't1', true)).toMatchObject({ onlyForGood: true, approve: [{ name: 'Always', optionId: 'always' }] });
  });
});

describe('a decision as a command', () => {
  it('says no more than was decided', () => {
    expect(commandFor(APPROVAL, { approve: true })).toEqual({ command: 'approve_tool_call', requestId: 'r1', toolCallId: 'c1' });
    expect(commandFor(APPROVAL, { approve: false, reason: '  ' })).toEqual({ command: 'deny_tool_call', requestId: 'r1', toolCallId: 'c1' });
  });
  it('carries how long it counts, the input, the reason and the end of the turn', () => {
    expect(commandFor(APPROVAL, { approve: true, scope: 'always' })._meta).toEqual({ scope: 'always' });
    expect(commandFor(APPROVAL, { approve: true, scope: 'once', updatedInput: { command: 'ls -l' } })._meta).toEqual({ updatedInput: { command: 'ls -l' } });
    expect(commandFor(APPROVAL, { approve: false, stop: true, reason: 'too risky' })).toEqual({
      command: 'deny_tool_call', requestId: 'r1', toolCallId: 'c1', reason: 'too risky', _meta: { interrupt: true } });
  });
  it('never carries an input that was denied', () => {
    expect(commandFor(APPROVAL, { approve: false, updatedInput: {} })._meta).toBeUndefined();
  });
});
