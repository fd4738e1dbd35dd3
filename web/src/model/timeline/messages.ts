// Messages of both sides and the agent's thinking, piece by piece.
//
// Rule 1: a chunk changes its own item's text and nothing else.
// Rule 2: what completes a long text carries its beginning only. Where its pieces are all here, they are the text; else the rest is
// fetched when somebody asks for it.

import { signal, type Signal } from '@preact/signals';
import type { ACPEventByPrefix, MessageCompleteEvent } from '../../generated/agent-context';
import { defined, readText, startOf } from './event_fields';
import type { CutText, MessageItem, ThinkingItem } from './items';
import type { RunningTurn } from './turn';
import type { ItemList } from './item_list';
import type { Subagents } from './subagents';

export class Messages {
  constructor(private readonly items: ItemList, private readonly subagents: Subagents, private readonly turn: RunningTurn) {}

  onMessage(event: ACPEventByPrefix<'message:'>): string {
    const item = this.messageFor(event);
    const { text, state } = item;
    if (event.type === 'message:start') {
      const meta = event._meta;
      state.value = { ...state.peek(), ...defined({ by: readText(meta, 'by'), turnId: readText(meta, 'turnId'), replayed: meta?.['replayed'] ? true : undefined }) };
    } else if (event.type === 'message:delta') {
      text.value = text.peek() + event.delta;
    } else {
      const whole = textOf(event);
      const cut = complete(text, whole, event._meta);
      const images = event.content.filter((part) => part.type === 'image');
      state.value = { ...state.peek(), done: true, cut, images, ...defined({ model: event.model, by: readText(event._meta, 'by') }) };
      this.items.open.delete(item);
      if (event.role === 'user') this.turn.tally.setPrompt(whole, images.map(({ url }) => url));
    }
    return item.key;
  }

  onThinking(event: ACPEventByPrefix<'thinking:'>): string {
    const item = this.thinkingFor(event);
    if (event.type === 'thinking:delta') {
      item.text.value = item.text.peek() + event.delta;
    } else if (event.type === 'thinking:complete') {
      const cut = complete(item.text, event.content, event._meta);
      item.state.value = { done: true, cut, redacted: event.redacted ?? false, endedAt: Date.parse(event.timestamp) };
      this.items.open.delete(item);
    }
    return item.key;
  }

  private messageFor(event: ACPEventByPrefix<'message:'>): MessageItem {
    const key = `m:${event.messageId}`;
    const known = this.items.find(key) as MessageItem | undefined;
    if (known !== undefined) return known;
    const item: MessageItem = {
      kind: 'message', key, ...startOf(event), messageId: event.messageId, role: event.role, text: signal(''),
      state: signal({ done: false, images: [] }),
    };
    this.items.open.add(item);
    if (event.role === 'assistant') this.turn.markActive();
    return this.subagents.add(item, readText(event._meta, 'parentToolCallId'));
  }

  private thinkingFor(event: ACPEventByPrefix<'thinking:'>): ThinkingItem {
    const key = `t:${event.messageId}`;
    const known = this.items.find(key) as ThinkingItem | undefined;
    if (known !== undefined) return known;
    const item: ThinkingItem = {
      kind: 'thinking', key, ...startOf(event), messageId: event.messageId, text: signal(''), state: signal({ done: false, redacted: false }),
    };
    this.items.open.add(item);
    this.turn.markActive();
    return this.subagents.add(item, readText(event._meta, 'parentToolCallId'));
  }
}

/** Set the text to what completes it, unless more of it is here; says where the rest is. */
function complete(text: Signal<string>, whole: string, meta: Record<string, unknown> | undefined): CutText | undefined {
  const { bytes, url } = (meta?.['truncated'] ?? {}) as Partial<CutText>;
  const isCut = typeof bytes === 'number' && typeof url === 'string';
  if (isCut && text.peek().length > whole.length && new TextEncoder().encode(text.peek()).length === bytes) return undefined;
  if (whole !== text.peek()) text.value = whole;
  return isCut ? { bytes, url } : undefined;
}

function textOf(event: MessageCompleteEvent): string {
  return event.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
