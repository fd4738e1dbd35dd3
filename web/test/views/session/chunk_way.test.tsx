// What one live chunk passes in the page, from its frame to its letters, as V8 counts calls. CHUNK_WAY=1 lists the functions.

import { Session } from 'node:inspector/promises';
import { render } from 'preact';
import { act } from 'preact/test-utils';
import { expect, it } from 'vitest';
import type { ACPEvent } from '../../../src/generated/agent-context';
import { Connection } from '../../../src/hub/connection';
import { emptyState } from '../../../src/model/session_state';
import { OpenSession } from '../../../src/model/open_session';
import type { MessageItem } from '../../../src/model/timeline/items';
import { MessageRow } from '../../../src/views/session/rows/message';
import { SessionViewContext, type SessionViewState } from '../../../src/views/session/view_state';
import { FakeSocket, FakeStorage } from '../../hub/fake_socket';

/** Of ours, with a name; those that only give an answer back are among them. Four of them see that a long text is parsed and drawn bit by
 * bit, that its rest can be loaded, and that a session without a name gets one. */
const MOST = 63;

/** The functions of the page that are called meanwhile, as `file:name`, in the order of the files. */
async function called(what: () => void): Promise<string[]> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await session.post('Profiler.takePreciseCoverage');
  what();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  session.disconnect();
  return result.flatMap(({ url, functions }) => {
    const file = /\/web\/(src\/[^?]*)/.exec(url)?.[1];
    if (file === undefined) return [];
    return functions.filter(({ functionName, ranges }) => ranges[0]!.count > 0 && functionName !== '')
      .map(({ functionName }) => `${file}:${functionName}`);
  });
}

it('goes from its frame to its letters through few functions', async () => {
  const socket = new FakeSocket();
  const connection = new Connection({
    socket: () => socket as unknown as WebSocket, post: () => Promise.resolve({}), storage: new FakeStorage(), now: () => 0, random: () => 1,
  });
  connection.start();
  socket.welcome();
  const pages = { sessionId: 's', seq: 0, state: emptyState('s'), events: [], nextBefore: null, nextAfter: null, lastSeq: 0 };
  const session = new OpenSession('s', { get: <T,>() => Promise.resolve(pages as T), connection });
  await session.load();
  const { id: subscription } = socket.ofType('subscribe').at(-1)!;
  const receive = (seq: number, event: object): void => socket.receive({
    type: 'event', subscription, pos: seq, event: { seq, sessionId: 's', timestamp: '2026-01-01T00:00:00.000Z', messageId: 'm', role: 'assistant', ...event } as ACPEvent });
  const delta = (seq: number): void => void act(() => receive(seq, { type: 'message:delta', delta: `word ${seq} ` }));
  receive(1, { type: 'message:start' });
  delta(2);
  void act(() => render((
    <SessionViewContext.Provider value={{ session } as SessionViewState}>
      <MessageRow item={session.timeline.items.value[0] as MessageItem} />
    </SessionViewContext.Provider>
  ), document.body));
  for (const seq of [3, 4, 5]) delta(seq);

  const passed = await called(() => delta(6));

  if (process.env['CHUNK_WAY']) console.log(passed.join('\n'), `\n${passed.length} functions`);
  expect(document.body.textContent).toContain('word 6');
  expect(passed.length).toBeLessThan(MOST);
  session.close();
  connection.stop();
});
