import { describe, expect, it } from 'vitest';
import { iconOf, subjectOf } from '../../../src/views/session/rows/labels';
import { newCall, applyToolEvent } from '../../../src/model/timeline/tool_call_state';
import { actionOf } from '../../../src/model/timeline/call_summary';

const start = (more: object): Parameters<typeof applyToolEvent>[1] => ({ type: 'tool:start', sessionId: 's', timestamp: '', seq: 1, toolCallId: 't', name: 'bash', category: 'terminal', ...more }) as never;
const executing = (title: string): Parameters<typeof applyToolEvent>[1] => ({ type: 'tool:executing', sessionId: 's', timestamp: '', seq: 2, toolCallId: 't', name: 'bash', input: {}, riskLevel: 'low', requiresApproval: false, _meta: { title } }) as never;

describe('what a call is about', () => {
  const read = (reading: object): ReturnType<typeof applyToolEvent> => applyToolEvent(newCall('do_steps'), { ...executing('x'), _meta: { reading } } as never);
  it('is what the hub read, whatever the input looks like', () => expect(subjectOf(read({ command: 'make all' }), '/w')).toBe('make all'));
  it('is a path as seen from the folder', () => expect(subjectOf(read({ paths: ['/w/src/a.py'] }), '/w')).toBe('src/a.py'));
  it('is what is looked for', () => expect(subjectOf(read({ paths: ['src'], subject: 'TODO  src' }), '/w')).toBe('TODO  src'));
  it('is the title where nothing was read', () => expect(subjectOf({ ...newCall('x'), title: 'Look around' }, '/w')).toBe('Look around'));
  it('is done as its tool is for, not as its tool is called', () => {
    expect(actionOf(read({ role: 'search', category: 'file_read' }))).toBe('searched');
    expect(actionOf(read({ role: 'terminal', category: 'terminal' }))).toBe('ran');
    expect(actionOf({ ...newCall('bash') })).toBe('used');
    expect(iconOf(read({ role: 'todos' }))).toBe('todo');
  });
});

describe('what a call is called', () => {
  it('is the agent’s own title where its start has one', () => expect(applyToolEvent(newCall(), start({ description: 'Run: ls', _meta: { title: 'List it' } })).title).toBe('List it'));
  it('is the hub’s description otherwise', () => expect(applyToolEvent(newCall(), start({ description: 'Run: ls' })).title).toBe('Run: ls'));
  it('is not taken back by a start that comes late', () => {
    expect(applyToolEvent(applyToolEvent(newCall(), executing('Listed')), start({ description: 'Run: ls', _meta: { title: 'List it' } })).title).toBe('Listed');
  });
});
