// The fold of the conversation: by hand, and over every recorded session with random cuts, duplicates and joins.

import { effect } from '@preact/signals';
import { describe, expect, test } from 'vitest';
import type { ACPEvent } from '../../../src/generated/agent-context';
import { appendEvent } from '../../../src/model/history';
import { rowsOf } from '../../../src/model/timeline/rows';
import { partialText } from '../../../src/model/timeline/tool_output';
import type { Item, MessageItem, NoticeItem, SubagentItem, ToolItem } from '../../../src/model/timeline/items';
import { Timeline } from '../../../src/model/timeline/timeline';
import { numbers } from '../../seeded_numbers';
import { recordedSessions } from '../recorded_sessions';
import { seen } from '../plain_items';

const recorded = recordedSessions();

/** Events with positions and times, in their order. */
function numbered(...events: object[]): ACPEvent[] {
  return events.map((event, index) => ({
    sessionId: 'ses_1', timestamp: new Date(1_700_000_000_000 + index * 1000).toISOString(), seq: index + 1, ...event,
  }) as unknown as ACPEvent);
}

function folded(events: readonly ACPEvent[]): Timeline {
  const timeline = new Timeline();
  for (const event of events) timeline.apply([event]);
  return timeline;
}

const messageDelta = (id: string, delta: string) => ({ type: 'message:delta', messageId: id, role: 'assistant', delta });
const start = (id: string, name = 'bash', more: object = {}) => ({ type: 'tool:start', toolCallId: id, name, category: 'terminal', ...more });
const runs = (id: string, input: object = {}) => (
  { type: 'tool:executing', toolCallId: id, name: 'bash', input, riskLevel: 'low', requiresApproval: false });
const result = (id: string, output = '', more: object = {}) => ({ type: 'tool:result', toolCallId: id, name: 'bash', output, duration: 5, ...more });
const failure = (id: string, code = 'tool_failed') => (
  { type: 'tool:error', toolCallId: id, name: 'bash', error: { code, message: 'no', recoverable: true } });
const turnStarts = { type: 'custom', namespace: 'trunkline', eventName: 'turn_started', data: { turnId: 'turn_1', turn: 1 } };
const turnEnds = {
  type: 'session:status_changed', from: 'running', to: 'idle', reason: 'end_turn', _meta: { turnId: 'turn_1', stopReason: 'end_turn' },
};

function only<T extends Item>(timeline: Timeline, kind: Item['kind']): T {
  const found = timeline.items.value.filter((item) => item.kind === kind);
  expect(found).toHaveLength(1);
  return found[0] as T;
}

describe('messages', () => {
  test('pieces concatenate, and the whole message is what counts', () => {
    const timeline = folded(numbered(messageDelta('m', 'Hel'), messageDelta('m', 'lo'), {
      type: 'message:complete', messageId: 'm', role: 'assistant', content: [{ type: 'text', text: 'Hello!' }], model: 'demo-1',
    }));
    const message = only<MessageItem>(timeline, 'message');
    expect(message.text.value).toBe('Hello!');
    expect(message.state.value).toMatchObject({ done: true, model: 'demo-1' });
  });

  test('a piece touches its own message and never the list', () => {
    const timeline = folded(numbered({ type: 'message:start', messageId: 'm', role: 'assistant' }));
    let lists = 0;
    let texts = 0;
    effect(() => void (timeline.items.value, (lists += 1)));
    effect(() => void (only<MessageItem>(timeline, 'message').text.value, (texts += 1)));
    timeline.apply([numbered({}, messageDelta('m', 'a'))[1]!]);
    expect([lists, texts]).toEqual([1, 2]);
  });

  test('what a person sent says by whom and in which turn', () => {
    const timeline = folded(numbered({ type: 'message:start', messageId: 'user-turn_1', role: 'user', _meta: { by: 'phone', turnId: 'turn_1' } }));
    expect(only<MessageItem>(timeline, 'message').state.value).toMatchObject({ by: 'phone', turnId: 'turn_1' });
  });
});

describe('a session that was joined', () => {
  const joined = { type: 'custom', namespace: 'trunkline', eventName: 'session_attached', data: {} };
  const told = { type: 'session:resumed', _meta: { how: 'loaded' } };

  test('says so once, and that its agent came back only where it had been here', () => {
    const names = folded(numbered(joined, told, told)).items.value.map((item) => (item as NoticeItem).name);
    expect(names).toEqual(['session_attached', 'resumed']);
  });
});

