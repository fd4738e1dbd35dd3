// @vitest-environment node
import { describe, expect, it } from 'vitest';
import { parseDiff } from '../../../src/text/diff/diff';
import { fits, inTwoColumns, diffRowsOf } from '../../../src/text/diff/rows';
import { changedWords, changeRuns } from '../../../src/text/diff/changed_words';

const TWO_FILES = `diff --git a/src/a.py b/src/a.py
index 111..222 100644
--- a/src/a.py
+++ b/src/a.py
@@ -1,3 +1,4 @@
 one
-two
+2
+2.5
 three
@@ -10,2 +11,2 @@ def f():
-ten
+TEN
 eleven
diff --git a/old name.txt b/new name.txt
similarity index 90%
rename from old name.txt
rename to new name.txt
--- a/old name.txt
+++ b/new name.txt
@@ -1 +1 @@
-a
\\ No newline at end of file
+b
\\ No newline at end of file
diff --git a/pic.png b/pic.png
new file mode 100644
Binary files /dev/null and b/pic.png differ
diff --git a/gone b/gone
deleted file mode 100644
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-x
`;

describe('reading a diff', () => {
  const files = parseDiff(TWO_FILES);

  it('knows files, renames, binaries and deletions', () => {
    expect(files.map((file) => [file.path, file.status, file.added, file.removed, file.binary])).toEqual([
      ['src/a.py', 'modified', 3, 2, false], ['new name.txt', 'renamed', 1, 1, false], ['pic.png', 'added', 0, 0, true], ['gone', 'deleted', 0, 1, false],
    ]);
    expect(files[1]?.from).toBe('old name.txt');
  });

  it('gives every line its true numbers', () => {
    expect(files[0]?.hunks[0]?.lines.map((line) => [line.before, line.after, line.text])).toEqual([
      [1, 1, 'one'], [2, null, 'two'], [null, 2, '2'], [null, 3, '2.5'], [3, 4, 'three'],
    ]);
    expect(files[0]?.hunks[1]).toMatchObject({ beforeStart: 10, afterStart: 11, heading: 'def f():' });
  });

  it('marks a missing newline', () => {
    expect(files[1]?.hunks[0]?.lines.map((line) => line.unended)).toEqual([true, true]);
  });

  it('does not take a removed line for the name of a file', () => {
    const [file, ...more] = parseDiff('--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1,2 @@\n--- a comment\n+++ b comment\n same\n');
    expect(more).toEqual([]);
    expect(file).toMatchObject({ path: 'x.sql', added: 1, removed: 1 });
    expect(file?.hunks[0]?.lines[0]?.text).toBe('-- a comment');
  });

  it('reads names that git has quoted', () => {
    expect(parseDiff('diff --git "a/\\303\\244 b.txt" "b/\\303\\244 b.txt"\nnew file mode 100644\n')[0]?.path).toBe('ä b.txt');
  });

  it('uses the given path where the diff names none, and gives nothing for what is no diff', () => {
    const [file] = parseDiff('@@ -1 +1 @@\n-a\n+b\n', 'x.ts');
    expect(file).toMatchObject({ path: 'x.ts', added: 1, removed: 1 });
    expect(file?.hunks[0]?.lines).toHaveLength(2);
    expect(parseDiff('hello\nworld\n')).toEqual([]);
  });

  it('begins a new file where a diff was cut', () => {
    expect(parseDiff('diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,9 +1,9 @@\n x\ndiff --git a/b b/b\nnew file mode 100644\n')).toHaveLength(2);
  });
});

describe('rows', () => {
  it('fold what is between hunks, and open it where the file is known', () => {
    const [file] = parseDiff(TWO_FILES);
    if (file === undefined) throw new Error('no file');
    const whole = ['one', '2', '2.5', 'three', 'l5', 'l6', 'l7', 'l8', 'l9', 'l10', 'TEN', 'eleven', 'l13'];
    expect(fits(file, whole)).toBe(true);
    expect(fits(file, ['else'])).toBe(false);
    const folded = diffRowsOf(file, new Set(), null);
    expect(folded.filter((row) => row.row === 'fold')).toMatchObject([{ count: 6, before: 4, after: 5, heading: 'def f():' }]);
    const opened = diffRowsOf(file, new Set(['gap 1']), whole);
    expect(opened.flatMap((row) => (row.row === 'line' ? [row.line.text] : []))).toContain('l7');
    expect(opened[opened.length - 1]).toMatchObject({ row: 'fold', count: 1 });
  });

  it('fold long unchanged runs inside of a hunk', () => {
    const same = Array.from({ length: 40 }, (_, index) => ` line ${index}`).join('\n');
    const [file] = parseDiff(`--- a/x\n+++ b/x\n@@ -1,42 +1,42 @@\n-a\n+A\n${same}\n-b\n+B\n`);
    if (file === undefined) throw new Error('no file');
    expect(diffRowsOf(file, new Set(), null)).toHaveLength(2 + 3 + 1 + 3 + 2);
    expect(diffRowsOf(file, new Set(['run 0 2']), null)).toHaveLength(44);
  });

  it('show a hunk whose first unchanged run is shorter than what is shown around a change', () => {
    const [file] = parseDiff(`--- a/x\n+++ b/x\n@@ -1,10 +1,11 @@\n import time\n+from x import y\n${Array.from({ length: 9 }, (_, n) => `-${n}\n+${n}!`).join('\n')}\n`);
    if (file === undefined) throw new Error('no file');
    const rows = diffRowsOf(file, new Set(), null);
    expect(rows.filter((row) => row.row === 'fold')).toEqual([]);
    expect(rows[0]).toMatchObject({ line: { text: 'import time', before: 1, after: 1 } });
  });

  it('stand side by side', () => {
    const [file] = parseDiff(TWO_FILES);
    if (file === undefined) throw new Error('no file');
    const pairs = inTwoColumns(diffRowsOf(file, new Set(), null)).flatMap((row) => (row.row === 'pair' ? [[row.left?.text, row.right?.text]] : []));
    expect(pairs).toEqual([['one', 'one'], ['two', '2'], [undefined, '2.5'], ['three', 'three'], ['ten', 'TEN'], ['eleven', 'eleven']]);
  });
});

describe('words', () => {
  it('are marked where most of the line stayed', () => {
    expect(changedWords('const a = foo(1);', 'const a = bar(1);')).toEqual({ removed: [{ start: 10, end: 13 }], added: [{ start: 10, end: 13 }] });
    expect(changedWords('alpha beta', 'something else entirely')).toEqual({ removed: [], added: [] });
  });

  it('belong to runs of changes', () => {
    const [file] = parseDiff(TWO_FILES);
    expect(changeRuns(file?.hunks[0]?.lines ?? []).map((run) => [run.removed.length, run.added.length])).toEqual([[1, 2]]);
  });
});
