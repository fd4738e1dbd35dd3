// Unified diffs as rows with true line numbers.
//
// Rule 1: a hunk's own counts say where it ends: a removed line that reads "-- a/x" is not a new file.
// Rule 2: nothing is refused. What is not a diff gives no files, and the caller shows the text.

type FileStatus = 'added' | 'deleted' | 'modified' | 'renamed' | 'copied';

export interface DiffLine {
  kind: 'same' | 'added' | 'removed';
  text: string;
  /** Its number in the old file, and in the new one; null where it is not in it. */
  before: number | null;
  after: number | null;
  /** The file ends here without a newline. */
  unended?: true;
}

export interface Hunk {
  beforeStart: number;
  afterStart: number;
  /** What git says the hunk is in, such as a function's head. */
  heading: string;
  lines: DiffLine[];
}

export interface FileDiff {
  /** The path now, or the one it had if it is gone. */
  path: string;
  /** Where it was before, for a file that moved. */
  from: string | null;
  status: FileStatus;
  binary: boolean;
  hunks: Hunk[];
  added: number;
  removed: number;
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/;

/** The files of a unified diff, in order. `path` is used where the diff names none. */
export function parseDiff(text: string, path = ''): FileDiff[] {
  const reader = new Reader(path);
  const lines = text.split('\n');
  if (lines[lines.length - 1] === '') lines.pop();
  for (const line of lines) reader.take(line.endsWith('\r') && !reader.inHunk ? line.slice(0, -1) : line);
  return reader.files.filter((file) => file.hunks.length > 0 || file.binary || file.status !== 'modified');
}

class Reader {
  readonly files: FileDiff[] = [];
  private hunk: Hunk | null = null;
  private beforeLeft = 0;
  private afterLeft = 0;
  private beforeAt = 0;
  private afterAt = 0;

  constructor(private readonly path: string) {}

  get inHunk(): boolean {
    return this.hunk !== null && (this.beforeLeft > 0 || this.afterLeft > 0);
  }

  take(line: string): void {
    if (line.startsWith('\\')) this.endWithoutNewline();
    else if (line.startsWith('diff --git ') && !/^[ +-]/.test(line)) this.startFile(line);
    else if (!this.inHunk && HUNK.test(line)) this.startHunk(HUNK.exec(line));
    else if (this.inHunk) this.takeLine(line);
    else this.takeHeader(line);
  }

  private get file(): FileDiff {
    const last = this.files[this.files.length - 1];
    return last ?? this.addFile(this.path);
  }

  private addFile(path: string): FileDiff {
    const file: FileDiff = { path, from: null, status: 'modified', binary: false, hunks: [], added: 0, removed: 0 };
    this.files.push(file);
    this.hunk = null;
    this.beforeLeft = this.afterLeft = 0;
    return file;
  }

  private startFile(line: string): void {
    this.addFile(namedTwice(line.slice('diff --git '.length)));
  }

  private takeHeader(line: string): void {
    if (line.startsWith('--- ')) this.takeBefore(nameIn(line.slice(4)));
    else if (line.startsWith('+++ ')) this.takeAfter(nameIn(line.slice(4)));
    else if (line.startsWith('new file mode')) this.file.status = 'added';
    else if (line.startsWith('deleted file mode')) this.file.status = 'deleted';
    else if (line.startsWith('rename from ')) this.moved('renamed', line.slice('rename from '.length));
    else if (line.startsWith('copy from ')) this.moved('copied', line.slice('copy from '.length));
    else if (line.startsWith('rename to ')) this.file.path = unquoted(line.slice('rename to '.length));
    else if (line.startsWith('copy to ')) this.file.path = unquoted(line.slice('copy to '.length));
    else if (/^Binary files .* differ$/.test(line) || line === 'GIT binary patch') this.file.binary = true;
  }

  private moved(status: 'renamed' | 'copied', from: string): void {
    this.file.status = status;
    this.file.from = unquoted(from);
  }

  /** The first of the two lines that name the files: without a line of git's before it, a new file begins. */
  private takeBefore(name: string | null): void {
    const file = this.files.length === 0 || this.file.hunks.length > 0 ? this.addFile(this.path) : this.file;
    if (name === null) file.status = 'added';
    else if (file.path === '') file.path = name;
  }

  private takeAfter(name: string | null): void {
    if (name === null) this.file.status = 'deleted';
    else if (this.path === '' || this.files.length > 1) this.file.path = name;
  }

  private startHunk(found: RegExpExecArray | null): void {
    if (found === null) return;
    const [, beforeStart, beforeCount = '1', afterStart, afterCount = '1', heading = ''] = found;
    const { file } = this;
    this.hunk = { beforeStart: Number(beforeStart), afterStart: Number(afterStart), heading, lines: [] };
    [this.beforeLeft, this.afterLeft] = [Number(beforeCount), Number(afterCount)];
    [this.beforeAt, this.afterAt] = [Number(beforeStart), Number(afterStart)];
    file.hunks.push(this.hunk);
  }

  private takeLine(line: string): void {
    const mark = line.charAt(0);
    const text = line.slice(1);
    if (mark === '+') this.add({ kind: 'added', text, before: null, after: this.afterAt });
    else if (mark === '-') this.add({ kind: 'removed', text, before: this.beforeAt, after: null });
    // Some tools strip the blank that an empty unchanged line begins with.
    else if (mark === ' ' || line === '') this.add({ kind: 'same', text, before: this.beforeAt, after: this.afterAt });
    else [this.beforeLeft, this.afterLeft] = [0, 0];
  }

  private add(line: DiffLine): void {
    this.hunk?.lines.push(line);
    if (line.before !== null) [this.beforeAt, this.beforeLeft] = [this.beforeAt + 1, this.beforeLeft - 1];
    if (line.after !== null) [this.afterAt, this.afterLeft] = [this.afterAt + 1, this.afterLeft - 1];
    if (line.kind === 'added') this.file.added += 1;
    if (line.kind === 'removed') this.file.removed += 1;
  }

  private endWithoutNewline(): void {
    const last = this.hunk?.lines[this.hunk.lines.length - 1];
    if (last !== undefined) last.unended = true;
  }
}

/** `a/x y b/x y` of git's first line: both halves are the same, but for a rename, which names them again. */
function namedTwice(names: string): string {
  if (names.startsWith('"')) return nameIn(names.slice(names.lastIndexOf(' "') + 1)) ?? '';
  const half = (names.length - 1) / 2;
  const second = names.slice(Math.ceil(half));
  return Number.isInteger(half) ? second.replace(/^ ?b\//, '').trim() : (names.split(' b/').pop() ?? names);
}

/** The name in a `---` or `+++` line, without its prefix; null for a file that does not exist. */
function nameIn(text: string): string | null {
  const name = unquoted(text.split('\t')[0] ?? '').trimEnd();
  return name === '/dev/null' ? null : name.replace(/^[abciwo]\//, '');
}

/** Git quotes names with unusual characters as C does. */
function unquoted(name: string): string {
  if (!(name.startsWith('"') && name.endsWith('"'))) return name;
  const bytes: number[] = [];
  const encoder = new TextEncoder();
  for (const found of name.slice(1, -1).matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/gs)) {
    if (found[1] !== undefined) bytes.push(Number.parseInt(found[1], 8));
    else bytes.push(...encoder.encode(found[3] ?? { n: '\n', t: '\t', r: '\r' }[found[2] ?? ''] ?? found[2] ?? ''));
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}
