/**
 * Commands on their way to the hub: what was said and not answered yet.
 *
 * Rule 1: a command keeps its id for as long as it lives, also over a reload: the hub carries each id out once.
 * Rule 2: what failed stays, and says why, until somebody drops it. Whoever shows the failure elsewhere drops it.
 */
import { signal, type ReadonlySignal } from '@preact/signals';
import type { ACPCommand } from '../generated/agent-context';
import { HubError } from './http';

export interface Sent {
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

type Kept = Pick<Sent, 'id' | 'sessionId' | 'command' | 'at'>;

const KEY = 'trunkline.outbox';

class Entry implements Sent {
  state: Sent['state'] = 'queued';
  error?: HubError;
  readonly done: Promise<unknown>;
  resolve!: (result: unknown) => void;
  reject!: (error: HubError) => void;

  constructor(
    readonly id: string,
    readonly sessionId: string,
    readonly command: ACPCommand,
    readonly at: number,
    private readonly dropped: (entry: Entry) => void,
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
  private readonly entries = new Map<string, Entry>();
  private readonly listed = signal<Sent[]>([]);

  constructor(private readonly storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> | null) {
    for (const kept of this.restored()) this.insert(kept);
    this.changed();
  }

  get all(): ReadonlySignal<Sent[]> {
    return this.listed;
  }

  /** What the hub has not answered. */
  get unanswered(): Entry[] {
    return [...this.entries.values()].filter((entry) => entry.state === 'queued' || entry.state === 'sent');
  }

  add(sessionId: string, command: ACPCommand, now: number): Sent {
    const entry = this.insert({ id: newId(), sessionId, command, at: now });
    this.changed();
    return entry;
  }

  sent(id: string): void {
    this.set(id, 'sent');
  }

  /** The connection went: nobody knows what became of them. */
  lost(): void {
    for (const entry of this.unanswered) entry.state = 'queued';
    this.changed();
  }

  /** The hub answered; false where it was no command of ours. */
  answered(id: string, result: unknown, error: HubError | null): boolean {
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
      this.changed();
    }
    return true;
  }

  private insert(kept: Kept): Entry {
    const entry = new Entry(kept.id, kept.sessionId, kept.command, kept.at, (gone) => this.drop(gone));
    this.entries.set(entry.id, entry);
    return entry;
  }

  private drop(entry: Entry): void {
    if (!this.entries.delete(entry.id)) return;
    if (entry.state !== 'failed') entry.reject(new HubError('dropped', 'It was dropped before it was sent.'));
    this.changed();
  }

  private set(id: string, state: Sent['state']): void {
    const entry = this.entries.get(id);
    if (!entry || entry.state === state) return;
    entry.state = state;
    this.changed();
  }

  private changed(): void {
    this.listed.value = [...this.entries.values()];
    this.keep();
  }

  /** What is too large to be kept lives as long as the page does. */
  private keep(): void {
    const kept = this.unanswered.map(({ id, sessionId, command, at }) => ({ id, sessionId, command, at }));
    try {
      if (kept.length) this.storage?.setItem(KEY, JSON.stringify(kept));
      else this.storage?.removeItem(KEY);
    } catch {
      this.storage?.removeItem(KEY);
    }
  }

  private restored(): Kept[] {
    try {
      const kept: unknown = JSON.parse(this.storage?.getItem(KEY) ?? '[]');
      return Array.isArray(kept) ? kept.filter(isKept) : [];
    } catch {
      return [];
    }
  }
}

function isKept(thing: unknown): thing is Kept {
  const kept = thing as Partial<Kept> | null;
  return typeof kept?.id === 'string' && typeof kept.sessionId === 'string' && typeof kept.command === 'object';
}

/** 16 random bytes, so that nobody else has it. */
export function newId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
