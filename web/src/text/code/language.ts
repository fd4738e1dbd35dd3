// Which language a file or a fence is in, by name. Names are those of the highlighter; see highlighter.ts.

const BY_EXTENSION: Readonly<Record<string, string>> = {
  bash: 'bash', sh: 'bash', zsh: 'bash', ksh: 'bash', fish: 'bash', c: 'c', h: 'c', cc: 'cpp', cpp: 'cpp', cxx: 'cpp', hpp: 'cpp', hh: 'cpp', ino: 'cpp',
  cs: 'csharp', css: 'css', scss: 'scss', less: 'css', diff: 'diff', patch: 'diff', dart: 'dart', dockerfile: 'dockerfile', ex: 'elixir', exs: 'elixir',
  go: 'go', graphql: 'graphql', gql: 'graphql', hs: 'haskell', ini: 'ini', cfg: 'ini', conf: 'ini', toml: 'ini', env: 'ini', properties: 'ini',
  java: 'java', js: 'javascript', jsx: 'javascript', mjs: 'javascript', cjs: 'javascript', json: 'json', jsonc: 'json', jsonl: 'json', json5: 'json',
  ipynb: 'json', webmanifest: 'json', kt: 'kotlin', kts: 'kotlin', lua: 'lua', mk: 'makefile', md: 'markdown', markdown: 'markdown', mdx: 'markdown',
  m: 'objectivec', pl: 'perl', pm: 'perl', php: 'php', ps1: 'powershell', psm1: 'powershell', py: 'python', pyi: 'python', pyw: 'python', r: 'r',
  rb: 'ruby', rake: 'ruby', gemspec: 'ruby', rs: 'rust', scala: 'scala', sbt: 'scala', sql: 'sql', swift: 'swift', ts: 'typescript', tsx: 'typescript',
  mts: 'typescript', cts: 'typescript', xml: 'xml', html: 'xml', htm: 'xml', svg: 'xml', vue: 'xml', svelte: 'xml', xhtml: 'xml', plist: 'xml',
  yaml: 'yaml', yml: 'yaml', proto: 'protobuf',
};
const BY_NAME: Readonly<Record<string, string>> = {
  dockerfile: 'dockerfile', containerfile: 'dockerfile', makefile: 'makefile', gnumakefile: 'makefile', gemfile: 'ruby', rakefile: 'ruby',
  jenkinsfile: 'java', '.bashrc': 'bash', '.zshrc': 'bash', '.profile': 'bash', '.gitconfig': 'ini', '.editorconfig': 'ini', '.npmrc': 'ini',
  '.env': 'ini', '.gitignore': 'bash', '.dockerignore': 'bash', 'go.mod': 'go', 'cargo.lock': 'ini', 'poetry.lock': 'ini', 'uv.lock': 'ini',
};
const BY_WORD: Readonly<Record<string, string>> = {
  ...BY_EXTENSION, shell: 'bash', console: 'bash', shellsession: 'bash', 'c++': 'cpp', 'c#': 'csharp', csharp: 'csharp', docker: 'dockerfile',
  elixir: 'elixir', golang: 'go', haskell: 'haskell', javascript: 'javascript', node: 'javascript', kotlin: 'kotlin', make: 'makefile',
  makefile: 'makefile', 'objective-c': 'objectivec', objc: 'objectivec', perl: 'perl', powershell: 'powershell', pwsh: 'powershell', python: 'python',
  python3: 'python', pycon: 'python', ruby: 'ruby', rust: 'rust', typescript: 'typescript', protobuf: 'protobuf', postgres: 'sql', postgresql: 'sql',
  sqlite: 'sql', mysql: 'sql',
};
const MARKDOWN = /\.(?:md|markdown|mdx)$/i;
const PICTURE = /\.(?:png|jpe?g|gif|webp|avif|bmp|ico|svg)$/i;

/** The language of a file, by its path; empty where it is not known. */
export function languageByPath(path: string): string {
  const name = (path.split(/[/\\]/).pop() ?? '').toLowerCase();
  const extension = name.includes('.') ? name.slice(name.lastIndexOf('.') + 1) : '';
  return own(BY_NAME, name) || (/^dockerfile\./.test(name) ? 'dockerfile' : '') || own(BY_EXTENSION, extension);
}

/** The language that a fence's word means; empty where it is not known. */
export function languageByWord(word: string): string {
  return own(BY_WORD, word.toLowerCase());
}

export function isMarkdownPath(path: string): boolean {
  return MARKDOWN.test(path);
}

export function isPicturePath(path: string): boolean {
  return PICTURE.test(path);
}

function own(table: Readonly<Record<string, string>>, key: string): string {
  return Object.hasOwn(table, key) ? table[key] ?? '' : '';
}
