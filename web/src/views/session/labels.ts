// How things of a conversation are called: icons, titles of calls, numbers. No markup.

import type { GitOperation, ToolCategory } from '../../generated/agent-context';
import { language, t } from '../../i18n';
import type { Call, Item } from '../../model/items';
import { deedsOf, pathOf } from '../../model/deeds';
import { span, type IconName } from '../../ui';

const BY_NAME: Record<string, IconName> = {
  glob: 'search', grep: 'search', todowrite: 'todo', task: 'robot', webfetch: 'globe', websearch: 'globe', bash: 'terminal', think: 'bulb',
};
const BY_CATEGORY: Record<ToolCategory, IconName> = {
  file_read: 'file', file_write: 'edit', file_edit: 'edit', terminal: 'terminal', search: 'search', web: 'globe', git: 'branch', mcp: 'plug',
  agent: 'robot', other: 'tool',
};

export function iconOf(call: Pick<Call, 'name' | 'category'>): IconName {
  return BY_NAME[call.name] ?? BY_CATEGORY[call.category] ?? 'tool';
}

/** What a call is about, in one line: a command, a path, a pattern, an address. */
export function subjectOf(call: Call, cwd: string): string {
  const { input } = call;
  const path = call.changes[0]?.path ?? pathOf(input);
  const place = path !== undefined ? shortPath(path, cwd) : undefined;
  const pattern = text(input, 'pattern');
  const searched = pattern !== undefined && place !== undefined ? `${pattern}  ${place}` : pattern;
  const found = commandOf(call) ?? searched ?? place ?? text(input, 'query') ?? text(input, 'url') ?? text(input, 'description') ?? text(input, 'prompt');
  return oneLine(found ?? (call.title !== undefined && call.title !== call.name ? call.title : ''));
}

/** The command of a call that runs one. */
export function commandOf(call: Call): string | undefined {
  const command = call.input?.['command'] ?? call.input?.['cmd'];
  if (typeof command === 'string') return command;
  return Array.isArray(command) && command.every((word) => typeof word === 'string') ? command.join(' ') : undefined;
}

function text(input: Record<string, unknown> | undefined, name: string): string | undefined {
  const value = input?.[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

const LINE_MOST = 300;

export function oneLine(value: string): string {
  const line = value.trimStart().split('\n', 1)[0] ?? '';
  return line.length > LINE_MOST ? `${line.slice(0, LINE_MOST)}…` : line;
}

/** A path as seen from the session's folder. */
export function shortPath(path: string, cwd: string): string {
  if (cwd !== '' && path.startsWith(`${cwd}/`)) return path.slice(cwd.length + 1);
  return path === cwd ? '.' : path;
}

export function nameOfPath(path: string): string {
  return path.replace(/\/+$/, '').split('/').pop() || path;
}

/** "Read 4 files, ran 2 commands". */
export function deedsInWords(members: readonly Item[]): string {
  const words = deedsOf(members).counts.map(({ deed, count, name }) => t(`session.did_${deed}`, { n: count, name: name ?? '' }));
  const whole = words.join(', ');
  return whole.charAt(0).toLocaleUpperCase(language()) + whole.slice(1);
}

export function durationOf(call: Call): string | undefined {
  return call.durationMs === undefined || call.durationMs < 100 ? undefined : span(call.durationMs);
}

export function tokensInWords(count: number): string {
  return new Intl.NumberFormat(language(), { notation: 'compact', maximumFractionDigits: 1 }).format(count);
}

export function costInWords(amount: number, currency: string): string {
  const digits = amount !== 0 && Math.abs(amount) < 0.1 ? 4 : 2;
  try {
    return new Intl.NumberFormat(language(), { style: 'currency', currency, currencyDisplay: 'narrowSymbol', minimumFractionDigits: 2, maximumFractionDigits: digits }).format(amount);
  } catch {
    return `${amount.toFixed(digits)} ${currency}`; // Not a currency that the browser knows.
  }
}

export function gitInWords(operation: GitOperation): { title: string; text?: string; url?: string } {
  switch (operation.kind) {
    case 'commit': return { title: t('session.commit', { hash: operation.hash.slice(0, 8) }), text: oneLine(operation.message) };
    case 'branch_create': return { title: t('session.branchCreated', { name: operation.name }) };
    case 'branch_switch': return { title: t('session.branchSwitched', { name: operation.name }) };
    case 'pr_create': return { title: t('session.pullRequest', { number: operation.number }), text: operation.title, url: operation.url };
    case 'push': return { title: t('session.pushed', { branch: operation.branch, remote: operation.remote }) };
    case 'stash': return { title: t(operation.action === 'pop' ? 'session.stashPop' : 'session.stashPush') };
  }
}

/** A time of day, and the date where it is not today. */
export function clockTime(at: number): string {
  const then = new Date(at);
  const today = new Date().toDateString() === then.toDateString();
  return then.toLocaleString(language(), today ? { timeStyle: 'short' } : { dateStyle: 'medium', timeStyle: 'short' });
}
