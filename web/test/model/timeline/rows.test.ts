import { signal } from '@preact/signals';
import { describe, expect, it } from 'vitest';
import type { Item } from '../../../src/model/timeline/items';
import { rowsOf } from '../../../src/model/timeline/rows';

let seq = 0;
const notice = (name: string, text?: string): Item => {
  seq += 1;
  return { kind: 'notice', key: `n:${seq}`, seq, at: 0, name, tone: 'quiet', aside: false, state: signal(text === undefined ? {} : { text }) };
};
const shown = (items: Item[], details = false): string[] => rowsOf(items, { isOpen: () => undefined, details }).map((row) => (
  row.kind === 'item' && row.item.kind === 'notice' ? row.item.state.peek().text ?? row.item.name : row.kind));

describe('the mode', () => {
  const modes = [notice('current_mode_update', 'auto'), notice('current_mode_update', 'auto'), notice('current_mode_update', 'ask'), notice('current_mode_update', 'auto')];

  it('is told when it is another one', () => expect(shown(modes)).toEqual(['auto', 'ask', 'auto']));
  it('is told as often as it came to who wants every event', () => expect(shown(modes, true)).toEqual(['auto', 'auto', 'ask', 'auto']));
  it('is told again after plan mode', () => {
    expect(shown([notice('current_mode_update', 'auto'), notice('plan_entered'), notice('plan_left'), notice('current_mode_update', 'auto')]))
      .toEqual(['auto', 'plan_entered', 'plan_left', 'auto']);
  });
});
