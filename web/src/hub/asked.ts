/**
 * What an ask says of itself beyond its level: what the hub is not sure of, and every call that it is about.
 *
 * Rule: pure, and what came is looked at before it is believed. An older hub says nothing of this, and then there is nothing.
 */
import type { RiskLevel } from '../generated/agent-context';
import type { ApprovalView } from '../generated/api';

/** One of several calls that an ask is about. */
export interface AskedCall {
  toolCallId: string;
  toolName: string;
  description: string;
  riskLevel: RiskLevel;
  reason?: string;
  command?: string;
  paths?: string[];
}

/** What an ask that waits may carry beside the fields of its view. */
export interface AskedMore {
  sure?: boolean;
  doubts?: string[];
  calls?: AskedCall[];
}

const LEVELS: readonly unknown[] = ['low', 'medium', 'high', 'critical'];

/** What `_meta` of an ask's event says of this. */
export function moreOf(meta: Record<string, unknown> | undefined): AskedMore {
  const risk = meta?.['risk'] as { sure?: unknown; doubts?: unknown } | undefined;
  const calls = Array.isArray(meta?.['calls']) ? (meta['calls'] as unknown[]).filter(isCall) : [];
  return {
    ...(risk?.sure === false ? { sure: false, doubts: textsIn(risk.doubts) } : {}),
    ...(calls.length ? { calls } : {}),
  };
}

/** What the hub is not sure of; null where it is sure. */
export function doubtsOf(approval: ApprovalView & AskedMore): string[] | null {
  return approval.sure === false ? textsIn(approval.doubts) : null;
}

/** The calls that an ask covers, where they are several. */
export function callsOf(approval: ApprovalView & AskedMore): AskedCall[] {
  const calls = Array.isArray(approval.calls) ? approval.calls.filter(isCall) : [];
  return calls.length > 1 || calls.some((call) => call.toolCallId !== approval.toolCallId) ? calls : [];
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string' && each !== '') : [];
}

function isCall(value: unknown): value is AskedCall {
  const call = value as Partial<AskedCall> | null;
  return typeof call === 'object' && call !== null && typeof call.toolCallId === 'string' && typeof call.description === 'string' && LEVELS.includes(call.riskLevel);
}
