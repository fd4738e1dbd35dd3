// Prompts of this page that are on their way: shown at once, until the journal tells of them. Pure.
//
// Rule 1: a prompt is never shown twice. It goes when its message or its place in the queue is known: by its turn where the hub has
// answered, else by its words in what came after it was sent.
// Rule 2: what failed stays until somebody drops it or sends it again.

import type { SendMessageCommand } from '../generated/agent-context';
import type { ContentBlock, QueuedPrompt } from '../generated/api';
import type { Sent } from '../hub/outbox';
import type { Item, MessageItem } from './items';

export interface OwnPrompt {
  sent: Sent;
  /** The newest entry when it was sent: its message comes after that. */
  after: number;
  /** What the hub said its turn is. */
  turnId?: string;
}

export function isPrompt(sent: Sent): sent is Sent & { command: SendMessageCommand } {
  return sent.command.command === 'send_message';
}

/** Those that nothing else shows yet. */
export function unseen(own: readonly OwnPrompt[], items: readonly Item[], queue: readonly QueuedPrompt[]): OwnPrompt[] {
  const said = items.filter((item): item is MessageItem => item.kind === 'message' && item.role === 'user');
  const turns = new Set([...said.map((item) => item.messageId.replace(/^user-/, '')), ...queue.map((waiting) => waiting.turnId)]);
  const claimed = new Set<string>();
  return own.filter((prompt) => {
    if (prompt.turnId !== undefined) return !turns.has(prompt.turnId);
    if (prompt.sent.state === 'failed') return true;
    const text = (prompt.sent.command as SendMessageCommand).message;
    const message = said.find((item) => item.seq > prompt.after && !claimed.has(item.key) && item.text.peek() === text);
    const waiting = queue.find((one) => !claimed.has(one.turnId) && textOf(one.content) === text);
    const found = message?.key ?? waiting?.turnId;
    if (found !== undefined) claimed.add(found);
    return found === undefined;
  });
}

function textOf(content: readonly ContentBlock[]): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}
