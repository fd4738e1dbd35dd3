// A timeline as plain data, to compare two of them.

import { Signal } from '@preact/signals';
import type { Item } from '../../src/model/timeline/items';

/** Items with every signal read. `seq` and `at` are left out where two ways of loading may differ in them. */
export function seen(items: readonly Item[], { places = true } = {}): unknown[] {
  return items.map((item) => plain(item, places));
}

function plain(value: unknown, places: boolean): unknown {
  if (value instanceof Signal) return plain(value.peek(), places);
  if (Array.isArray(value)) return value.map((one) => plain(one, places));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([name]) => places || (name !== 'seq' && name !== 'at' && name !== 'args' && name !== 'timestamp'));
  return Object.fromEntries(fields.map(([name, field]) => [name, plain(field, places)]));
}
