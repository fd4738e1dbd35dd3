/**
 * What can be decided about an approval, and the command that says so.
 *
 * Rule 1: pure. The agent's own options are named only where there is more to choose than yes and no.
 * Rule 2: for longer than once is offered only where the hub says which rule that writes.
 * Rule 3: an option that says the same as a button of ours is not shown a second time.
 */
import type { ACPCommand } from '../../../generated/agent-context';
import type { ApprovalView, PermissionOption } from '../../../generated/api';
import type { Scope } from '../rule/rule';

export interface Decision {
  approve: boolean;
  scope?: Scope;
  optionId?: string;
  reason?: string;
  /** End the turn as well. */
  stop?: boolean;
  updatedInput?: Record<string, unknown>;
}

export interface Offered {
  /** Ways to say yes once. The first one is what the button says; it has no id where it is the only one. */
  approve: { name: string | null; optionId?: string }[];
  /** Further ways not to say yes, beside "deny" and "deny and stop": also options of a kind that only the agent knows. */
  deny: { name: string; optionId: string }[];
  /** How long a decision can count for. */
  scopes: Scope[];
  /** The agent can only be told "for good", in its own settings. */
  onlyForGood: boolean;
}

const DENIES = new Set(['deny', 'reject', 'no', 'deny and stop', 'cancel']);

export function offered(approval: ApprovalView, turnId: string | undefined, mayAlways: boolean): Offered {
  const once = approval.options.filter((option) => option.kind === 'allow_once');
  const always = approval.options.filter((option) => option.kind === 'allow_always');
  const onlyForGood = !once.length && always.length > 0;
  return { approve: waysToApprove(once, onlyForGood ? always : []), deny: waysToDeny(approval.options), scopes: scopes(approval, turnId, mayAlways), onlyForGood };
}

/** The command that a decision is. */
export function commandFor(approval: ApprovalView, decision: Decision): ACPCommand {
  const meta: Record<string, unknown> = {};
  if (decision.scope && decision.scope !== 'once') meta['scope'] = decision.scope;
  if (decision.optionId) meta['optionId'] = decision.optionId;
  if (decision.approve && decision.updatedInput) meta['updatedInput'] = decision.updatedInput;
  if (!decision.approve && decision.stop) meta['interrupt'] = true;
  const about = { requestId: approval.requestId, toolCallId: approval.toolCallId, ...(Object.keys(meta).length ? { _meta: meta } : {}) };
  if (decision.approve) return { command: 'approve_tool_call', ...about };
  const reason = decision.reason?.trim();
  return { command: 'deny_tool_call', ...about, ...(reason ? { reason } : {}) };
}

function waysToApprove(once: PermissionOption[], forGood: PermissionOption[]): Offered['approve'] {
  if (forGood.length) return forGood.map((option) => ({ name: option.name, optionId: option.optionId }));
  if (once.length <= 1) return [{ name: null }];
  return once.map((option) => ({ name: option.name, optionId: option.optionId }));
}

function waysToDeny(options: PermissionOption[]): Offered['deny'] {
  const once = options.filter((option) => option.kind === 'reject_once');
  const further = once.length > 1 ? once.filter((option) => !DENIES.has(option.name.trim().toLowerCase())) : [];
  const other = options.filter((option) => option.kind === 'other');
  return [...further, ...other].map((option) => ({ name: option.name, optionId: option.optionId }));
}

function scopes(approval: ApprovalView, turnId: string | undefined, mayAlways: boolean): Scope[] {
  if (!approval.always) return ['once'];
  return ['once', ...(turnId ? (['turn'] as const) : []), 'session', ...(mayAlways ? (['always'] as const) : [])];
}