describe('tool calls', () => {
  test('go from pending over in progress to completed, with their exit code', () => {
    const timeline = new Timeline();
    const events = numbered(start('c'), runs('c', { command: 'ls' }), result('c', 'a', {
      structured: { type: 'command_output', exitCode: 3, stdout: 'a', stderr: '' },
    }));
    const states = events.map((event) => (timeline.apply([event]), only<ToolItem>(timeline, 'tool').call.value.status));
    expect(states).toEqual(['pending', 'in_progress', 'completed']);
    expect(only<ToolItem>(timeline, 'tool').call.value).toMatchObject({ exitCode: 3, durationMs: 5, input: { command: 'ls' } });
  });

  test('an end is never taken back by what comes late', () => {
    const timeline = folded(numbered(result('c', 'out'), start('c'), runs('c')));
    expect(only<ToolItem>(timeline, 'tool').call.value).toMatchObject({ status: 'completed', output: 'out', category: 'terminal' });
  });

  test('a call that its turn left open does not run for ever, and may still end', () => {
    const timeline = folded(numbered(turnStarts, start('c'), runs('c'), turnEnds));
    const call = timeline.callOf('c')!.call;
    expect(call.value).toMatchObject({ status: 'in_progress', abandoned: true });
    timeline.apply([numbered({}, {}, {}, {}, result('c', 'late'))[4]!]);
    expect(call.value).toMatchObject({ status: 'completed', abandoned: false, output: 'late' });
  });

  test('a call has the title that its agent gave it last, in whatever order its events are loaded', () => {
    const update = { type: 'custom', namespace: 'acp', eventName: 'tool_call_update', data: { toolCallId: 'c', changed: ['title'] }, _meta: { title: 'npm test' } };
    const events = numbered({ ...start('c'), description: 'Terminal' }, update, { ...result('c', 'ok'), _meta: { title: 'npm test: passed' } });
    const title = (timeline: Timeline) => only<ToolItem>(timeline, 'tool').call.value.title;
    expect([1, 2, 3].map((count) => title(folded(events.slice(0, count))))).toEqual(['Terminal', 'npm test', 'npm test: passed']);
    expect(title(folded([events[2]!, events[0]!]))).toBe('npm test: passed');
  });

  test('an id that is used again after its end is another call', () => {
    const timeline = folded(numbered(start('c'), result('c', 'one'), start('c'), result('c', 'two')));
    expect(timeline.items.value.map((item) => (item as ToolItem).call.value.output)).toEqual(['one', 'two']);
  });

  test('what a call puts out while it runs is put where it belongs, and its result takes its place', () => {
    const printed = (offset: number, output: string) => (
      { type: 'custom', namespace: 'trunkline', eventName: 'terminal_output', data: { toolCallId: 'c', terminalId: 't', offset, output } });
    const shown = { type: 'custom', namespace: 'acp', eventName: 'tool_call_update', data: { toolCallId: 'c', changed: ['content'], offset: 0, output: 'x' } };
    const events = numbered(start('c'), runs('c'), printed(0, '1\n'), printed(2, '2\n'), shown, result('c', '1\n2\n3\n'), printed(4, '3\n'));
    const timeline = folded(events.slice(0, 4));
    expect(partialText(only<ToolItem>(timeline, 'tool').partialOutput.value)).toBe('1\n2\n');
    timeline.apply([events[4]!]);
    expect(partialText(only<ToolItem>(timeline, 'tool').partialOutput.value)).toBe('1\n2\n\nx');
    timeline.apply(events.slice(5));
    expect(partialText(only<ToolItem>(timeline, 'tool').partialOutput.value)).toBe('');
    expect(timeline.items.value).toHaveLength(1);
  });

  test('what a call changed, committed and decided is told on the call', () => {
    const timeline = folded(numbered(
      start('c'),
      { type: 'approval:requested', requestId: 'r', toolCallId: 'c', toolName: 'bash', toolInput: {}, description: '', riskLevel: 'low', expiresAt: '' },
      { type: 'approval:resolved', requestId: 'r', toolCallId: 'c', approved: true, resolvedBy: 'user', _meta: { by: 'phone' } },
      result('c'),
      { type: 'file:change', path: '/a', changeType: 'modified', linesAdded: 2, toolCallId: 'c' },
      { type: 'git:operation', operation: { kind: 'commit', hash: 'abc', message: 'x', filesChanged: 1 }, toolCallId: 'c' },
    ));
    const call = timeline.callOf('c')!.call.value;
    expect(call.changes).toEqual([{ path: '/a', changeType: 'modified', linesAdded: 2 }]);
    expect(call.git).toHaveLength(1);
    expect(call.decisions[0]).toMatchObject({ approved: true, _meta: { by: 'phone' } });
    expect(call.waits).toBe(false);
  });
});

