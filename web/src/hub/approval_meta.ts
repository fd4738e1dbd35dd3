/**
 * What comes with an approval beyond its level: what the hub is not sure of, and every call that it is about.
 *
 * Rule: pure, and what came is looked at before it is believed. An older hub sends none of this, and then there is nothing.
 */
import type { ApprovalPreview } from '../generated/agent-context';
import type { ApprovalView, AskedCall } from '../generated/api';

export type { AskedCall };

/** What is known of an approval beyond its level. */
type ApprovalMeta = Pick<ApprovalView, 'sure' | 'doubts' | 'calls' | 'acts' | 'inWords'>;

const LEVELS: readonly unknown[] = ['low', 'medium', 'high', 'critical'];

/** What `_meta` of its event has of this. */
export function readApprovalMeta(meta: Record<string, unknown> | undefined): ApprovalMeta {
  const risk = meta?.['risk'] as { sure?: unknown; doubts?: unknown } | undefined;
  const calls = Array.isArray(meta?.['calls']) ? (meta['calls'] as unknown[]).filter(isCall) : [];
  const acts = Array.isArray(meta?.['acts']) ? (meta['acts'] as unknown[]).filter(isAct) : [];
  return {
    ...(risk?.sure === false ? { sure: false, doubts: textsIn(risk.doubts) } : {}),
    ...(calls.length ? { calls } : {}),
    ...(acts.length ? { acts } : {}),
    ...(meta?.['inWords'] === true ? { inWords: true } : {}),
  };
}

/** What the hub is not sure of; null where it is sure. */
export function doubtsOf(approval: ApprovalView): string[] | null {
  return approval.sure === false ? textsIn(approval.doubts) : null;
}

/** The calls that an ask covers, where they are several. */
export function callsOf(approval: ApprovalView): AskedCall[] {
  const calls = Array.isArray(approval.calls) ? approval.calls.filter(isCall) : [];
  return calls.length > 1 || calls.some((call) => call.toolCallId !== approval.toolCallId) ? calls : [];
}

/** What it would do beside what its preview shows. */
export function actsOf(approval: ApprovalView): ApprovalPreview[] {
  return Array.isArray(approval.acts) ? approval.acts.filter(isAct) : [];
}

/** The ids of the calls that the event of an ask is about. */
export function callIdsOf(event: { toolCallId: string; _meta?: Record<string, unknown> }): string[] {
  const calls = readApprovalMeta(event._meta).calls?.map((call) => call.toolCallId) ?? [];
  return calls.length ? calls : [event.toolCallId];
}

/** Who saved the rule that answered an ask, where a rule did and somebody saved it. */
export function savedByOf(event: { _meta?: Record<string, unknown> }): string | undefined {
  const rule = event._meta?.['rule'] as { savedBy?: unknown } | undefined;
  return typeof rule?.savedBy === 'string' ? rule.savedBy : undefined;
}

/** Whether an ask ended only because the same call, which changed, is asked about once more. */
export function wasAskedAnew(event: { _meta?: Record<string, unknown> }): boolean {
  return event._meta?.['askedAnew'] === true;
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string' && each !== '') : [];
}

function isAct(value: unknown): value is ApprovalPreview {
  const act = value as Partial<Record<'type' | 'diff' | 'path' | 'command' | 'text', unknown>> | null;
  if (typeof act !== 'object' || act === null) return false;
  if (act.type === 'diff') return typeof act.diff === 'string' && typeof act.path === 'string';
  return act.type === 'command' ? typeof act.command === 'string' : act.type === 'description' && typeof act.text === 'string';
}

function isCall(value: unknown): value is AskedCall {
  const call = value as Partial<AskedCall> | null;
  return typeof call === 'object' && call !== null && typeof call.toolCallId === 'string' && typeof call.description === 'string' && LEVELS.includes(call.riskLevel);
}
