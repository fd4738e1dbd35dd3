// Reading fields of events, which come from outside. Pure.

/** Where and when an item begins. */
export interface ItemStart {
  seq: number;
  at: number;
}

export function startOf(event: { seq: number; timestamp: string }): ItemStart {
  return { seq: event.seq, at: Date.parse(event.timestamp) };
}

/** A field where it is a text. */
export function readText(fields: Record<string, unknown> | undefined, name: string): string | undefined {
  const value = fields?.[name];
  return typeof value === 'string' ? value : undefined;
}

/** Only what is known: an absent field does not wipe out what was known before. */
export function defined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
