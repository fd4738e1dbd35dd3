/**
 * A question's form: fields out of its JSON Schema, and what was filled in as the content that the agent reads.
 *
 * Rule 1: pure. A schema comes from an agent, so anything in it may be missing or of another kind.
 * Rule 2: what the form says is fine, the hub takes: required fields, types, choices and bounds are checked here first,
 * and an error stands at its field.
 * Rule 3: a field `x_other` beside the choices `x` is their free text, not a field of its own.
 */

type FieldKind = 'text' | 'email' | 'url' | 'date' | 'datetime' | 'number' | 'integer' | 'boolean' | 'choice' | 'choices';

interface Choice {
  value: string | number | boolean;
  title: string;
  description?: string;
}

export interface Field {
  name: string;
  kind: FieldKind;
  title: string;
  description?: string;
  required: boolean;
  choices: Choice[];
  /** The name of the field that takes an answer in other words. */
  other?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  initial: Value;
}

/** What a control holds: texts for everything that is typed, indexes into `choices` for what is chosen. */
export type Value = string | boolean | number[];
export type Values = Record<string, Value>;

export type Problem =
  | { is: 'missing' } | { is: 'notNumber' } | { is: 'notWhole' } | { is: 'pattern' } | { is: 'format' }
  | { is: 'least'; limit: number } | { is: 'most'; limit: number }
  | { is: 'short'; limit: number } | { is: 'long'; limit: number }
  | { is: 'few'; limit: number } | { is: 'many'; limit: number };

const OTHER = '_other';
const FORMATS: Record<string, FieldKind> = { email: 'email', uri: 'url', date: 'date', 'date-time': 'datetime' };

type Json = Record<string, unknown>;

/** The form's fields in the order of the schema. Without a schema there is one for free text. */
export function fieldsOf(schema: unknown, options?: readonly string[] | null): Field[] {
  const properties = record(record(schema)?.properties);
  const fields = Object.entries(properties ?? {}).flatMap(([name, field]) => (record(field) ? [[name, record(field)!] as const] : []));
  if (!fields.length) return [freeText(options)];
  const names = new Set(fields.map(([name]) => name));
  const required = new Set(listed(record(schema)?.required));
  return fields.filter(([name]) => !isOther(name, names)).map(([name, field]) => fieldOf(name, field, required.has(name), names));
}

/** Whether the form is one free text: then the answer is the text itself. */
export function isFreeText(fields: Field[]): boolean {
  return fields.length === 1 && fields[0]!.name === '';
}

/** What the controls hold at first; words typed beside choices are held under `other`. */
export function initialValues(fields: Field[]): Values {
  const values: Values = {};
  for (const field of fields) {
    values[field.name] = field.initial;
    if (field.other) values[field.other] = '';
  }
  return values;
}

/** What is wrong with the form, by field. */
export function problemsOf(fields: Field[], values: Values): Record<string, Problem> {
  const problems: Record<string, Problem> = {};
  for (const field of fields) {
    const problem = problemOf(field, values);
    if (problem) problems[field.name] = problem;
  }
  return problems;
}

/** The content as the agent reads it; fields that were left empty are absent. */
export function contentOf(fields: Field[], values: Values): Json {
  const content: Json = {};
  for (const field of fields) {
    const value = typed(field, values[field.name]);
    if (value !== undefined) content[field.name] = value;
    const other = field.other ? text(values[field.other]).trim() : '';
    if (field.other && other) content[field.other] = other;
  }
  return content;
}

/** The one string that `answer_question` takes. */
export function answerOf(fields: Field[], values: Values): string {
  if (!isFreeText(fields)) return JSON.stringify(contentOf(fields, values));
  const only = fields[0]!;
  return only.choices.length ? String(typed(only, values['']) ?? text(values[only.other ?? ''])) : text(values['']);
}

function freeText(options?: readonly string[] | null): Field {
  const choices = (options ?? []).map((option) => ({ value: option, title: option }));
  return { name: '', kind: choices.length ? 'choice' : 'text', title: '', required: true, choices, initial: choices.length ? [] : '',
    ...(choices.length ? { other: OTHER } : {}) };
}

function fieldOf(name: string, field: Json, required: boolean, names: Set<string>): Field {
  const choices = choicesOf(field);
  const kind = kindOf(field, choices);
  const found: Field = {
    name, kind, required, choices: kind === 'choices' ? choicesOf(record(field.items) ?? {}) : choices,
    title: text(field.title) || name, initial: '',
  };
  const description = text(field.description);
  if (description && description !== found.title) found.description = description;
  if (names.has(name + OTHER)) found.other = name + OTHER;
  addBounds(found, field);
  found.initial = initialOf(found, field.default);
  return found;
}

function addBounds(found: Field, field: Json): void {
  const array = found.kind === 'choices';
  for (const key of ['minimum', 'maximum'] as const) if (typeof field[key] === 'number') found[key] = field[key];
  const [least, most] = array ? [field.minItems, field.maxItems] : [field.minLength, field.maxLength];
  if (typeof least === 'number') found.minLength = least;
  if (typeof most === 'number') found.maxLength = most;
  if (typeof field.pattern === 'string') found.pattern = field.pattern;
}

