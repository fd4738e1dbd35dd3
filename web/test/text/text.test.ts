import { describe, expect, it } from 'vitest';
import { withoutReferences } from '../../src/text/markdown/entities';
import { highlighted, languages } from '../../src/text/code/highlighter';
import { languageByPath, languageByWord } from '../../src/text/code/language';
import { judgeLink } from '../../src/text/markdown/links';
import { safeTree, treeOf } from '../../src/text/markdown/sanitise';
import { pieces } from '../../src/text/code/tokens';
import { revealed, spelledOut } from '../../src/text/unseen';

describe('links', () => {
  it('of the web are marked with the host that is asked', () => {
    expect(judgeLink('https://Example.ORG/a b', 'here')).toMatchObject({ kind: 'web', host: 'example.org', doubt: null });
    expect(judgeLink('//example.org/x', 'here')).toMatchObject({ kind: 'web', host: 'example.org' });
    expect(judgeLink('mailto:a@example.org', 'a@example.org')).toMatchObject({ kind: 'mail', host: 'example.org', doubt: null });
  });

  it.each([
    'javascript:alert(1)', 'JaVaScRiPt:alert(1)', ' javascript:alert(1)', 'java\nscript:alert(1)', '\u0001javascript:alert(1)', 'java\u200bscript:alert(1)',
    'data:text/html,<script>alert(1)</script>', 'vbscript:msgbox(1)', 'blob:https://x/1', 'intent://x#Intent;end', 'view-source:https://x', 'about:blank',
    'tel:123', 'ssh://host', '', '#', '#code=abc', '?x', 'ms-settings:', 'filesystem:http://x',
  ])('%s is dead', (address) => {
    expect(judgeLink(address, 'x').kind).toBe('dead');
  });

  it('that mislead say so', () => {
    expect(judgeLink('https://evil.example', 'https://bank.com')).toMatchObject({ doubt: 'other host' });
    expect(judgeLink('https://evil.example', 'bank.com/login')).toMatchObject({ doubt: 'other host' });
    expect(judgeLink('https://bank.com@evil.example', 'bank')).toMatchObject({ doubt: 'hidden name', host: 'evil.example' });
    expect(judgeLink('https://аpple.com', 'apple')).toMatchObject({ doubt: 'lookalike', host: 'xn--pple-43d.com' });
    expect(judgeLink('https://docs.bank.com/x', 'bank.com')).toMatchObject({ doubt: null });
    expect(judgeLink('https://github.com/a/b', 'README.md')).toMatchObject({ doubt: null });
    expect(judgeLink('mailto:evil@x.org', 'me@bank.com')).toMatchObject({ doubt: 'other host' });
  });

  it('to files know the line', () => {
    expect(judgeLink('src/app.ts:12', 'app')).toEqual({ kind: 'file', path: 'src/app.ts', line: 12 });
    expect(judgeLink('./src/a%20b.ts#L7-L9', 'app')).toEqual({ kind: 'file', path: 'src/a b.ts', line: 7 });
    expect(judgeLink('/home/me/x.py', 'x')).toEqual({ kind: 'file', path: '/home/me/x.py', line: null });
    expect(judgeLink('file:///home/me/x.py', 'x')).toEqual({ kind: 'file', path: '/home/me/x.py', line: null });
  });

  it('are meant from the folder of the text, and never climb out of the session', () => {
    const from = (folder: string, address: string) => judgeLink(address, 'x', folder);
    expect(from('odd/deep', 'data.csv')).toMatchObject({ path: 'odd/deep/data.csv' });
    expect(from('odd/deep', './a/../pic.png')).toMatchObject({ path: 'odd/deep/pic.png' });
    expect(from('odd/deep', '../../README.md#L3')).toMatchObject({ path: 'README.md', line: 3 });
    expect(from('odd', '..')).toMatchObject({ path: '.' });
    expect(from('odd', '/home/me/../x.py')).toMatchObject({ path: '/home/x.py' });
    for (const out of ['../../x', '..%2F..%2Fx', 'a/../../../x']) expect(from('odd', out).kind).toBe('dead');
    expect(judgeLink('../x', 'x').kind).toBe('dead');
  });
});

