// Prompts of this page that are on their way: shown at once, until the journal has them.
//
// Rule 1: a prompt is never shown twice. It goes when its message or its place in the queue is known: by its turn where the hub has
// answered, else by its words in what came after it was sent.
// Rule 2: what failed stays until somebody drops it or sends it again.

import { computed, effect, signal, type ReadonlySignal } from '@preact/signals';
import type { SendMessageCommand } from '../generated/agent-context';
import type { ContentBlock, QueuedPrompt } from '../generated/api';
import type { OutgoingCommand } from '../hub/outbox';
import type { Item, MessageItem } from './timeline/items';
import type { Timeline } from './timeline/timeline';

export interface OutgoingPrompt {
  sent: OutgoingCommand;
  /** The newest entry when it was sent: its message comes after that. */
  after: number;
  /** Its turn, where the hub has answered. */
  turnId?: string;
}

function isPrompt(sent: OutgoingCommand): sent is OutgoingCommand & { command: SendMessageCommand } {
  return sent.command.command === 'send_message';
}

/** The prompts of one session that this page has sent. */
export class OutgoingPrompts {
  /** Those that the journal does not have yet. */
  readonly unseen: ReadonlySignal<OutgoingPrompt[]>;

  private readonly own = signal<OutgoingPrompt[]>([]);
  private readonly stopWatching: (() => void)[];

  constructor(
    private readonly sessionId: string, private readonly outbox: ReadonlySignal<readonly OutgoingCommand[]>,
    private readonly timeline: Pick<Timeline, 'items' | 'seq'>, queue: () => readonly QueuedPrompt[],
  ) {
    this.unseen = computed(() => unseen(this.own.value, timeline.items.value, queue()));
    this.stopWatching = [effect(() => this.collect()), effect(() => this.forgetSeen())];
  }

  close(): void {
    this.stopWatching.forEach((stop) => stop());
  }

  private collect(): void {
    const sent = this.outbox.value.filter((one) => one.sessionId === this.sessionId && isPrompt(one));
    const own = this.own.peek();
    const known = new Set(own.map((prompt) => prompt.sent.id));
    const kept = own.filter((prompt) => prompt.turnId !== undefined || sent.includes(prompt.sent) || prompt.sent.state === 'done');
    const fresh = sent.filter((one) => !known.has(one.id)).map((one) => ({ sent: one, after: this.timeline.seq }));
    for (const prompt of fresh) prompt.sent.done.then((result) => this.onTaken(prompt.sent.id, result), () => undefined);
    this.own.value = [...kept, ...fresh];
  }

  /** A prompt that the journal has is never shown as on its way again, whatever becomes of it. */
  private forgetSeen(): void {
    const left = this.unseen.value;
    const kept = this.own.peek().filter((prompt) => prompt.turnId === undefined || left.includes(prompt));
    if (kept.length < this.own.peek().length) this.own.value = kept;
  }

  private onTaken(id: string, result: unknown): void {
    const turnId = (result as { turnId?: unknown } | undefined)?.turnId;
    if (typeof turnId !== 'string') return;
    this.own.value = this.own.peek().map((prompt) => (prompt.sent.id === id ? { ...prompt, turnId } : prompt));
  }
}

/** Those that nothing else shows yet. */
function unseen(own: readonly OutgoingPrompt[], items: readonly Item[], queue: readonly QueuedPrompt[]): OutgoingPrompt[] {
  const messages = items.filter((item): item is MessageItem => item.kind === 'message' && item.role === 'user');
  const turns = new Set([...messages.map((item) => item.messageId.replace(/^user-/, '')), ...queue.map((waiting) => waiting.turnId)]);
  const claimed = new Set<string>();
  return own.filter((prompt) => {
    if (prompt.turnId !== undefined) return !turns.has(prompt.turnId);
    if (prompt.sent.state === 'failed') return true;
    const text = (prompt.sent.command as SendMessageCommand).message;
    const message = messages.find((item) => item.seq > prompt.after && !claimed.has(item.key) && item.text.peek() === text);
    const waiting = queue.find((one) => !claimed.has(one.turnId) && textOf(one.content) === text);
    const found = message?.key ?? waiting?.turnId;
    if (found !== undefined) claimed.add(found);
    return found === undefined;
  });
}

function textOf(content: readonly ContentBlock[]): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}
