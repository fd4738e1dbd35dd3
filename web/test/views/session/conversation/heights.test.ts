// @vitest-environment node
import { describe, expect, test } from 'vitest';
import { Heights } from '../../../../src/views/session/conversation/heights';
import { numbers } from '../../../seeded_numbers';

describe('heights of rows', () => {
  test('are those of the plain sum, whatever is measured and added in which order', () => {
    const random = numbers(7);
    const heights = new Heights();
    const truth = new Map<string, number>();
    let keys: string[] = [];
    let made = 0;
    for (let step = 0; step < 400; step += 1) {
      const chance = random();
      if (chance < 0.2) keys = [`k${(made += 1)}`, `k${(made += 1)}`, ...keys];
      else if (chance < 0.5) keys = [...keys, `k${(made += 1)}`];
      else if (chance < 0.6) keys = keys.filter(() => random() > 0.1);
      else if (keys.length > 0) {
        const key = keys[Math.floor(random() * keys.length)]!;
        truth.set(key, Math.floor(random() * 100) + 1);
        heights.setRows(keys, () => 20);
        heights.measure(key, truth.get(key)!);
      }
      heights.setRows(keys, () => 20);
      let sum = 0;
      const sums = keys.map((key) => (sum += truth.get(key) ?? 20) - (truth.get(key) ?? 20));
      expect(keys.map((_, at) => heights.offsetOf(at))).toEqual(sums);
      expect(sums.map((offset) => heights.rowAt(offset))).toEqual([...keys.keys()]);
      expect(heights.total).toBe(sum);
    }
  });

  test('a row that was measured keeps its height when older rows come', () => {
    const heights = new Heights();
    heights.setRows(['b'], () => 10);
    heights.measure('b', 55);
    heights.setRows(['a', 'b'], () => 10);
    expect([heights.offsetOf(1), heights.total]).toEqual([10, 65]);
  });
});