describe('sub-agents', () => {
  const spawned = { type: 'subagent:spawned', subAgentId: 'c', parentToolCallId: 'c', task: 'count' };

  test('take the place of their call and hold what they did', () => {
    const timeline = folded(numbered(
      start('c', 'task'), runs('c'), spawned, start('d', 'bash', { _meta: { parentToolCallId: 'c' } }), result('d'),
      { type: 'subagent:completed', subAgentId: 'c', parentToolCallId: 'c', result: '42' }, result('c', '42'),
    ));
    const subagent = only<SubagentItem>(timeline, 'subagent');
    expect(subagent).toMatchObject({ key: 'c:c', callId: 'c' });
    expect(subagent.children.map((child) => child.key)).toEqual(['c:d']);
    expect(subagent.state.value).toMatchObject({ task: 'count', result: '42', done: true });
    expect(subagent.tool?.call.value.status).toBe('completed');
  });

  test('are found under the same key when only their end is loaded', () => {
    const timeline = folded(numbered({ ...start('d'), _meta: { parentToolCallId: 'c' } }, result('c', '42')));
    expect(only<SubagentItem>(timeline, 'subagent').key).toBe('c:c');
    expect(only<SubagentItem>(timeline, 'subagent').tool?.call.value.output).toBe('42');
  });

  test('show an approval that waits below them even when closed', () => {
    const timeline = folded(numbered(
      start('c', 'task'), spawned, start('d', 'bash', { _meta: { parentToolCallId: 'c' } }),
      { type: 'approval:requested', requestId: 'r', toolCallId: 'd', toolName: 'bash', toolInput: {}, description: '', riskLevel: 'low', expiresAt: '' },
    ));
    const keys = rowsOf(timeline.items.value, { isOpen: () => undefined, details: false }).map((row) => row.key);
    expect(keys).toEqual(['c:c', 'a:r']);
  });

  test('keep an approval that was decided elsewhere while somebody types in it', () => {
    const timeline = folded(numbered(
      start('c', 'task'), spawned, start('d', 'bash', { _meta: { parentToolCallId: 'c' } }),
      { type: 'approval:requested', requestId: 'r', toolCallId: 'd', toolName: 'bash', toolInput: {}, description: '', riskLevel: 'low', expiresAt: '' },
      { type: 'approval:resolved', requestId: 'r', approved: true, resolvedBy: 'user' },
    ));
    const keys = (typedIn: string | null): string[] => rowsOf(timeline.items.value, { isOpen: () => undefined, details: false, typedIn }).map((row) => row.key);
    expect([keys('r'), keys(null)]).toEqual([['c:c', 'a:r'], ['c:c']]);
  });
});

describe('what is left', () => {
  test('a type that nobody knows is a quiet notice with all of it', () => {
    const timeline = folded(numbered({ type: 'moon:rise', phase: 'full' }));
    const notice = only<NoticeItem>(timeline, 'notice');
    expect(notice).toMatchObject({ tone: 'quiet', aside: false });
    expect(notice.state.value.data).toMatchObject({ phase: 'full' });
  });

  test('the agent is waited for until its first word', () => {
    const timeline = folded(numbered(turnStarts));
    expect(timeline.waiting.value).toBe(true);
    timeline.apply([numbered({}, messageDelta('m', 'a'))[1]!]);
    expect(timeline.waiting.value).toBe(false);
  });

  test('a turn that failed tells its prompt, so that it can be tried again', () => {
    const timeline = folded(numbered(
      turnStarts, { type: 'message:complete', messageId: 'user-turn_1', role: 'user', content: [{ type: 'text', text: 'go' }] },
      { type: 'session:error', error: { code: 'agent_died', message: 'gone', recoverable: true }, _meta: { turnId: 'turn_1' } },
    ));
    expect(only(timeline, 'error')).toMatchObject({ prompt: 'go', turnId: 'turn_1' });
  });

  test('a turn says what it took', () => {
    const timeline = folded(numbered(
      turnStarts, { type: 'resource:token_usage', delta: { inputTokens: 3, outputTokens: 4 }, cumulative: { inputTokens: 9, outputTokens: 9 } },
      { type: 'file:change', path: '/a', changeType: 'created' }, turnEnds,
    ));
    expect(only(timeline, 'turn_end')).toMatchObject({ durationMs: 3000, filesChanged: 1, tokens: { inputTokens: 3, outputTokens: 4 } });
  });

  test('an answer is told on its question', () => {
    const timeline = folded(numbered(
      { type: 'interaction:question', questionId: 'q', question: 'Which?' },
      { type: 'custom', namespace: 'trunkline', eventName: 'question_resolved', data: { questionId: 'q', action: 'accept', content: { a: 1 } }, _meta: { by: 'me' } },
    ));
    expect(only<Extract<Item, { kind: 'question' }>>(timeline, 'question').resolved.value).toMatchObject({ action: 'accept', by: 'me' });
  });

  test('the item of any entry is found, also of one inside a joined run', () => {
    const timeline = folded(numbered(messageDelta('m', 'a'), { ...messageDelta('m', 'b'), seq: 9 }, { ...start('c'), seq: 10 }));
    expect([timeline.ownerOf(1), timeline.ownerOf(5), timeline.ownerOf(10), timeline.ownerOf(99)]).toEqual(['m:m', 'm:m', 'c:c', 'c:c']);
  });
});

