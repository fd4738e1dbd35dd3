// @vitest-environment node
import { describe, expect, it } from 'vitest';
import type { ApprovalView, SessionView } from '../../../src/generated/api';
import { agentsToFilter, askLine, grouped, groupOf, lastLine, money, projectOf, filterOf, wanted } from '../../../src/views/home/groups';

function view(more: Partial<SessionView>): SessionView {
  return { id: 's', status: 'idle', agent: 'demo', cwd: '/home/me/atlas', title: 'Fix the login', pendingApprovals: [], pendingQuestions: [], ...more } as SessionView;
}

describe('groups', () => {
  it.each([
    ['waiting_for_approval', 'waiting'], ['waiting_for_input', 'waiting'], ['starting', 'running'], ['running', 'running'], ['thinking', 'running'],
    ['paused', 'idle'], ['idle', 'idle'], ['error', 'idle'], ['completed', 'finished'],
  ] as const)('%s is %s', (status, group) => expect(groupOf(view({ status }), new Set())).toBe(group));

  it('what goes on while it is paused is no idle one', () => expect(groupOf(view({ status: 'paused', turn: {} as never }), new Set())).toBe('running'));

  it('what somebody has to answer comes first, whatever the status says', () => {
    expect(groupOf(view({ status: 'running' }), new Set(['s']))).toBe('waiting');
    expect(groupOf(view({ status: 'running', pendingQuestions: [{}] as never }), new Set())).toBe('waiting');
  });

  it('what is on a node that is away waits for that node, whatever it asks; what is over is over', () => {
    expect(groupOf(view({ status: 'waiting_for_approval' }), new Set(['s']), true)).toBe('away');
    expect(groupOf(view({ status: 'completed' }), new Set(), true)).toBe('finished');
    const groups = grouped([view({ id: 'a', node: 'box' }), view({ id: 'b', node: 'laptop' })], new Set(), ({ node }) => node === 'laptop');
    expect([groups.get('idle'), groups.get('away')].map((each) => each!.map(({ id }) => id))).toEqual([['a'], ['b']]);
  });

  it('keep the order that they were given in', () => {
    const groups = grouped([view({ id: 'b' }), view({ id: 'a' }), view({ id: 'c', status: 'completed' })], new Set());
    expect(groups.get('idle')!.map((each) => each.id)).toEqual(['b', 'a']);
    expect(groups.get('finished')).toHaveLength(1);
  });
});

describe('what is shown', () => {
  it('fits every filter', () => {
    const want = { agent: '', cwd: '', node: '', text: '' };
    expect(wanted(view({}), want)).toBe(true);
    expect(wanted(view({}), { ...want, text: 'LOGIN atlas' })).toBe(true);
    expect(wanted(view({}), { ...want, text: 'logout' })).toBe(false);
    expect(wanted(view({}), { ...want, agent: 'other' })).toBe(false);
    expect(wanted(view({}), { ...want, cwd: '/home/me' })).toBe(false);
    expect(wanted(view({ node: 'box' }), { ...want, node: 'box', text: 'login box' })).toBe(true);
    expect(wanted(view({ node: 'box' }), { ...want, node: 'laptop' })).toBe(false);
  });

  it('offers the agents of the sessions, and all of the hub where there are sessions that are not loaded', () => {
    const views = [view({}), view({ agent: 'gone' }), view({})];
    expect(agentsToFilter(views, [{ name: 'actor' }, { name: 'demo' }], false)).toEqual(['demo', 'gone']);
    expect(agentsToFilter(views, [{ name: 'actor' }, { name: 'demo' }], true)).toEqual(['actor', 'demo', 'gone']);
  });

  it('is asked of the hub as far as it can say it', () => {
    expect(filterOf({ agent: '', cwd: '', node: '', text: ' ' })).toBeNull();
    expect(filterOf({ agent: 'demo', cwd: '', node: '', text: '' })).toEqual({ agent: 'demo' });
    expect(filterOf({ agent: 'demo', cwd: '/p', node: '', text: 'login' })).toEqual({ agent: 'demo', text: '/p' });
    expect(filterOf({ agent: '', cwd: '', node: '', text: 'the login' })).toEqual({ text: 'login' });
    expect(filterOf({ agent: '', cwd: '', node: 'box', text: '' })).toEqual({ node: 'box' });
  });

  it.each([
    ['', ''], ['one\ntwo\n\n', 'two'], ['# A heading', 'A heading'], ['- [x] **done**', 'done'], ['see [the docs](https://x.y)', 'see the docs'],
    ['text\n```', 'text'], ['| a | b |\n|---|---|\n| `c` | d |', 'c · d'], ['3. third', 'third'], ['> quoted', 'quoted'],
  ])('the last line of %j is %j', (text, line) => expect(lastLine(text)).toBe(line));

  it('names a project by its folder', () => {
    expect(['/home/me/atlas/', 'C:\\work\\web', '/'].map(projectOf)).toEqual(['atlas', 'web', '/']);
  });

  it('writes money as people do, and survives a currency that is none', () => {
    expect([money(1.5, 'USD', 'en'), money(0.0042, 'USD', 'en'), money(0, 'EUR', 'en')]).toEqual(['$1.50', '$0.0042', '€0.00']);
    expect(money(2, 'no such', 'en')).toBe('2.00 no such');
  });
});

describe('what an approval would do', () => {
  const asked = (description: string, more: Partial<ApprovalView> = {}): ApprovalView => ({ description, title: '', toolName: 'write', ...more }) as ApprovalView;

  it('names a file from the folder on', () => expect(askLine(asked('Write: /home/me/atlas/src/app.py'), '/home/me/atlas')).toBe('Write: src/app.py'));
  it('names a file elsewhere whole', () => expect(askLine(asked('Write: /home/me/atlas2/app.py'), '/home/me/atlas')).toBe('Write: /home/me/atlas2/app.py'));
  it('leaves a command as it is written', () =>
    expect(askLine(asked('Run: /home/me/atlas/run.sh', { parts: [{ text: 'run.sh' }] as never }), '/home/me/atlas')).toBe('Run: /home/me/atlas/run.sh'));
});
