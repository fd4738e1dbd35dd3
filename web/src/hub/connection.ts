/**
 * The page's one WebSocket to the hub, taken up again by itself, as the client contract says (docs/reference/client-contract.md).
 *
 * Rule 1: what the page asked for outlives the connection: follows go on after the last event that was taken in, commands that were
 * not answered are sent again under their id.
 * Rule 2: a connection that is silent is asked whether it lives; one that does not answer is given up, at most 25 s after the last
 * sign of life. Coming back to the page, or to the network, asks at once. Where the browser says that the network is gone, so does
 * this, until a frame comes again.
 * Rule 3: pauses grow, with chance in them, and begin anew when the hub has answered. Without a token that counts nothing is tried.
 */
import { signal, type ReadonlySignal } from '@preact/signals';
import { ACP_VERSION, type ACPCommand, type ACPEvent } from '../generated/agent-context';
import type { CommandDone, SessionState } from '../generated/api';
import type { Ack, HubState, ClientFrame, HubFrame, Welcome } from '../generated/frames';
import { withBasePath } from './base_path';
import { asHubError, http, HubError, pathOf } from './http';
import { setOwnName } from './people';
import { forgetPersonalData } from './personal_data';
import { newId, Outbox, type OutgoingCommand } from './outbox';
import { isOurs, tabChannel } from './tab';

export type { OutgoingCommand as Sent } from './outbox';

/** `locked`: no token that counts. `offline`: the hub was not reached, it is tried again. */
export type ConnectionState = 'connecting' | 'online' | 'offline' | 'locked';

const HUB = '*';

const CHECK_MS = 2_000;
const SILENT_MS = 10_000;
const LOST_MS = 20_000;
const PROBE_MS = 4_000;
const WELCOME_MS = 10_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 15_000;
/** The hub takes frames of up to 1 MiB; a larger command goes over HTTP, under the same id. */
const FRAME_MOST = 900_000;
const LOCKED = 4401;
const REFUSED = 4400;

/** What a link needs of a browser; tests bring their own. */
interface BrowserAccess {
  socket(): WebSocket;
  post(path: string, body: unknown): Promise<unknown>;
  storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> | null;
  /** Whether what is in the storage is this tab's and not a copy of another's. */
  ours?: Promise<boolean>;
  now(): number;
  random(): number;
}

interface Follow {
  sessionId: string;
  after: number | null;
  types?: string;
  onEvent(event: ACPEvent, pos: number): void;
  onReset(state: SessionState | HubState, seq: number): void;
  onEnded?(error: HubError): void;
  /** Of all sessions: one was deleted. */
  onDeleted?(sessionId: string): void;
}

type WelcomeListener = (welcome: Welcome) => void;
type EventListener = (event: ACPEvent) => void;

export class Connection {
  private readonly currentState = signal<ConnectionState>('connecting');
  private readonly currentSince: ReturnType<typeof signal<number>>;
  private readonly currentScope = signal<Welcome['scope']>('view');
  private readonly currentHub = signal('');
  private readonly tooOld = signal(false);
  private readonly commands: Outbox;
  private readonly follows = new Map<string, Follow>();
  private readonly welcomeListeners = new Set<WelcomeListener>();
  private readonly unfollowedListeners = new Set<EventListener>();
  private socket: WebSocket | null = null;
  private welcomed = false;
  private failures = 0;
  private followCount = 0;
  private lastFrameAt = 0;
  private deadline = 0;
  private retryTimer: ReturnType<typeof setTimeout> | undefined;
  private checkTimer: ReturnType<typeof setInterval> | undefined;

  constructor(private readonly browser: BrowserAccess) {
    this.commands = new Outbox(browser.storage, browser.ours, () => this.sendWaiting());
    this.currentSince = signal(browser.now());
  }

  get state(): ReadonlySignal<ConnectionState> {
    return this.currentState;
  }

  /** Since when it is so, in milliseconds. */
  get since(): ReadonlySignal<number> {
    return this.currentSince as ReadonlySignal<number>;
  }

  /** What the hub lets this browser do. */
  get scope(): ReadonlySignal<Welcome['scope']> {
    return this.currentScope;
  }

  /** The hub's version. */
  get hubVersion(): ReadonlySignal<string> {
    return this.currentHub;
  }

  /** The hub does not speak with a page of this version: only loading it anew helps. */
  get outdated(): ReadonlySignal<boolean> {
    return this.tooOld;
  }

  get outbox(): ReadonlySignal<OutgoingCommand[]> {
    return this.commands.all;
  }

  /** Begin, and stay. */
  start(): void {
    if (this.checkTimer !== undefined) return;
    this.checkTimer = setInterval(() => this.check(), CHECK_MS);
    this.connect();
  }

  /** Hang up for good; for tests. */
  stop(): void {
    clearInterval(this.checkTimer);
    clearTimeout(this.retryTimer);
    this.checkTimer = undefined;
    this.abandon();
  }

