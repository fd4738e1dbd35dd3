// Messages of both sides and the agent's thinking, piece by piece.
//
// Rule: a chunk changes its own item's text and nothing else.

import { signal } from '@preact/signals';
import type { ACPEventByPrefix, MessageCompleteEvent } from '../../generated/agent-context';
import { defined, readText, startOf } from './event_fields';
import type { MessageItem, ThinkingItem } from './items';
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
      if (whole !== text.peek()) text.value = whole;
      const images = event.content.filter((part) => part.type === 'image');
      state.value = { ...state.peek(), done: true, images, ...defined({ model: event.model, by: readText(event._meta, 'by') }) };
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
      if (event.content !== item.text.peek()) item.text.value = event.content;
      item.state.value = { done: true, redacted: event.redacted ?? false, endedAt: Date.parse(event.timestamp) };
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

function textOf(event: MessageCompleteEvent): string {
  return event.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
