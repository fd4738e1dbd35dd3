// How things of a conversation are called: icons, titles of calls, numbers. No markup.

import type { GitOperation, ToolCategory } from '../../../generated/agent-context';
import { language, t } from '../../../i18n';
import type { Call, Item } from '../../../model/timeline/items';
import { summaryOf } from '../../../model/timeline/call_summary';
import { span, type IconName } from '../../../ui';

const BY_ROLE: Record<string, IconName> = { search: 'search', todos: 'todo', think: 'bulb' };
const BY_CATEGORY: Record<ToolCategory, IconName> = {
  file_read: 'file', file_write: 'edit', file_edit: 'edit', terminal: 'terminal', search: 'search', web: 'globe', git: 'branch', mcp: 'plug',
  agent: 'robot', other: 'tool',
};

export function iconOf(call: Pick<Call, 'category' | 'reading'>): IconName {
  return BY_ROLE[call.reading?.role ?? ''] ?? BY_CATEGORY[call.category] ?? 'tool';
}

/** What a call is about, in one line: a command, a pattern, a path, an address; else its title. */
export function subjectOf(call: Call, cwd: string): string {
  const { command, subject, paths } = call.reading ?? {};
  const path = call.changes[0]?.path ?? paths?.[0];
  const place = path !== undefined ? shortPath(path, cwd) : undefined;
  return oneLine(command ?? subject ?? place ?? (call.title !== undefined && call.title !== call.name ? call.title : ''));
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

/** "Read 4 files, ran 2 commands, 1 command waits". */
export function summaryInWords(members: readonly Item[]): string {
  const { counts, denied, running, waiting } = summaryOf(members);
  const words = counts.map(({ action, count, name }) => t(`session.did_${action}`, { n: count, name: name ?? '' }));
  if (denied > 0) words.push(t('session.didDenied', { n: denied }));
  if (running.count > 0) words.push(t(running.commands ? 'session.commandsRun' : 'session.callsRun', { n: running.count }));
  if (waiting.count > 0) words.push(t(waiting.commands ? 'session.commandsWait' : 'session.callsWait', { n: waiting.count }));
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
