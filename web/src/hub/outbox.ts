/**
 * Commands on their way to the hub: what was given and not answered yet.
 *
 * Rule 1: a command keeps its id for as long as it lives, also over a reload: the hub carries each id out once.
 * Rule 2: what failed stays, and says why, until somebody drops it; a prompt also over a reload. Whoever shows the failure elsewhere
 * drops it.
 * Rule 3: what was stored stays stored: what does not fit beside it lives as long as the page.
 * Rule 4: what lies in storage is sent only by the tab whose it is (tab.ts).
 * Rule 5: what was given under one login is not sent under another (somebody else may have logged in in this browser): it has failed,
 * and stays until it is dropped.
 */
import { signal, type ReadonlySignal } from '@preact/signals';
import type { ACPCommand } from '../generated/agent-context';
import { t } from '../i18n';
import { HubError } from './http';

export interface OutgoingCommand {
  readonly id: string;
  readonly sessionId: string;
  readonly command: ACPCommand;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly state: 'queued' | 'sent' | 'done' | 'failed';
  readonly error?: HubError;
  readonly done: Promise<unknown>;
  drop(): void;
}

interface StoredCommand extends Pick<OutgoingCommand, 'id' | 'sessionId' | 'command' | 'at'> {
  /** The login under which it was given; none where the hub had not let anybody in yet. */
  by?: string;
  /** Why it was refused. */
  refused?: { code: string; message: string };
}

const KEY = 'trunkline.outbox';

/** The error's code of what was given under another login. */
export const ANOTHER_LOGIN = 'another_login';

class OutboxEntry implements OutgoingCommand {
  state: OutgoingCommand['state'] = 'queued';
  /** It came out of the storage, and whether it is ours is not known yet. */
  held = false;
  error?: HubError;
  by: string | undefined;
  readonly done: Promise<unknown>;
  resolve!: (result: unknown) => void;
  reject!: (error: HubError) => void;

  constructor(
    readonly id: string,
    readonly sessionId: string,
    readonly command: ACPCommand,
    readonly at: number,
    private readonly dropped: (entry: OutboxEntry) => void,
  ) {
    this.done = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    this.done.catch(() => undefined); // Who does not wait for it reads the state.
  }

  drop(): void {
    this.dropped(this);
  }
}

export class Outbox {
  private readonly entries = new Map<string, OutboxEntry>();
  private readonly listed = signal<OutgoingCommand[]>([]);
  private stored = new Set<string>();
  private login: string | undefined;

  /** `ours`: whether what is in the storage is this tab's; nothing of it is sent before that is known. */
  constructor(private readonly storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> | null, ours?: Promise<boolean>, private readonly onClaimed = (): void => undefined) {
    const readStored = this.restored();
    for (const kept of readStored) {
      this.insert(kept).held = ours !== undefined;
      this.stored.add(kept.id);
    }
    this.publish();
    if (readStored.length) void ours?.then((are) => this.claim(are));
  }

  /** What came out of the storage is ours, or it is another tab's and of no concern here. */
  private claim(ours: boolean): void {
    for (const entry of [...this.entries.values()].filter((each) => each.held)) {
      entry.held = false;
      if (!ours) this.drop(entry);
    }
    this.refuseOthers();
    this.onClaimed();
  }

  /** Forget everything: somebody leaves. */
  clear(): void {
    for (const entry of [...this.entries.values()]) this.drop(entry);
    this.login = undefined;
  }

  /** The hub let us in under this login. */
  setLogin(login: string): void {
    this.login = login;
    this.refuseOthers();
  }

  /** What was given before anybody was let in is of who comes first. */
  private refuseOthers(): void {
    if (this.login === undefined) return;
    for (const entry of this.unanswered) {
      entry.by ??= this.login;
      if (entry.by !== this.login) this.settle(entry.id, null, new HubError(ANOTHER_LOGIN, t('common.outboxAnotherLogin')));
    }
    this.publish();
  }

  get all(): ReadonlySignal<OutgoingCommand[]> {
    return this.listed;
  }

