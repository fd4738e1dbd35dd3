// Markup that an agent wrote, as a small tree of allowed elements, or nothing.
//
// Rule 1: what comes out is data (names, a few attributes, texts), never markup: nothing here is ever inserted as HTML.
// Rule 2: a tree comes back only if nothing had to be taken out but attributes; else the caller shows the source as text, so that
// what an agent wrote is either rendered or visible, never silently gone.

import DOMPurify from 'dompurify';
import { trusted } from '../../trusted_types';

/** An allowed element, or a text. */
export type SafeNode = string | { name: SafeName; attributes: Readonly<Record<string, string>>; children: SafeNode[] };

const NAMES = [
  'a', 'abbr', 'b', 'blockquote', 'br', 'caption', 'center', 'code', 'dd', 'del', 'details', 'div', 'dl', 'dt', 'em', 'h1', 'h2', 'h3', 'h4', 'h5',
  'h6', 'hr', 'i', 'img', 'ins', 'kbd', 'li', 'mark', 'ol', 'p', 'picture', 'pre', 'q', 's', 'samp', 'small', 'span', 'strike', 'strong', 'sub',
  'summary', 'sup', 'table', 'tbody', 'td', 'tfoot', 'th', 'thead', 'tr', 'u', 'ul', 'var',
] as const;
const ATTRIBUTES = ['href', 'src', 'alt', 'title', 'align', 'colspan', 'rowspan', 'start', 'open', 'width', 'height'] as const;
const DEEPEST = 64;
const LONGEST = 100_000;

type SafeName = (typeof NAMES)[number];

const names: ReadonlySet<string> = new Set(NAMES);

/** Whether an element of this name is ever rendered. */
function isAllowedName(name: string): name is SafeName {
  return names.has(name.toLowerCase());
}

/** The tree of some markup, or null where it holds anything that is not allowed. */
export function safeTree(markup: string): SafeNode[] | null {
  if (markup.length > LONGEST || !onlyAllowedTags(markup)) return null;
  const body = DOMPurify.sanitize(withoutHandlers(markup), {
    ALLOWED_TAGS: [...NAMES, '#text', 'body'], ALLOWED_ATTR: [...ATTRIBUTES], ALLOW_DATA_ATTR: false, ALLOW_ARIA_ATTR: false,
    RETURN_DOM: true, TRUSTED_TYPES_POLICY: trusted() as never,
  }) as unknown as Node;
  const elementGone = DOMPurify.removed.some((each) => 'element' in each && each.element?.nodeType === 1);
  return elementGone ? null : treeOf(body);
}

/** Handlers and styles under names that mean nothing. They are taken out in any case, but the parser's document has the page's policy:
 * by the names that they have, the browser would report each as a breach before they are. */
function withoutHandlers(markup: string): string {
  return markup.replace(/<[a-z][^>]*>?/gi, (tag) => tag.replace(/([\s"'/])(on[a-z]+|style)(?=\s*=)/gi, '$1data-$2'));
}

/** The tree below a node; only allowed elements and attributes are copied, whoever cleaned it before. Null where there are others. */
export function treeOf(node: Node): SafeNode[] | null {
  return childrenOf(node, 0);
}

/** Every tag in the source is one that we render: the parser may not first "repair" a foreign one away. */
function onlyAllowedTags(markup: string): boolean {
  if (/<[!?]/.test(markup)) return false;
  for (const found of markup.matchAll(/<\/?\s*([a-z][^\s/>]*)/gi)) {
    if (!isAllowedName(found[1] ?? '')) return false;
  }
  return true;
}

function childrenOf(node: Node, depth: number): SafeNode[] | null {
  const children: SafeNode[] = [];
  if (depth > DEEPEST) return null;
  for (const child of node.childNodes) {
    const safe = safeNode(child, depth);
    if (safe === null) return null;
    children.push(safe);
  }
  return children;
}

function safeNode(node: Node, depth: number): SafeNode | null {
  if (node.nodeType === 3) return node.textContent ?? '';
  if (node.nodeType !== 1) return null;
  const element = node as Element;
  const name = element.localName;
  const children = isAllowedName(name) ? childrenOf(element, depth + 1) : null;
  return children === null ? null : { name: name as SafeName, attributes: attributesOf(element), children };
}

function attributesOf(element: Element): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of ATTRIBUTES) {
    const value = element.getAttribute(name);
    if (value !== null) found[name] = value;
  }
  return found;
}
