// The frames of the hub's WebSocket as TypeScript types. Generated from the code by `make docs`; do not edit.

import type {
  ACPCommand,
  ACPEvent,
} from './agent-context';
import type {
  ErrorBody,
  PendingAsk,
  SessionState,
  SessionView,
} from './api';

/** Who speaks. */
export interface HubInfo {
  name: string;
  version: string;
}

/** The hub as a client finds it: what waits for somebody, and, for a subscription to all sessions, the newest of these. */
export interface HubState {
  pending: PendingAsk[];
  sessions?: SessionView[];
}

/** The first frame: the versions of the Agent Context Protocol that the client speaks, and what lets it in. */
export interface Hello {
  type: 'hello';
  versions: string[];
  token?: string;
}

/** Show me these sessions, or all of them (`*`), after what I know already. */
export interface Subscribe {
  type: 'subscribe';
  id: string;
  sessions: string[] | '*';
  after?: number | Record<string, number>;
  types?: string;
}

/** Show me that no more: `subscription` is the id of the `subscribe`. */
export interface Unsubscribe {
  type: 'unsubscribe';
  id: string;
  subscription: string;
}

/** Do this. The same `id` twice, also over another connection, is done once. */
export interface CommandFrame {
  type: 'command';
  id: string;
  sessionId: string;
  command: ACPCommand;
}

/** Are you there? */
export interface Ping {
  type: 'ping';
  id?: string;
}

/** The client is let in. `pending` is what waits for somebody, in every session, as of `pos`. */
export interface Welcome {
  type: 'welcome';
  version: string;
  hub: HubInfo;
  scope: 'admin' | 'approve' | 'control' | 'view';
  tokenId: string;
  name: string;
  pos: number;
  pending: PendingAsk[];
  node?: string;
}

/** The state after the entry `seq`: forget what you knew. Of the whole hub (`sessionId` is `*`) `seq` is a pos. */
export interface SnapshotFrame {
  type: 'snapshot';
  subscription?: string;
  sessionId: string;
  seq: number;
  state: SessionState | HubState;
}

/** The stream goes on after `seq`, with no gap and no duplicate. */
export interface Resumed {
  type: 'resumed';
  subscription: string;
  sessionId: string;
  seq: number;
}

/** The hub cannot go on after `from`: it has what comes after `floor`, up to `seq`. A snapshot follows. */
export interface Gap {
  type: 'gap';
  subscription?: string;
  sessionId: string;
  from: number;
  floor: number;
  seq: number;
}

/** One event. Without a `subscription` it is an approval or a question of a session that was not subscribed to. */
export interface EventFrame {
  type: 'event';
  subscription?: string;
  pos: number;
  event: ACPEvent;
}

/** A session was deleted: forget it. Sent only to a subscription to all sessions. */
export interface Deleted {
  type: 'deleted';
  subscription: string;
  sessionId: string;
}

/** What came of a frame. `ok` false with the id of a subscription that was taken before: it has ended. */
export interface Ack {
  type: 'ack';
  id?: string;
  ok: boolean;
  error?: ErrorBody;
  result?: Record<string, unknown>;
}

/** I am here. */
export interface Pong {
  type: 'pong';
  id?: string;
}

export type ClientFrame =
  | Hello
  | Subscribe
  | Unsubscribe
  | CommandFrame
  | Ping;

export type HubFrame =
  | Welcome
  | SnapshotFrame
  | Resumed
  | Gap
  | EventFrame
  | Deleted
  | Ack
  | Pong;