  /** Try now, also where there was no token that counts: there may be one by now. */
  retryNow(): void {
    if (this.checkTimer === undefined) return; // Not begun: who we are is not known yet.
    if (this.welcomed) return this.probe();
    this.failures = 0;
    this.abandon();
    this.setState('connecting');
    this.connect();
  }

  /** There is no token that counts any more: somebody else found out. */
  lock(): void {
    clearTimeout(this.retryTimer);
    this.abandon();
    this.lockAndForget();
  }

  /** Ask whether the hub is there, and do not wait long for the answer. */
  probe(): void {
    if (!this.welcomed) return;
    this.send({ type: 'ping' });
    this.deadline = this.browser.now() + PROBE_MS;
  }

  /** The browser says that the network is gone. It may be wrong about the way to this hub: the answer to a ping takes it back. */
  onNetworkLost(): void {
    if (!this.welcomed) return;
    this.setState('offline');
    this.probe();
  }

  /** Events of one session after a seq, each once and in order; `onReset` where the hub had to begin anew. */
  follow(
    sessionId: string,
    after: number,
    onEvent: (event: ACPEvent) => void,
    onReset: (state: SessionState, seq: number) => void,
    onEnded?: (error: HubError) => void,
  ): () => void {
    return this.addFollow({ sessionId, after, onEvent, onReset: (state, seq) => onReset(state as SessionState, seq), onEnded });
  }

  /** Events of all sessions, of these types; `onReset` first and after every loss, with the newest of them: who was away does not
   * know what was deleted. */
  followAll(
    types: string,
    onEvent: (event: ACPEvent, pos: number) => void,
    onReset: (state: HubState, pos: number) => void,
    onDeleted?: (sessionId: string) => void,
  ): () => void {
    return this.addFollow({ sessionId: HUB, after: null, types, onEvent, onReset: (state, pos) => onReset(state as HubState, pos), onDeleted });
  }

  /** Called whenever the hub lets us in, with what waits for somebody. */
  onWelcome(listener: WelcomeListener): () => void {
    this.welcomeListeners.add(listener);
    return () => this.welcomeListeners.delete(listener);
  }

  /** Approvals and questions of sessions that nothing follows. */
  onUnfollowed(listener: EventListener): () => void {
    this.unfollowedListeners.add(listener);
    return () => this.unfollowedListeners.delete(listener);
  }

  /** Have something done, now or as soon as the hub is there. */
  command(sessionId: string, command: ACPCommand): OutgoingCommand {
    const sent = this.commands.add(sessionId, command, this.browser.now());
    if (this.currentState.peek() === 'online') this.sendCommand(sent);
    return sent;
  }

  // One connection after the other.

  private connect(): void {
    clearTimeout(this.retryTimer);
    const socket = this.browser.socket();
    this.socket = socket;
    this.deadline = this.browser.now() + WELCOME_MS;
    socket.onopen = () => this.send({ type: 'hello', versions: [ACP_VERSION] });
    socket.onmessage = (message) => this.onFrame(String(message.data));
    socket.onclose = (event) => this.onClosed(event.code);
  }

  private abandon(): void {
    const socket = this.socket;
    this.socket = null;
    this.welcomed = false;
    if (!socket) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
    this.commands.requeue();
  }

  /** Whoever comes next must not find, or send, what was somebody else's. */
  private lockAndForget(): void {
    this.commands.clear();
    forgetPersonalData();
    this.setState('locked');
  }

  private onClosed(code: number): void {
    const wasOnline = this.currentState.peek() === 'online';
    this.abandon();
    if (code === LOCKED) return this.lockAndForget();
    if (code === REFUSED) this.tooOld.value = true;
    if (code === REFUSED) return this.setState('offline');
    this.setState(wasOnline ? 'connecting' : 'offline');
    this.retryTimer = setTimeout(() => this.connect(), this.pause());
  }

