// The items of a conversation: the lists they stand in, by key and by call, and which of them are still open.
//
// Rule: only a change of what there is, or of what a list says of it, makes the list a new one (`changed`). A chunk does not.

import type { Item, MessageItem, ThinkingItem, ToolItem } from './items';

type OpenItem = MessageItem | ThinkingItem | ToolItem;

export class ItemList {
  readonly list: Item[] = [];
  /** The newest call of each id. */
  readonly calls = new Map<string, ToolItem>();
  /** What may still go on. */
  readonly open = new Set<OpenItem>();
  changed = false;
  private readonly byKey = new Map<string, Item>();
  private readonly lists = new Map<string, Item[]>();

  find(key: string): Item | undefined {
    return this.byKey.get(key);
  }

  callOf(callId: string | undefined): ToolItem | undefined {
    return callId === undefined ? undefined : this.calls.get(callId);
  }

  add<T extends Item>(item: T, list: Item[] = this.list): T {
    list.push(item);
    this.lists.set(item.key, list);
    this.byKey.set(item.key, item);
    this.changed = true;
    return item;
  }

  /** Where the item that it belongs to is, at the end. */
  addBeside<T extends Item>(item: T, key: string | undefined): T {
    return this.add(item, (key !== undefined ? this.lists.get(key) : undefined) ?? this.list);
  }

  replace<T extends Item>(old: Item, item: T): T {
    const list = this.lists.get(old.key) ?? this.list;
    list[list.lastIndexOf(old)] = item;
    this.byKey.set(item.key, item);
    this.changed = true;
    return item;
  }

  clear(): void {
    this.list.length = 0;
    for (const known of [this.calls, this.open, this.byKey, this.lists]) known.clear();
    this.changed = true;
  }
}
