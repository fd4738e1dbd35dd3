import { describe, expect, it } from 'vitest';
import { newCall, tell } from './calls';

const start = (more: object): Parameters<typeof tell>[1] => ({ type: 'tool:start', sessionId: 's', timestamp: '', seq: 1, toolCallId: 't', name: 'bash', category: 'terminal', ...more }) as never;
const executing = (title: string): Parameters<typeof tell>[1] => ({ type: 'tool:executing', sessionId: 's', timestamp: '', seq: 2, toolCallId: 't', name: 'bash', input: {}, riskLevel: 'low', requiresApproval: false, _meta: { title } }) as never;

describe('what a call is called', () => {
  it('is the agent’s own title where its start has one', () => expect(tell(newCall(), start({ description: 'Run: ls', _meta: { title: 'List it' } })).title).toBe('List it'));
  it('is the hub’s description otherwise', () => expect(tell(newCall(), start({ description: 'Run: ls' })).title).toBe('Run: ls'));
  it('is not taken back by a start that comes late', () => {
    expect(tell(tell(newCall(), executing('Listed')), start({ description: 'Run: ls', _meta: { title: 'List it' } })).title).toBe('Listed');
  });
});
