/**
 * Sessions sorted by what they need: somebody's answer, nothing yet, their node, the next prompt, nothing any more. Pure.
 */
import type { ApprovalView, SessionView } from '../../generated/api';
import type { SessionFilter } from '../../hub/session_list';
import { spelledOut } from '../../text/unseen';

export const GROUPS = ['waiting', 'running', 'away', 'idle', 'finished'] as const;
export type Group = (typeof GROUPS)[number];

export interface Wanted {
  agent: string;
  cwd: string;
  node: string;
  text: string;
}

/** Which group a session belongs to; `waiting` are the sessions with an open approval or question. One whose node is away takes no answer and no prompt. */
export function groupOf(view: SessionView, waiting: ReadonlySet<string>, isAway = false): Group {
  if (isAway) return view.status === 'completed' ? 'finished' : 'away';
  if (waiting.has(view.id) || view.pendingApprovals.length || view.pendingQuestions.length) return 'waiting';
  switch (view.status) {
    case 'waiting_for_approval':
    case 'waiting_for_input':
      return 'waiting';
    case 'starting':
    case 'running':
    case 'thinking':
      return 'running';
    case 'completed':
      return 'finished';
    case 'paused':
      return view.turn ? 'running' : 'idle'; // what was begun before the pause goes on
    default:
      return 'idle';
  }
}

/** The sessions of each group, in the order given. */
export function grouped(views: readonly SessionView[], waiting: ReadonlySet<string>, isAway: (view: SessionView) => boolean = () => false): Map<Group, SessionView[]> {
  const groups = new Map<Group, SessionView[]>(GROUPS.map((group) => [group, []]));
  for (const view of views) groups.get(groupOf(view, waiting, isAway(view)))?.push(view);
  return groups;
}

export function wanted(view: SessionView, want: Wanted): boolean {
  if (want.agent && view.agent !== want.agent) return false;
  if (want.cwd && view.cwd !== want.cwd) return false;
  if (want.node && view.node !== want.node) return false;
  const words = want.text.toLowerCase().split(/\s+/).filter(Boolean);
  const text = `${view.title} ${view.cwd} ${view.agent} ${view.node ?? ''}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

/** What to ask the hub for, so that all that is wanted is loaded: it knows one text, of a title or a folder. Null: nothing in particular. */
export function filterOf(want: Wanted): SessionFilter | null {
  const words = want.text.split(/\s+/).filter(Boolean).sort((one, other) => other.length - one.length);
  const text = want.cwd || words[0];
  if (!want.agent && !want.node && !text) return null;
  return { ...(want.agent ? { agent: want.agent } : {}), ...(want.node ? { node: want.node } : {}), ...(text ? { text } : {}) };
}

/** The agents to choose among: of the sessions that are loaded, and, where older ones are not, all that the hub knows. */
export function agentsToFilter(views: readonly SessionView[], known: readonly { name: string }[], hasOlder: boolean): string[] {
  return distinct([...views.map((view) => view.agent), ...(hasOlder ? known.map(({ name }) => name) : [])]);
}

export function distinct(values: string[]): string[] {
  return [...new Set(values)].sort((one, other) => one.localeCompare(other));
}

/** The folder's own name. */
export function projectOf(path: string): string {
  return path.replace(/[/\\]+$/, '').split(/[/\\]/).at(-1) || path;
}

/** The last line of a text that says something, without the marks of markdown. */
export function lastLine(text: string): string {
  const lines = text.split('\n').map((line) => line.trim()).filter((line) => line && !/^(```|---|\|?[\s:|-]+\|?$)/.test(line));
  return plain(lines.at(-1) ?? '');
}

/** What an approval would do. A file is named from the session's folder on, so that a phone has room for its name; a command stays as it is written. */
export function askLine({ description, title, toolName, parts }: ApprovalView, cwd: string): string {
  const line = lastLine(description || title || toolName);
  return cwd && !parts?.length ? line.replace(`: ${cwd}/`, ': ') : line;
}

/** The first line of an error, as it is written; what cannot be seen is spelled out. */
export function failureLine({ code, message }: { code: string; message: string }): string {
  const first = message.split('\n').map((line) => line.trim()).find((line) => /[\p{L}\p{N}]/u.test(line));
  return spelledOut((first ?? code).slice(0, 300));
}

function plain(line: string): string {
  return line
    .replace(/^(#{1,6}|[-*+]|\d+\.|>)\s+(\[[ xX]\]\s+)?/, '')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/(\*\*|__|`)/g, '')
    .replace(/^\||\|$/g, '')
    .replace(/\s*\|\s*/g, ' · ')
    .trim()
    .slice(0, 300);
}

/** Money as people write it; fractions of a cent are shown while they are all there is. */
export function money(amount: number, currency: string, language: string): string {
  const digits = amount !== 0 && Math.abs(amount) < 0.01 ? 4 : 2;
  try {
    return new Intl.NumberFormat(language, { style: 'currency', currency, minimumFractionDigits: digits, maximumFractionDigits: digits }).format(amount);
  } catch {
    return `${amount.toFixed(digits)} ${currency}`;
  }
}
