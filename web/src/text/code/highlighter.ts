// The highlighter itself: a language is fetched when it is first needed. Runs in the worker; tests call it directly.

import core from 'highlight.js/lib/core';
import type { LanguageFn } from 'highlight.js';
import { type Token, tokensByLine, type TreeNode } from './tokens';

type Load = () => Promise<{ default: LanguageFn }>;

const LANGUAGES: Readonly<Record<string, Load>> = {
  bash: () => import('highlight.js/lib/languages/bash'),
  c: () => import('highlight.js/lib/languages/c'),
  cpp: () => import('highlight.js/lib/languages/cpp'),
  csharp: () => import('highlight.js/lib/languages/csharp'),
  css: () => import('highlight.js/lib/languages/css'),
  dart: () => import('highlight.js/lib/languages/dart'),
  diff: () => import('highlight.js/lib/languages/diff'),
  dockerfile: () => import('highlight.js/lib/languages/dockerfile'),
  elixir: () => import('highlight.js/lib/languages/elixir'),
  go: () => import('highlight.js/lib/languages/go'),
  graphql: () => import('highlight.js/lib/languages/graphql'),
  haskell: () => import('highlight.js/lib/languages/haskell'),
  ini: () => import('highlight.js/lib/languages/ini'),
  java: () => import('highlight.js/lib/languages/java'),
  javascript: () => import('highlight.js/lib/languages/javascript'),
  json: () => import('highlight.js/lib/languages/json'),
  kotlin: () => import('highlight.js/lib/languages/kotlin'),
  lua: () => import('highlight.js/lib/languages/lua'),
  makefile: () => import('highlight.js/lib/languages/makefile'),
  markdown: () => import('highlight.js/lib/languages/markdown'),
  objectivec: () => import('highlight.js/lib/languages/objectivec'),
  perl: () => import('highlight.js/lib/languages/perl'),
  php: () => import('highlight.js/lib/languages/php'),
  powershell: () => import('highlight.js/lib/languages/powershell'),
  protobuf: () => import('highlight.js/lib/languages/protobuf'),
  python: () => import('highlight.js/lib/languages/python'),
  r: () => import('highlight.js/lib/languages/r'),
  ruby: () => import('highlight.js/lib/languages/ruby'),
  rust: () => import('highlight.js/lib/languages/rust'),
  scala: () => import('highlight.js/lib/languages/scala'),
  scss: () => import('highlight.js/lib/languages/scss'),
  sql: () => import('highlight.js/lib/languages/sql'),
  swift: () => import('highlight.js/lib/languages/swift'),
  typescript: () => import('highlight.js/lib/languages/typescript'),
  xml: () => import('highlight.js/lib/languages/xml'),
  yaml: () => import('highlight.js/lib/languages/yaml'),
};
/** Languages that others hold inside of them. */
const WITHIN: Readonly<Record<string, readonly string[]>> = { xml: ['javascript', 'css'], markdown: ['xml'], php: ['xml'] };

/** The languages that can be coloured. */
export const languages: readonly string[] = Object.keys(LANGUAGES);

/** The text's tokens by line; plain where the language is not known. */
export async function highlighted(text: string, language: string): Promise<Token[][]> {
  if (!Object.hasOwn(LANGUAGES, language)) return tokensByLine({ children: [text] });
  await Promise.all([language, ...(WITHIN[language] ?? [])].map(learn));
  const result = core.highlight(text, { language, ignoreIllegals: true });
  return tokensByLine((result._emitter as unknown as { rootNode: TreeNode }).rootNode);
}

async function learn(language: string): Promise<void> {
  const load = LANGUAGES[language];
  if (load !== undefined && core.getLanguage(language) === undefined) core.registerLanguage(language, (await load()).default);
}