  /** What the hub has not answered. */
  get unanswered(): OutboxEntry[] {
    return [...this.entries.values()].filter((entry) => !entry.held && (entry.state === 'queued' || entry.state === 'sent'));
  }

  add(sessionId: string, command: ACPCommand, now: number): OutgoingCommand {
    const entry = this.insert({ id: newId(), sessionId, command, at: now, ...(this.login === undefined ? {} : { by: this.login }) });
    this.publish();
    return entry;
  }

  markSent(id: string): void {
    this.set(id, 'sent');
  }

  /** The connection went: nobody knows what became of them. */
  requeue(): void {
    for (const entry of this.unanswered) entry.state = 'queued';
    this.publish();
  }

  /** The hub answered; false where it was no command of ours. */
  settle(id: string, result: unknown, error: HubError | null): boolean {
    const entry = this.entries.get(id);
    if (!entry) return false;
    if (error) {
      entry.error = error;
      this.set(id, 'failed');
      entry.reject(error);
    } else {
      entry.state = 'done';
      this.entries.delete(id);
      entry.resolve(result);
      this.publish();
    }
    return true;
  }

  private insert(kept: StoredCommand): OutboxEntry {
    const entry = new OutboxEntry(kept.id, kept.sessionId, kept.command, kept.at, (gone) => this.drop(gone));
    entry.by = kept.by;
    this.entries.set(entry.id, entry);
    if (kept.refused) {
      entry.state = 'failed';
      entry.error = new HubError(kept.refused.code, kept.refused.message);
      entry.reject(entry.error);
    }
    return entry;
  }

  private drop(entry: OutboxEntry): void {
    if (!this.entries.delete(entry.id)) return;
    if (entry.state !== 'failed') entry.reject(new HubError('dropped', t('common.outboxDropped')));
    this.publish();
  }

  private set(id: string, state: OutgoingCommand['state']): void {
    const entry = this.entries.get(id);
    if (!entry || entry.state === state) return;
    entry.state = state;
    this.publish();
  }

  private publish(): void {
    this.listed.value = [...this.entries.values()];
    this.store();
  }

  /** What is too large to be kept beside what is kept already lives as long as the page does. */
  private store(): void {
    let kept = [...this.entries.values()].filter(isWorthStoring).map((entry) => ({ id: entry.id, text: JSON.stringify(storedOf(entry)) }));
    while (!this.writeStored(kept.map((each) => each.text))) {
      const newest = kept.filter((each) => !this.stored.has(each.id)).sort((one, other) => other.text.length - one.text.length)[0];
      if (newest === undefined) return;
      kept = kept.filter((each) => each !== newest);
    }
    this.stored = new Set(kept.map((each) => each.id));
  }

  private writeStored(kept: readonly string[]): boolean {
    try {
      if (kept.length) this.storage?.setItem(KEY, `[${kept.join()}]`);
      else this.storage?.removeItem(KEY);
      return true;
    } catch {
      return false;
    }
  }

  private restored(): StoredCommand[] {
    try {
      const kept: unknown = JSON.parse(this.storage?.getItem(KEY) ?? '[]');
      return Array.isArray(kept) ? kept.filter(isStored) : [];
    } catch {
      return [];
    }
  }
}

/** A refused decision is shown where it was made; a refused prompt is somebody's work. */
function isWorthStoring(entry: OutboxEntry): boolean {
  return entry.state !== 'failed' || entry.command.command === 'send_message';
}

function storedOf({ id, sessionId, command, at, by, state, error }: OutboxEntry): StoredCommand {
  const refused = state === 'failed' ? { refused: { code: error?.code ?? 'failed', message: error?.message ?? '' } } : {};
  return { id, sessionId, command, at, ...(by === undefined ? {} : { by }), ...refused };
}

function isStored(thing: unknown): thing is StoredCommand {
  const kept = thing as Partial<StoredCommand> | null;
  return typeof kept?.id === 'string' && typeof kept.sessionId === 'string' && typeof kept.command === 'object';
}

/** 16 random bytes, so that nobody else has it. */
export function newId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