describe('rows', () => {
  const closed = { isOpen: () => undefined, details: false };

  test('a run of calls is one row; what failed stays in view', () => {
    const timeline = folded(numbered(start('a'), result('a'), start('b'), failure('b'), start('c'), result('c'), messageDelta('m', 'done')));
    const rows = rowsOf(timeline.items.value, closed);
    expect(rows.map((row) => row.key)).toEqual(['G:c:a', 'c:b', 'm:m']);
    const opened = rowsOf(timeline.items.value, { isOpen: () => true, details: false });
    expect(opened.map((row) => row.key)).toEqual(['G:c:a', 'c:a', 'c:b', 'c:c', 'm:m']);
  });

  test('one call alone is no group, and thoughts after the last call are not in it', () => {
    const thought = { type: 'thinking:complete', messageId: 't', content: 'hm' };
    expect(rowsOf(folded(numbered(start('a'), result('a'), thought)).items.value, closed).map((row) => row.key)).toEqual(['c:a', 't:t']);
    const more = folded(numbered(start('a'), result('a'), thought, start('b'), result('b'), { ...thought, messageId: 'u' }));
    expect(rowsOf(more.items.value, closed).map((row) => row.key)).toEqual(['G:c:a', 't:u']);
  });
});

describe.each([...recorded.keys()].map((name) => [name]))('the recorded session %s', (name) => {
  const events = recorded.get(name)!;
  const straight = seen(folded(events).items.value);

  test('ends with nothing that seems to go on', () => {
    const last = events[events.length - 1]!;
    if (last.type !== 'session:completed') return;
    for (const item of folded(events).items.value) {
      if (item.kind === 'message' || item.kind === 'thinking') expect(item.state.value.done).toBe(true);
      if (item.kind === 'tool') expect(item.call.value.abandoned || item.call.value.status === 'completed' || item.call.value.status === 'failed').toBe(true);
    }
  });

  test('gives the same items at once, piece by piece, with duplicates and after any cut', () => {
    const random = numbers(name.length * 7919 + events.length);
    for (let round = 0; round < 5; round += 1) {
      const timeline = new Timeline();
      for (let at = 0; at < events.length; ) {
        const end = Math.min(events.length, at + 1 + Math.floor(random() * 40));
        timeline.apply(events.slice(Math.max(0, at - Math.floor(random() * 30)), end));
        at = end;
      }
      expect(seen(timeline.items.value)).toEqual(straight);
    }
  });

  test('gives the same items when pages come from the end', () => {
    const random = numbers(events.length);
    const timeline = new Timeline();
    for (let from = events.length; from > 0; ) {
      from = Math.max(0, from - 1 - Math.floor(random() * 60));
      timeline.refold(events.slice(from));
    }
    expect(seen(timeline.items.value)).toEqual(straight);
  });

  test('keeps the keys of what is loaded when older pages come', () => {
    const half = folded(events.slice(Math.floor(events.length / 2))).items.value.map((item) => item.key);
    const all = new Set<string>();
    const collect = (items: readonly Item[]): void => items.forEach((item) => {
      all.add(item.key);
      if (item.kind === 'subagent') collect(item.children);
    });
    collect(folded(events).items.value);
    const gone = half.filter((key) => !all.has(key) && !key.startsWith('n:') && !key.startsWith('f:') && !key.startsWith('w:'));
    expect(gone).toEqual([]);
  });

  test('gives the same items when runs of pieces are joined', () => {
    const joined: ACPEvent[] = [];
    for (const event of events) appendEvent(joined, event);
    expect(seen(folded(joined).items.value, { places: false })).toEqual(seen(folded(events).items.value, { places: false }));
  });
});
