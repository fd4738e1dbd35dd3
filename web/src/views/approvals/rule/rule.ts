/**
 * A rule of the policy as it will be written, and as people read it.
 *
 * Rule 1: pure, and the same as the hub's: what is shown before a decision is what the decision writes.
 * Rule 2: a rule is shown whole. A part that is left out may be the one that opens too much.
 */

import type { Rule } from '../../../generated/api';

export type { Rule };

export type Scope = 'once' | 'turn' | 'session' | 'always';

/** One limit of a rule: what it is about, and the values of which one must fit. */
export interface Limit {
  key: 'category' | 'tool' | 'agent' | 'command' | 'path' | 'risk' | 'root' | 'session' | 'turn' | 'expiresAt';
  values: string[];
}

const LIMITS: Limit['key'][] = ['command', 'path', 'tool', 'category', 'agent', 'risk', 'root', 'session', 'turn', 'expiresAt'];

/** The order and the names of the file; the action is last, so that a file cut off in the middle has a rule without one. */
const WRITTEN: [keyof Rule, string][] = [
  ['id', 'id'], ['category', 'category'], ['tool', 'tool'], ['agent', 'agent'], ['command', 'command'], ['path', 'path'],
  ['risk', 'risk'], ['root', 'root'], ['session', 'session'], ['turn', 'turn'], ['expiresAt', 'expires_at'], ['savedBy', 'saved_by'],
  ['reason', 'reason'], ['action', 'action'],
];

/** What a rule is limited to, the most telling first; empty means everything. */
export function limitsOf(rule: Rule): Limit[] {
  return LIMITS.map((key) => ({ key, values: listOf(rule[key]) })).filter((limit) => limit.values.length > 0);
}

/** A rule as a `[[rules]]` table of the file. */
export function ruleText(rule: Rule): string {
  const lines = WRITTEN.flatMap(([key, name]) => {
    const value = rule[key];
    return value === undefined || value === null || (Array.isArray(value) && !value.length) ? [] : [`${name} = ${toml(value)}`];
  });
  return ['[[rules]]', ...lines].join('\n') + '\n';
}

/** The rule that a decision writes: `always` is the hub's own word of what "always allow" is. */
export function ruleFor(always: Rule, allow: boolean, scope: Scope, sessionId: string, turnId?: string): Rule {
  const rule: Rule = allow ? { ...always } : denied(always);
  if (scope !== 'always') rule.session = sessionId;
  if (scope === 'turn' && turnId) rule.turn = turnId;
  return rule;
}

/** "Never" is wider than "always": a command from any tool and any agent, a path for the tool of any agent. */
function denied(always: Rule): Rule {
  const root = always.root ?? undefined;
  if (always.command?.length) return { action: 'deny', command: always.command, root };
  return { action: 'deny', tool: always.tool, path: always.path, root };
}

function listOf(value: string | string[] | null | undefined): string[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}

/** JSON strings are TOML strings, but for the one control character that only TOML wants escaped. */
function toml(value: string | string[]): string {
  if (Array.isArray(value)) return `[${value.map(toml).join(', ')}]`;
  return JSON.stringify(value).replaceAll('\x7f', '\\u007f');
}