describe('markup', () => {
  it('comes back as a tree of allowed elements', () => {
    const body = document.createElement('body');
    const paragraph = body.appendChild(document.createElement('p'));
    paragraph.setAttribute('align', 'center');
    paragraph.setAttribute('onclick', 'x()');
    paragraph.setAttribute('style', 'position: fixed');
    paragraph.append('a', document.createElement('br'));
    expect(treeOf(body)).toEqual([{ name: 'p', attributes: { align: 'center' }, children: ['a', { name: 'br', attributes: {}, children: [] }] }]);
    paragraph.append(document.createElement('script'));
    expect(treeOf(body)).toBeNull();
  });

  it.each(['<script>x</script>', '<p><iframe src=x></iframe></p>', '<svg><p>x</p></svg>', '<math><mi>x</mi></math>', '<style>*{}</style>', '<!-- x -->',
    '<form><input></form>', '<object>', '<x-y>a</x-y>', '<template><b>x</b></template>'])('%s is not rendered at all', (markup) => {
    expect(safeTree(markup)).toBeNull();
  });
});

describe('characters that nobody sees', () => {
  it('are shown by their number', () => {
    expect(spelledOut('a\u202eb\u200b')).toBe('aU+202EbU+200B');
    expect(spelledOut('👩‍💻 x\u200dy')).toBe('👩‍💻 xU+200Dy');
    expect(revealed('می‌خواهم \u202e', true).map((piece) => piece.text)).toEqual(['می‌خواهم ', 'U+202E']);
    expect(revealed('a\tb\nc')).toEqual([{ text: 'a\tb\nc', unseen: false }]);
    expect(spelledOut('a\ufe00b\ufe0f 1\ufe0f\u20e3 👩\u200d💻 x\u200d\u3164')).toBe('aU+FE00bU+FE0F 1\ufe0f\u20e3 👩\u200d💻 xU+200DU+3164');
    expect(revealed('x\u{e0041}')).toEqual([{ text: 'x', unseen: false }, { text: 'U+E0041', unseen: true }]);
  });
});

it('resolves character references', () => {
  expect(withoutReferences('&lt;a&gt; &amp;amp; &#39;&#x41; &constructor; &nope; &#0;')).toBe("<a> &amp; 'A &constructor; &nope; \ufffd");
});

it('knows languages by path and by word', () => {
  expect(['a/b.py', 'Dockerfile', 'x.TSX', 'Makefile', 'constructor', 'a.constructor', '.env', 'dir.js/file'].map(languageByPath))
    .toEqual(['python', 'dockerfile', 'typescript', 'makefile', '', '', 'ini', '']);
  expect(['TS', 'shell', 'c++', '__proto__'].map(languageByWord)).toEqual(['typescript', 'bash', 'cpp', '']);
});

describe('colours of code', () => {
  it('keep every character of every line, in every language', async () => {
    const text = 'const x = `a ${1 + 2}`; // <b>\n/* two\nlines */ <script>alert("x")</script>\n\n# end';
    for (const language of [...languages, 'unheard-of']) {
      const lines = await highlighted(text, language);
      expect(lines.map((line) => line.reduce((sum, [length]) => sum + length, 0)), language).toEqual(text.split('\n').map((line) => line.length));
    }
  });

  it('tell keywords from strings', async () => {
    const [line] = await highlighted('def f(): return "x"', 'python');
    expect(line?.map(([, scope]) => scope)).toEqual(expect.arrayContaining(['keyword', 'title', 'string']));
  });

  it('go together with marks', () => {
    expect(pieces('abcdef', [[2, 'keyword'], [9, 'string']], [{ start: 1, end: 3 }])).toEqual([
      { text: 'a', scope: 'keyword', marked: false }, { text: 'b', scope: 'keyword', marked: true }, { text: 'c', scope: 'string', marked: true },
      { text: 'def', scope: 'string', marked: false },
    ]);
  });
});