  /** How long to wait before the next try: longer every time, and never for all pages at once. */
  private pause(): number {
    const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.failures);
    this.failures += 1;
    return longest * (0.5 + this.browser.random() / 2);
  }

  private check(): void {
    if (!this.socket) return;
    const now = this.browser.now();
    if (this.deadline && now >= this.deadline) return this.onClosed(0);
    if (!this.welcomed) return;
    const silent = now - this.lastFrameAt;
    if (silent >= LOST_MS) this.onClosed(0);
    else if (silent >= SILENT_MS) this.send({ type: 'ping' });
  }

  private setState(state: ConnectionState): void {
    if (this.currentState.peek() === state) return;
    this.currentSince.value = this.browser.now();
    this.currentState.value = state;
  }

  // Frames.

  private onFrame(text: string): void {
    this.lastFrameAt = this.browser.now();
    const frame = JSON.parse(text) as HubFrame;
    if (this.welcomed) this.deadline = 0;
    if (this.welcomed && this.currentState.peek() !== 'online') this.onBackOnline();
    switch (frame.type) {
      case 'welcome': return this.onWelcomeFrame(frame);
      case 'event': return this.onEvent(frame.event, frame.pos, frame.subscription);
      case 'snapshot': return this.onSnapshot(frame.subscription, frame.state, frame.seq);
      case 'deleted': return this.follows.get(frame.subscription)?.onDeleted?.(frame.sessionId);
      case 'ack': return this.onAck(frame);
      default: return; // `resumed`, `gap` and `pong` say nothing that has to be done; what is new is skipped.
    }
  }

  private onBackOnline(): void {
    this.setState('online');
    this.sendWaiting();
  }

  private onWelcomeFrame(welcome: Welcome): void {
    this.welcomed = true;
    this.deadline = 0;
    this.failures = 0;
    this.currentScope.value = welcome.scope;
    this.currentHub.value = welcome.hub.version;
    this.commands.setLogin(welcome.tokenId);
    setOwnName(welcome.name);
    this.welcomeListeners.forEach((listener) => listener(welcome));
    for (const [name, follow] of this.follows) this.subscribe(name, follow);
    this.sendWaiting();
    this.tooOld.value = false;
    this.setState('online');
  }

  private onEvent(event: ACPEvent, pos: number, subscription: string | undefined): void {
    const follow = subscription === undefined ? undefined : this.follows.get(subscription);
    if (follow) {
      const position = follow.sessionId === HUB ? pos : event.seq;
      if (follow.after !== null && position <= follow.after) return;
      follow.after = position;
      follow.onEvent(event, pos);
    } else if (subscription === undefined) {
      this.unfollowedListeners.forEach((listener) => listener(event));
    }
  }

  private onSnapshot(subscription: string | undefined, state: SessionState | HubState, seq: number): void {
    const follow = subscription === undefined ? undefined : this.follows.get(subscription);
    if (!follow) return;
    follow.after = seq;
    follow.onReset(state, seq);
  }

  private onAck(ack: Ack): void {
    const error = ack.ok || !ack.error ? null : HubError.of(ack.error);
    const name = ack.id ?? '';
    if (this.commands.settle(name, ack.result, error) || !error) return;
    const follow = this.follows.get(name);
    this.follows.delete(name);
    follow?.onEnded?.(error);
  }

  private addFollow(follow: Follow): () => void {
    const name = `f${(this.followCount += 1)}`;
    this.follows.set(name, follow);
    if (this.welcomed) this.subscribe(name, follow);
    return () => {
      if (!this.follows.delete(name) || !this.welcomed) return;
      this.send({ type: 'unsubscribe', id: `u${name}`, subscription: name });
    };
  }

  private subscribe(name: string, follow: Follow): void {
    const sessions = follow.sessionId === HUB ? HUB : [follow.sessionId];
    const frame: ClientFrame = { type: 'subscribe', id: name, sessions };
    if (follow.sessionId === HUB) follow.after = null;
    if (follow.after !== null) frame.after = follow.after;
    if (follow.types !== undefined) frame.types = follow.types;
    this.send(frame);
  }

  private sendWaiting(): void {
    if (!this.welcomed) return;
    for (const sent of this.commands.unanswered) if (sent.state === 'queued') this.sendCommand(sent);
  }

  private sendCommand(sent: OutgoingCommand): void {
    const frame: ClientFrame = { type: 'command', id: sent.id, sessionId: sent.sessionId, command: sent.command };
    if (JSON.stringify(frame).length > FRAME_MOST) void this.postCommand(sent);
    else this.send(frame);
    this.commands.markSent(sent.id);
  }

  /** Where the hub was not reached, the next connection tries again. */
  private async postCommand({ id, sessionId, command }: OutgoingCommand): Promise<void> {
    try {
      const done = (await this.browser.post(pathOf(['sessions', sessionId, 'commands']), { id, command })) as CommandDone;
      this.commands.settle(id, done.result, null);
    } catch (failure) {
      const error = asHubError(failure);
      if (error.code !== 'unreachable') this.commands.settle(id, null, error);
    }
  }

  private send(frame: ClientFrame): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(frame));
  }
}

function browserWorld(): BrowserAccess {
  return {
    socket: () => new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}${withBasePath('/ws')}`),
    post: (path, body) => http.post(path, body),
    storage: sessionStorageOrNull(),
    ours: isOurs(sessionStorageOrNull(), tabChannel(), newId),
    now: () => Date.now(),
    random: () => Math.random(),
  };
}

/** A browser may forbid it; then commands live as long as the page. */
function sessionStorageOrNull(): Storage | null {
  try {
    return sessionStorage;
  } catch {
    return null;
  }
}

export const connection = new Connection(browserWorld());

/** Ask again as soon as somebody looks or the network is back. */
export function retryWhenPageWakes(of: Connection): void {
  const wake = (): void => {
    if (document.visibilityState !== 'visible' || of.state.peek() === 'locked') return;
    of.retryNow();
  };
  document.addEventListener('visibilitychange', wake);
  addEventListener('online', wake);
  addEventListener('pageshow', (event) => event.persisted && wake());
  addEventListener('offline', () => of.onNetworkLost());
}
