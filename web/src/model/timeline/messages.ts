// What is said and thought: messages of both sides and the agent's thinking, piece by piece.
//
// Rule: a chunk changes its own item's text and nothing else.

import { signal } from '@preact/signals';
import type { ACPEventByPrefix, MessageCompleteEvent } from '../../generated/agent-context';
import { defined } from './tool_call_state';
import type { MessageItem, ThinkingItem } from './items';
import { word } from './notices';
import type { RunningTurn } from './turn';
import { placeOf, type Shelf } from './item_list';
import type { Subagents } from './subagents';

export class Speech {
  constructor(private readonly shelf: Shelf, private readonly subagents: Subagents, private readonly turn: RunningTurn) {}

  said(event: ACPEventByPrefix<'message:'>): string {
    const item = this.message(event);
    const { text, state } = item;
    if (event.type === 'message:start') {
      const meta = event._meta;
      state.value = { ...state.peek(), ...defined({ by: word(meta, 'by'), turnId: word(meta, 'turnId'), replayed: meta?.['replayed'] ? true : undefined }) };
    } else if (event.type === 'message:delta') {
      text.value = text.peek() + event.delta;
    } else {
      const whole = textOf(event);
      if (whole !== text.peek()) text.value = whole;
      const images = event.content.filter((part) => part.type === 'image');
      state.value = { ...state.peek(), done: true, images, ...defined({ model: event.model, by: word(event._meta, 'by') }) };
      this.shelf.open.delete(item);
      if (event.role === 'user') this.turn.tally.prompted(whole, images.map(({ url }) => url));
    }
    return item.key;
  }

  thought(event: ACPEventByPrefix<'thinking:'>): string {
    const item = this.thinking(event);
    if (event.type === 'thinking:delta') {
      item.text.value = item.text.peek() + event.delta;
    } else if (event.type === 'thinking:complete') {
      if (event.content !== item.text.peek()) item.text.value = event.content;
      item.state.value = { done: true, redacted: event.redacted ?? false, endedAt: Date.parse(event.timestamp) };
      this.shelf.open.delete(item);
    }
    return item.key;
  }

  private message(event: ACPEventByPrefix<'message:'>): MessageItem {
    const key = `m:${event.messageId}`;
    const known = this.shelf.find(key) as MessageItem | undefined;
    if (known !== undefined) return known;
    const item: MessageItem = {
      kind: 'message', key, ...placeOf(event), messageId: event.messageId, role: event.role, text: signal(''),
      state: signal({ done: false, images: [] }),
    };
    this.shelf.open.add(item);
    if (event.role === 'assistant') this.turn.heard();
    return this.subagents.add(item, word(event._meta, 'parentToolCallId'));
  }

  private thinking(event: ACPEventByPrefix<'thinking:'>): ThinkingItem {
    const key = `t:${event.messageId}`;
    const known = this.shelf.find(key) as ThinkingItem | undefined;
    if (known !== undefined) return known;
    const item: ThinkingItem = {
      kind: 'thinking', key, ...placeOf(event), messageId: event.messageId, text: signal(''), state: signal({ done: false, redacted: false }),
    };
    this.shelf.open.add(item);
    this.turn.heard();
    return this.subagents.add(item, word(event._meta, 'parentToolCallId'));
  }
}

function textOf(event: MessageCompleteEvent): string {
  return event.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
