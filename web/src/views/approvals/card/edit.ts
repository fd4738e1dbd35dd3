/**
 * The input of a tool call as a form, so that it can be changed before it is approved.
 *
 * Rule 1: pure. What the form does not change stays exactly as the agent sent it, also what the form cannot show.
 * Rule 2: a field keeps its type; what cannot be read as that type is an error at its field, and nothing is sent.
 */

type EditKind = 'line' | 'lines' | 'number' | 'boolean' | 'json';

export interface EditField {
  name: string;
  kind: EditKind;
  text: string;
}

export type Edited = { ok: true; input: Record<string, unknown> } | { ok: false; problems: Record<string, 'notNumber' | 'notJson' | 'notObject'> };

/** Texts that are usually long: they get a field of several lines even while they are short. */
const LONG = new Set(['command', 'content', 'script', 'code', 'prompt', 'patch', 'diff', 'text', 'body', 'oldtext', 'newtext',
  'oldstring', 'newstring', 'plan']);
/** What somebody most likely wants to change comes first. */
const FIRST = ['command', 'script', 'code', 'path', 'filepath', 'url', 'content', 'newstring', 'newtext'];

/** One field for each member of the input. */
export function editFields(input: Record<string, unknown>): EditField[] {
  const fields = Object.entries(input).map(([name, value]) => ({ name, kind: kindOf(name, value), text: textOf(value) }));
  return fields.sort((one, other) => rank(one.name) - rank(other.name));
}

/** The input with what the fields say now. */
export function editedInput(input: Record<string, unknown>, fields: EditField[]): Edited {
  const edited: Record<string, unknown> = { ...input };
  const problems: Record<string, 'notNumber' | 'notJson'> = {};
  for (const field of fields) {
    if (field.text === textOf(input[field.name])) continue;
    try {
      edited[field.name] = valueOf(field);
    } catch {
      problems[field.name] = field.kind === 'number' ? 'notNumber' : 'notJson';
    }
  }
  return Object.keys(problems).length ? { ok: false, problems } : { ok: true, input: edited };
}

/** The input from the text of its JSON. */
export function inputFromJson(text: string): Edited {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? { ok: true, input: value as Record<string, unknown> } : { ok: false, problems: { '': 'notObject' } };
  } catch {
    return { ok: false, problems: { '': 'notJson' } };
  }
}

function kindOf(name: string, value: unknown): EditKind {
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value === 'number') return 'number';
  if (typeof value !== 'string') return 'json';
  return LONG.has(plain(name)) || value.includes('\n') || value.length > 80 ? 'lines' : 'line';
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'object' && value !== null ? JSON.stringify(value, null, 2) : String(value);
}

function valueOf(field: EditField): unknown {
  if (field.kind === 'boolean') return field.text === 'true';
  if (field.kind === 'json') return JSON.parse(field.text);
  if (field.kind !== 'number') return field.text;
  const value = Number(field.text);
  if (!field.text.trim() || !Number.isFinite(value)) throw new RangeError(field.name);
  return value;
}

function rank(name: string): number {
  const place = FIRST.indexOf(plain(name));
  return place < 0 ? FIRST.length : place;
}

function plain(name: string): string {
  return name.replaceAll(/[_-]/g, '').toLowerCase();
}
