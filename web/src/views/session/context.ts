// The room of the opened session, handed down to every row.

import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Room } from './view_state';

export type { Room } from './view_state';

export const RoomContext = createContext<Room | undefined>(undefined);

export function useRoom(): Room {
  const room = useContext(RoomContext);
  if (room === undefined) throw new Error('a row outside of a session');
  return room;
}

/** Whether a row is open, and a way to change that which keeps it in its place. */
export function useOpened(key: string, byDefault = false): [boolean, () => void] {
  const { opened, scroller } = useRoom();
  const open = opened.of(key) ?? byDefault;
  const toggle = (): void => {
    scroller.hold(key);
    opened.set(key, !open);
  };
  return [open, toggle];
}
