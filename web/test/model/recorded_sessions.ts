// Recorded sessions of real agents as lists of events, for tests: the project's golden files.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ACPEvent } from '../../src/generated/agent-context';

const FOLDER = join(import.meta.dirname, '../../../tests/session/golden');

/** Every recorded session by its name. Positions and times, which golden files leave out, are counted up. */
export function recordedSessions(): Map<string, ACPEvent[]> {
  const found = new Map<string, ACPEvent[]>();
  for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.jsonl'))) {
    let name = file;
    for (const line of readFileSync(join(FOLDER, file), 'utf8').split('\n').filter(Boolean)) {
      const entry = JSON.parse(line) as Record<string, unknown>;
      if ('story' in entry) name = `${file} ${String(entry['story'])}`;
      else found.set(name, [...(found.get(name) ?? []), placed(entry, found.get(name)?.length ?? 0)]);
    }
  }
  return found;
}

function placed(event: Record<string, unknown>, index: number): ACPEvent {
  return { ...event, seq: index + 1, sessionId: 'ses_1', timestamp: new Date(1_700_000_000_000 + index * 100).toISOString() } as unknown as ACPEvent;
}
