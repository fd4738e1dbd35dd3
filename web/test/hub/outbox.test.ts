// @vitest-environment node
import { describe, expect, it } from 'vitest';
import type { ACPCommand } from '../../src/generated/agent-context';
import { ANOTHER_LOGIN, Outbox } from '../../src/hub/outbox';

function storage(): Storage {
  const kept = new Map<string, string>();
  return { getItem: (key: string) => kept.get(key) ?? null, setItem: (key: string, value: string) => void kept.set(key, value), removeItem: (key: string) => void kept.delete(key) } as never;
}

const prompt = (message: string): ACPCommand => ({ command: 'send_message', message }) as ACPCommand;
const waiting = (box: Outbox): string[] => box.unanswered.map((sent) => (sent.command as { message: string }).message);

describe('what was said under one login', () => {
  it('waits for that login and is sent under no other', async () => {
    const box = new Outbox(storage());
    box.setLogin('ada');
    const sent = box.add('s', prompt('of ada'), 0);
    box.requeue();
    box.setLogin('ada');
    expect(waiting(box)).toEqual(['of ada']);
    box.requeue();
    box.setLogin('bob');
    expect(waiting(box)).toEqual([]);
    expect([sent.state, sent.error?.code]).toEqual(['failed', ANOTHER_LOGIN]);
    await expect(sent.done).rejects.toThrow('written by another login');
    box.add('s', prompt('of bob'), 0);
    expect(waiting(box)).toEqual(['of bob']);
  });

  it('is known again after a reload, and stays until it is dropped', () => {
    const kept = storage();
    const before = new Outbox(kept);
    before.setLogin('ada');
    before.add('s', prompt('of ada'), 0);
    const bobs = new Outbox(kept);
    bobs.setLogin('bob');
    expect(waiting(bobs)).toEqual([]);
    const again = new Outbox(kept);
    again.setLogin('ada');
    expect(again.all.peek().map((sent) => sent.state)).toEqual(['failed']);
    again.all.peek()[0]?.drop();
    expect(new Outbox(kept).all.peek()).toEqual([]);
  });

  it('is looked at once the tab knows that it is its own', async () => {
    const kept = storage();
    const before = new Outbox(kept);
    before.setLogin('ada');
    before.add('s', prompt('of ada'), 0);
    const ours = Promise.resolve(true);
    const box = new Outbox(kept, ours);
    box.setLogin('bob');
    await ours;
    expect([waiting(box), box.all.peek().map((sent) => sent.state)]).toEqual([[], ['failed']]);
  });

  it('is of who is let in first, where nobody was', () => {
    const box = new Outbox(storage());
    box.add('s', prompt('early'), 0);
    box.setLogin('ada');
    expect(waiting(box)).toEqual(['early']);
    box.setLogin('bob');
    expect(waiting(box)).toEqual([]);
  });
});
