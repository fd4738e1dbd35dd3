/**
 * The page's words. `t('home.title')` is the text in the reader's language; keys are checked by the compiler.
 *
 * Rule 1: each part of the page has its own file of words (en/<part>.ts). A text with a number has `one` and `other`.
 * Rule 2: `{name}` stands for a parameter. Words never contain markup.
 * Rule 3: a language needs not be complete: what it does not say is said in English.
 */
import { signal } from '@preact/signals';
import { en } from './en';

type Words = typeof en;
type Part = keyof Words;
export type Key = { [P in Part]: `${P}.${keyof Words[P] & string}` }[Part];
type Params = Record<string, string | number>;
type Message = string | { one: string; other: string };
type Dictionary = { [P in Part]?: { [K in keyof Words[P]]?: Message } };

const spoken = signal<{ language: string; words: Dictionary }>({ language: 'en', words: en });

/** Speak another language from now on. */
export function speak(language: string, words: Dictionary): void {
  spoken.value = { language, words };
  document.documentElement.lang = language;
}

export function language(): string {
  return spoken.value.language;
}

/** A time of day, and the date where it is not today. */
export function clockTime(at: number): string {
  const then = new Date(at);
  const today = new Date().toDateString() === then.toDateString();
  return then.toLocaleString(language(), today ? { timeStyle: 'short' } : { dateStyle: 'medium', timeStyle: 'short' });
}

export function t(key: Key, params: Params = {}): string {
  const [part, name] = key.split('.', 2) as [Part, string];
  const own = (spoken.value.words[part] as Record<string, Message> | undefined)?.[name];
  const message = own ?? (en[part] as Record<string, Message>)[name] ?? key;
  return filled(chosen(message, params), params);
}

function chosen(message: Message, params: Params): string {
  if (typeof message === 'string') return message;
  const form = new Intl.PluralRules(spoken.value.language).select(Number(params['n'] ?? params['count'] ?? 0));
  return form === 'one' ? message.one : message.other;
}

function filled(text: string, params: Params): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => (name in params ? String(params[name]) : whole));
}