function kindOf(field: Json, choices: Choice[]): FieldKind {
  if (field.type === 'array') return 'choices';
  if (choices.length) return 'choice';
  if (field.type === 'number' || field.type === 'integer' || field.type === 'boolean') return field.type;
  return FORMATS[text(field.format)] ?? 'text';
}

function choicesOf(field: Json): Choice[] {
  if (Array.isArray(field.enum)) {
    const titles = Array.isArray(field.enumNames) ? field.enumNames : [];
    return field.enum.flatMap((value, index) => choice(value, titles[index]));
  }
  const options = Array.isArray(field.oneOf) ? field.oneOf : Array.isArray(field.anyOf) ? field.anyOf : [];
  return options.flatMap((option) => choice(record(option)?.const, record(option)?.title, record(option)?.description));
}

function choice(value: unknown, title?: unknown, description?: unknown): Choice[] {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return [];
  return [{ value, title: text(title) || String(value), ...(text(description) ? { description: text(description) } : {}) }];
}

function initialOf(field: Field, given: unknown): Value {
  if (field.kind === 'boolean') return given === true;
  if (field.kind === 'choice') return indexesOf(field, [given]);
  if (field.kind === 'choices') return indexesOf(field, Array.isArray(given) ? given : []);
  return typeof given === 'string' || typeof given === 'number' ? String(given) : '';
}

function indexesOf(field: Field, values: unknown[]): number[] {
  return field.choices.flatMap((option, index) => (values.includes(option.value) ? [index] : []));
}

function problemOf(field: Field, values: Values): Problem | null {
  const value = values[field.name];
  const other = field.other ? text(values[field.other]).trim() : '';
  if (field.kind === 'boolean') return null;
  if (field.kind === 'choice' || field.kind === 'choices') return chosenProblem(field, Array.isArray(value) ? value.length : 0, other);
  const words = text(value);
  if (!words.trim()) return field.required ? { is: 'missing' } : null;
  return field.kind === 'number' || field.kind === 'integer' ? numberProblem(field, words) : textProblem(field, words);
}

function chosenProblem(field: Field, count: number, other: string): Problem | null {
  if (!count && other) return null;
  if (!count) return field.required ? { is: 'missing' } : null;
  if (field.kind === 'choice') return null;
  if (field.minLength !== undefined && count < field.minLength) return { is: 'few', limit: field.minLength };
  return field.maxLength !== undefined && count > field.maxLength ? { is: 'many', limit: field.maxLength } : null;
}

function numberProblem(field: Field, words: string): Problem | null {
  const value = Number(words.trim().replace(',', '.'));
  if (!Number.isFinite(value)) return { is: 'notNumber' };
  if (field.kind === 'integer' && !Number.isInteger(value)) return { is: 'notWhole' };
  if (field.minimum !== undefined && value < field.minimum) return { is: 'least', limit: field.minimum };
  return field.maximum !== undefined && value > field.maximum ? { is: 'most', limit: field.maximum } : null;
}

function textProblem(field: Field, words: string): Problem | null {
  const length = Array.from(words).length;
  if (field.minLength !== undefined && length < field.minLength) return { is: 'short', limit: field.minLength };
  if (field.maxLength !== undefined && length > field.maxLength) return { is: 'long', limit: field.maxLength };
  if (field.kind === 'datetime' && Number.isNaN(Date.parse(words))) return { is: 'format' };
  if (field.kind === 'email' && !/^\S+@\S+$/.test(words)) return { is: 'format' };
  if (field.kind === 'url' && !URL.canParse(words)) return { is: 'format' };
  return field.pattern !== undefined && !fits(field.pattern, words) ? { is: 'pattern' } : null;
}

/** A pattern that is none, or none of this language, holds nobody up. */
function fits(pattern: string, words: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(words);
  } catch {
    return true;
  }
}

function typed(field: Field, value: Value | undefined): unknown {
  if (field.kind === 'boolean') return value === true;
  if (field.kind === 'choices') {
    const chosen = chosenOf(field, value);
    return chosen.length || field.required ? chosen : undefined;
  }
  if (field.kind === 'choice') return chosenOf(field, value)[0];
  const words = text(value);
  if (!words.trim()) return undefined;
  if (field.kind === 'number' || field.kind === 'integer') return Number(words.trim().replace(',', '.'));
  return field.kind === 'datetime' ? new Date(words).toISOString() : words;
}

function chosenOf(field: Field, value: Value | undefined): unknown[] {
  return Array.isArray(value) ? value.flatMap((index) => field.choices[index]?.value ?? []) : [];
}

function isOther(name: string, names: Set<string>): boolean {
  return name.endsWith(OTHER) && names.has(name.slice(0, -OTHER.length));
}

function record(value: unknown): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
}

function listed(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : [];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
