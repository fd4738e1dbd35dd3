/**
 * Decisions and answers on their way: which command is about which ask, and how far it is.
 *
 * Rule 1: the outbox is the truth. A card that is drawn again, or a page that was loaded again, shows the same.
 * Rule 2: an answer that came too late is not kept as a failure: who was first is shown in its place.
 * Rule 3: an ask is answered once at a time: while one command is on its way, no other is sent. That a press is meant
 * for the ask that it hits is the card's to see to (steady.ts).
 */
import { effect } from '@preact/signals';
import type { ACPCommand } from '../../generated/agent-context';
import { connection, type Sent } from '../../hub/connection';
import { markAnsweredHere, addResolution, resolutionIn } from './resolutions';

/** The ask that a command is about; null for all others. */
export function askOf(command: ACPCommand): string | null {
  if (command.command === 'approve_tool_call' || command.command === 'deny_tool_call') return command.requestId;
  return command.command === 'answer_question' ? command.questionId : null;
}

/** The newest command about an ask that is not done. */
export function sentFor(ask: string): Sent | undefined {
  return connection.outbox.value.findLast((sent) => askOf(sent.command) === ask);
}

/** Send it, in place of one that failed. */
export function sendAnswer(sessionId: string, ask: string, command: ACPCommand): void {
  const before = connection.outbox.peek().filter((sent) => askOf(sent.command) === ask);
  if (before.some((sent) => sent.state !== 'failed')) return;
  before.forEach((sent) => sent.drop());
  markAnsweredHere(ask, true, command._meta?.['scope'] === 'always');
  connection.command(sessionId, command);
}

/** Somebody else was first: that is no failure to keep, it is how the ask ended. */
effect(() => {
  for (const sent of connection.outbox.value) {
    const ask = askOf(sent.command);
    const resolution = ask !== null && sent.error ? resolutionIn(sent.error) : null;
    if (ask === null || !resolution) continue;
    markAnsweredHere(ask, false);
    addResolution(ask, resolution);
    sent.drop();
  }
});
