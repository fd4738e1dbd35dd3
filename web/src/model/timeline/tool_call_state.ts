// A tool call's state machine: pending → in_progress → completed or failed. Pure.
//
// Rule 1: an end is never taken back. What comes after it (a late start, arguments, output) adds what is not known yet.
// Rule 2: a call may be seen for the first time at any of its events, since its start may be on a page that is not loaded.

import type { ACPError, ToolCategory, ToolStructuredOutput } from '../../generated/agent-context';
import type { ACPEventByPrefix } from '../../generated/agent-context';
import type { CarriedReading } from '../../generated/api';
import { defined } from './event_fields';
import type { Call, ToolItem } from './items';

type ToolEvent = Exclude<ACPEventByPrefix<'tool:'>, { type: 'tool:args_delta' }>;

export function newCall(name = '', category: ToolCategory = 'other'): Call {
  return { status: 'pending', name, category, changes: [], git: [], web: [], waited: [], decisions: [], waits: false, abandoned: false };
}

export function isOver(call: Call): boolean {
  return call.status === 'completed' || call.status === 'failed';
}

/** The call after one more event about it; an agent may have given it another title meanwhile. */
export function applyToolEvent(call: Call, event: ToolEvent): Call {
  return event.type === 'tool:start' ? started(call, event) : withTitle(afterEvent(call, event), event._meta);
}

/** The call under the title that an event gives it. */
export function withTitle(call: Call, meta: Record<string, unknown> | undefined): Call {
  const title = meta?.['title'];
  return typeof title === 'string' && title !== '' && title !== call.title ? { ...call, title } : call;
}

/** The agent's own title, else the hub's words for the call. A start that comes late takes no newer title back. */
function started(call: Call, event: Extract<ToolEvent, { type: 'tool:start' }>): Call {
  const { title } = withTitle(newCall(), event._meta);
  return { ...call, name: event.name, category: event.category, ...defined({ title: call.title ?? title ?? event.description }) };
}

function afterEvent(call: Call, event: Exclude<ToolEvent, { type: 'tool:start' }>): Call {
  switch (event.type) {
    case 'tool:executing':
      return executing(call, event);
    case 'tool:result':
      return {
        ...call, status: 'completed', name: event.name, output: event.output, durationMs: workedFor(call, event.duration, event.timestamp), waits: false, abandoned: false,
        ...defined({ structured: event.structured, exitCode: exitCodeOf(event.structured) }),
      };
    case 'tool:error':
      return {
        ...call, status: 'failed', name: event.name, error: event.error, waits: false, abandoned: false,
        ...defined({ durationMs: event.duration === undefined ? undefined : workedFor(call, event.duration, event.timestamp), structured: outputOf(event.error), exitCode: exitCodeOf(outputOf(event.error)) }),
      };
  }
}

/** How long it took, without what of that time it waited for a decision. */
function workedFor(call: Call, duration: number, ended: string): number {
  const end = Date.parse(ended);
  const waited = call.waited.map(([from, to]) => Math.max(0, Math.min(to, end) - Math.max(from, end - duration)));
  return Math.max(0, duration - waited.reduce((sum, each) => sum + each, 0));
}

function executing(call: Call, event: Extract<ToolEvent, { type: 'tool:executing' }>): Call {
  const reading = event._meta?.['reading'] as CarriedReading | undefined;
  return {
    ...call, status: isOver(call) ? call.status : 'in_progress', name: event.name, input: event.input, risk: event.riskLevel,
    waits: event.requiresApproval && !isOver(call), abandoned: false,
    ...defined({ riskReason: reasonOf(event._meta), reading, category: reading?.category }),
  };
}

/** The call when its turn is over: nothing of it goes on that anybody knows of. */
export function abandon(call: Call): Call {
  return isOver(call) || call.abandoned ? call : { ...call, waits: false, abandoned: true };
}

function exitCodeOf(output: ToolStructuredOutput | undefined): number | undefined {
  return output?.type === 'command_output' ? output.exitCode : undefined;
}

/** A failed command has its output in the details of its error. */
function outputOf(error: ACPError): ToolStructuredOutput | undefined {
  const details = error.details as { type?: unknown; exitCode?: unknown; stdout?: unknown; stderr?: unknown } | null | undefined;
  if (typeof details !== 'object' || details === null || typeof details.exitCode !== 'number') return undefined;
  return {
    type: 'command_output', exitCode: details.exitCode, stdout: textOf(details.stdout), stderr: textOf(details.stderr),
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function reasonOf(meta: Record<string, unknown> | undefined): string | undefined {
  const risk = meta?.['risk'] as { reason?: unknown } | undefined;
  return typeof risk?.reason === 'string' ? risk.reason : undefined;
}

export function changeCall(item: ToolItem, changes: Partial<Call>): void {
  item.call.value = { ...item.call.peek(), ...changes };
}
