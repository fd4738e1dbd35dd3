// @vitest-environment node
import { describe, expect, it } from 'vitest';
import { isOurs } from '../../src/hub/tab';

type Channel = { postMessage(word: unknown): void; onmessage: ((event: MessageEvent) => void) | null };

/** Pages that hear one another. */
function channels(): () => Channel {
  const all: Channel[] = [];
  return () => {
    const one: Channel = { onmessage: null, postMessage: (word) => all.filter((each) => each !== one).forEach((each) => each.onmessage?.({ data: word } as MessageEvent)) };
    all.push(one);
    return one;
  };
}

function storage(from?: Map<string, string>): Storage & { kept: Map<string, string> } {
  const kept = new Map(from);
  return { kept, getItem: (key: string) => kept.get(key) ?? null, setItem: (key: string, value: string) => void kept.set(key, value) } as never;
}

let names = 0;
const name = (): string => `n${(names += 1)}`;

describe('what lies in the storage of a tab', () => {
  it('is its own, after a reload too', async () => {
    const join = channels();
    const kept = storage();
    expect(await isOurs(kept, null, name)).toBe(true);
    expect(await isOurs(kept, join() as never, name)).toBe(true);
    expect(await isOurs(storage(kept.kept), channels()() as never, name)).toBe(true);
  });
  it('is not its duplicate\'s while the first is there, and both have names of their own then', async () => {
    const join = channels();
    const first = storage();
    await isOurs(first, join() as never, name);
    const second = storage(first.kept);
    expect(await isOurs(second, join() as never, name)).toBe(false);
    expect([...second.kept.values()]).not.toEqual([...first.kept.values()]);
    expect(await isOurs(storage(second.kept), join() as never, name)).toBe(false);
  });
});
