import { type ComponentChild, render } from 'preact';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HOSTILE } from '../text/hostile';
import { CodeView } from '../../src/content/code';
import { Command } from '../../src/content/terminal';
import { DiffView } from '../../src/content/diff/diff';
import { Image } from '../../src/content/markdown/image';
import { Json } from '../../src/content/json';
import { Markdown } from '../../src/content/markdown/markdown';
import { ContentSession } from '../../src/content/location';
import { SearchHits } from '../../src/content/search_hits';
import { ToolResult } from '../../src/content/tool_result';
import { Terminal } from '../../src/content/terminal';
import { WebContent } from '../../src/content/tool_result';

const ALLOWED_ELEMENTS = new Set([
  'A', 'ABBR', 'B', 'BDI', 'BLOCKQUOTE', 'BR', 'BUTTON', 'CODE', 'DEL', 'DETAILS', 'DIV', 'EM', 'H3', 'H4', 'H5', 'H6', 'HEADER', 'HR', 'I', 'IMG', 'INPUT',
  'KBD', 'LI', 'OL', 'P', 'PATH', 'PRE', 'SECTION', 'SPAN', 'STRONG', 'SUMMARY', 'SVG', 'TABLE', 'TBODY', 'TD', 'TH', 'THEAD', 'TR', 'UL',
]);
const ALLOWED_ATTRIBUTES = /^(?:aria-[a-z]+|class|style|role|title|href|target|rel|src|alt|type|disabled|checked|tabindex|start|scope|data-n|data-sign|loading|decoding|referrerpolicy|open|width|height|viewbox|fill|stroke|stroke-width|stroke-linecap|stroke-linejoin|focusable|d|colspan|rowspan|dir)$/i;

let place: HTMLElement;
const pwned = vi.fn();

beforeEach(() => {
  vi.stubGlobal('pwned', pwned);
  place = document.body.appendChild(document.createElement('div'));
});

afterEach(() => {
  render(null, place);
  place.remove();
});

function shown(what: ComponentChild): HTMLElement {
  render(<ContentSession.Provider value="s1">{what}</ContentSession.Provider>, place);
  return place;
}

/** Nothing is there that could run, load or cover anything. */
function expectHarmless(element: HTMLElement, text: string): void {
  for (const each of element.querySelectorAll('*')) {
    expect(ALLOWED_ELEMENTS.has(each.tagName.toUpperCase()), `${each.tagName} from ${text.slice(0, 80)}`).toBe(true);
    for (const { name, value } of each.attributes) {
      expect(name, text.slice(0, 80)).toMatch(ALLOWED_ATTRIBUTES);
      if (name === 'href') expect(value, text.slice(0, 80)).toMatch(/^(?:https?:\/\/|mailto:|#\/s\/s1\/files\?)/);
      if (name === 'src') expect(value, text.slice(0, 80)).toMatch(/^(?:data:image\/|\/sessions\/)/);
      if (name === 'dir') expect(value).toMatch(/^(?:auto|ltr)$/); // never one that an agent chose
      if (name === 'style') expect(value).toMatch(/^(?:--[\w-]+|height): ?[\w().% -]+;?(?: ?--[\w-]+: ?[\w().% ]+;?)*$/);
    }
    if (each.tagName === 'A' && each.getAttribute('href')?.startsWith('http') === true) {
      expect(each.getAttribute('rel')).toBe('noopener noreferrer nofollow');
      expect(each.getAttribute('target')).toBe('_blank');
    }
  }
  expect(pwned).not.toHaveBeenCalled();
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
}

const PLACES: Readonly<Record<string, (text: string) => ComponentChild>> = {
  markdown: (text) => <Markdown text={text} />,
  'live markdown': (text) => <Markdown text={text} live />,
  terminal: (text) => <Terminal text={text} />,
  'a diff': (text) => <DiffView diff={text} path={text} />,
  'a changed line': (text) => <DiffView diff={`@@ -1 +1 @@\n-${text.replaceAll('\n', ' ')}\n+x${text.replaceAll('\n', ' ')}\n`} path={text} />,
  code: (text) => <CodeView text={text} path={text} />,
  'a command': (text) => <Command command={text} />,
  json: (text) => <Json value={{ [text]: text, list: [text, { deep: text }] }} />,
  'a search': (text) => <SearchHits results={[{ file: text, line: 1, content: text }]} />,
  'a page': (text) => <WebContent url={text} title={text} summary={text} />,
  'an image': (text) => <Image src={text} alt={text} title={text} />,
  'a result': (text) => <ToolResult output={{ type: 'command_output', exitCode: 1, stdout: text, stderr: text }} />,
};

describe.each(Object.entries(PLACES))('in %s', (_name, draw) => {
  it('nothing hostile runs, loads or covers anything', () => {
    for (const text of HOSTILE) expectHarmless(shown(draw(text)), text);
  }, 60_000);
});

describe('hostile text', () => {
  it('is shown, not swallowed', () => {
    expect(shown(<Markdown text={'<script>pwned()</script>'} />).textContent).toContain('<script>pwned()</script>');
    expect(shown(<Markdown text={'use `Vec<u8>` or Vec<String> here'} />).textContent).toContain('Vec<String>');
    expect(shown(<Terminal text={'\u001b[8mhidden\u001b[0m'} />).textContent).toContain('hidden');
  });

  it('that hides where a link leads is called out', () => {
    const text = shown(<Markdown text={'[bank.com](https://evil.example/login)'} />).textContent;
    expect(text).toContain('leads to evil.example');
    expect(place.querySelector('.content-link-doubt')).not.toBeNull();
  });

  it('of pictures elsewhere is a button that says from where', () => {
    shown(<Markdown text={'![chart](https://pics.example/a.png)'} />);
    expect(place.querySelector('img')).toBeNull();
    expect(place.querySelector('.content-picture-elsewhere')?.textContent).toContain('pics.example');
  });

  it('with unseen characters shows them', () => {
    expect(shown(<CodeView text={'if (a\u202e) {'} firstLine={1} />).textContent).toContain('U+202E');
    expect(shown(<Command command={'echo \u200bx'} />).textContent).toContain('U+200B');
  });
});
