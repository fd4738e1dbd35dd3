// Inline markdown as elements: emphasis, links, pictures, and the few HTML tags that are rendered. Other tags stand as text.

import type { Token, Tokens } from 'marked';
import type { ComponentChildren, JSX } from 'preact';
import { withoutReferences } from '../../text/markdown/entities';
import { type SafeNode, safeTree } from '../../text/markdown/sanitise';
import { Image } from './image';
import { AgentLink } from './link';
import { VisibleText } from '../visible_text';

const DEEPEST = 24;
const PAIRED = new Set(['a', 'abbr', 'b', 'code', 'del', 'em', 'i', 'ins', 'kbd', 'mark', 'q', 's', 'samp', 'small', 'strong', 'sub', 'sup', 'u', 'var']);
const TAG = /^<(\/?)([a-z][a-z\d]*)(\s[^>]*)?\/?>$/i;

export function Inline({ tokens }: { tokens: readonly Token[] | undefined }): JSX.Element {
  return <>{inline(tokens ?? [])}</>;
}

function inline(tokens: readonly Token[]): ComponentChildren[] {
  const shown: ComponentChildren[] = [];
  const partners = partnersIn(tokens);
  for (let index = 0; index < tokens.length; index += 1) {
    const token = tokens[index];
    if (token === undefined) continue;
    const end = partners.get(index);
    if (end !== undefined) {
      shown.push(paired(token.raw, tokens.slice(index + 1, end)));
      index = end;
    } else shown.push(one(token));
  }
  return shown;
}

function one(token: Token): ComponentChildren {
  switch (token.type) {
    case 'strong': return <strong><Inline tokens={token.tokens} /></strong>;
    case 'em': return <em><Inline tokens={token.tokens} /></em>;
    case 'del': return <del><Inline tokens={token.tokens} /></del>;
    case 'codespan': return <code class="content-codespan" dir="ltr"><VisibleText text={(token as Tokens.Codespan).text} /></code>;
    case 'br': return <br />;
    case 'link': return <LinkToken link={token as Tokens.Link} />;
    case 'image': return <Image src={withoutReferences((token as Tokens.Image).href)} alt={withoutReferences((token as Tokens.Image).text)} />;
    case 'html': return <Lone raw={token.raw} />;
    case 'escape': return (token as Tokens.Escape).text;
    case 'checkbox': return null;
    default: return token.type === 'text' && (token as Tokens.Text).tokens ? <Inline tokens={(token as Tokens.Text).tokens} /> : plain(token);
  }
}

function plain(token: Token): ComponentChildren {
  return <VisibleText text={withoutReferences((token as Tokens.Text).text ?? token.raw)} prose />;
}

function LinkToken({ link }: { link: Tokens.Link }): JSX.Element {
  const href = link.autolink === true ? link.href : withoutReferences(link.href);
  const shown = textOf(link.tokens);
  return <AgentLink address={href} shown={shown}>{shown === '' && !hasPicture(link.tokens) ? href : <Inline tokens={link.tokens} />}</AgentLink>;
}

/** What a reader reads of some tokens. */
function textOf(tokens: readonly Token[] | undefined): string {
  return (tokens ?? []).map((token) => ('tokens' in token && token.tokens !== undefined ? textOf(token.tokens) : withoutReferences((token as Tokens.Text).text ?? ''))).join('');
}

function hasPicture(tokens: readonly Token[]): boolean {
  return tokens.some((token) => token.type === 'image');
}

/** Where each element that begins in these tokens ends. Tags that cross each other or lie too deep have no partner. */
function partnersIn(tokens: readonly Token[]): ReadonlyMap<number, number> {
  const partners = new Map<number, number>();
  const open: { name: string; at: number }[] = [];
  tokens.forEach((token, at) => {
    const tag = token.type === 'html' ? TAG.exec(token.raw) : null;
    const name = tag?.[2]?.toLowerCase() ?? '';
    if (!PAIRED.has(name)) return;
    if (tag?.[1] === '') {
      if (open.length < DEEPEST) open.push({ name, at });
      return;
    }
    const start = open.findLastIndex((each) => each.name === name);
    if (start === -1) return;
    partners.set(open[start]?.at ?? at, at);
    open.length = start;
  });
  return partners;
}

function paired(raw: string, inside: readonly Token[]): ComponentChildren {
  const name = TAG.exec(raw)?.[2]?.toLowerCase() ?? 'span';
  if (name !== 'a') {
    const Name = name as 'b';
    return <Name><Inline tokens={inside} /></Name>;
  }
  const [node] = safeTree(`${raw}</a>`) ?? [];
  const href = typeof node === 'object' ? node.attributes['href'] ?? '' : '';
  return <AgentLink address={href} shown={textOf(inside)}><Inline tokens={inside} /></AgentLink>;
}

/** A tag without a partner: a break or a picture is one, everything else is text. */
function Lone({ raw }: { raw: string }): JSX.Element {
  const name = TAG.exec(raw)?.[2]?.toLowerCase();
  if (name === 'br') return <br />;
  const tree = name === 'img' ? safeTree(raw) : null;
  return tree === null ? <VisibleText text={raw} /> : <Nodes nodes={tree} />;
}

/** A tree of allowed elements. */
export function Nodes({ nodes }: { nodes: readonly SafeNode[] }): JSX.Element {
  return <>{nodes.map((node, index) => <NodeView key={index} node={node} />)}</>;
}

function NodeView({ node }: { node: SafeNode }): JSX.Element {
  if (typeof node === 'string') return <VisibleText text={node} />;
  const { name, attributes, children } = node;
  const inside = <Nodes nodes={children} />;
  if (name === 'a') return <AgentLink address={attributes['href'] ?? ''} shown={treeText(children)}>{inside}</AgentLink>;
  if (name === 'img') return <Image src={attributes['src'] ?? ''} alt={attributes['alt'] ?? ''} />;
  if (name === 'br' || name === 'hr') return name === 'br' ? <br /> : <hr />;
  if (name === 'center') return <div class="content-align-center">{inside}</div>;
  if (name === 'picture') return <span>{inside}</span>;
  const heading = /^h([1-6])$/.exec(name);
  if (heading !== null) return <Heading depth={Number(heading[1])}>{inside}</Heading>;
  const Name = name as 'div';
  return <Name class={alignment(attributes['align'])} {...spans(attributes)} {...(name === 'details' && 'open' in attributes ? { open: true } : {})}>{inside}</Name>;
}

function treeText(nodes: readonly SafeNode[]): string {
  return nodes.map((node) => (typeof node === 'string' ? node : treeText(node.children))).join('');
}

function alignment(align: string | undefined): string | undefined {
  return align === 'center' || align === 'right' ? `content-align-${align}` : undefined;
}

function spans(attributes: Readonly<Record<string, string>>): Record<string, number> {
  const found: Record<string, number> = {};
  for (const [from, to] of [['colspan', 'colSpan'], ['rowspan', 'rowSpan'], ['start', 'start']] as const) {
    const value = Number(attributes[from]);
    if (Number.isInteger(value) && value > 0 && value < 1_000) found[to] = value;
  }
  return found;
}

/** `auto` where a block reads in the direction of its own words. */
export type Direction = 'auto' | undefined;

/** Headings of a message are below those of the page, all at one level: nobody knows which levels an agent leaves out. They look as deep
 * as they are. */
export function Heading({ depth, dir, children }: { depth: number; dir?: Direction; children: ComponentChildren }): JSX.Element {
  return <h3 class={`content-h content-h${depth}`} dir={dir}>{children}</h3>;
}
