// Coloured pieces of lines: what the highlighter found, and what else is marked on top of it.
//
// Rule: pieces are positions in a text that the page has itself. Whoever made them cannot change what is shown, only its colour.

/** How many characters, and as what; an empty scope is plain. */
export type Token = readonly [length: number, scope: string];

/** The tokens of every line of a text. */
export type TokenLines = readonly (readonly Token[])[];

/** A stretch of a line that is marked, such as a changed word. */
export interface Mark {
  start: number;
  end: number;
}

/** A piece of a line, ready to be shown. */
export interface LinePiece {
  text: string;
  scope: string;
  marked: boolean;
}

/** A node of the highlighter's tree. */
export interface TreeNode {
  scope?: string;
  children: readonly (TreeNode | string)[];
}

/** The tree by line. Nested scopes: the innermost counts. */
export function tokensByLine(root: TreeNode): Token[][] {
  const lines: Token[][] = [[]];
  const walk = (node: TreeNode, scope: string): void => {
    for (const child of node.children) {
      if (typeof child === 'string') addText(lines, child, scope);
      else walk(child, colourOf(child.scope) || scope);
    }
  };
  walk(root, '');
  return lines;
}

function addText(lines: Token[][], text: string, scope: string): void {
  text.split('\n').forEach((part, index) => {
    if (index > 0) lines.push([]);
    if (part !== '') lines[lines.length - 1]?.push([part.length, scope]);
  });
}

/** `title.function_` counts as `title`. Scopes of sub-languages have no colour of their own. */
function colourOf(scope: string | undefined): string {
  const name = scope?.split('.')[0] ?? '';
  return name.startsWith('language:') ? '' : name.replace(/[^a-z-]/g, '');
}

/** A line in pieces, by its tokens and its marks. Where tokens end early, the rest is plain. */
export function pieces(line: string, tokens: readonly Token[] | undefined, marks: readonly Mark[] = []): LinePiece[] {
  const found: LinePiece[] = [];
  let at = 0;
  const add = (end: number, scope: string): void => {
    while (at < end) {
      const mark = marks.find((each) => each.end > at);
      const marked = mark !== undefined && mark.start <= at;
      const until = Math.min(end, mark === undefined ? end : marked ? mark.end : mark.start);
      found.push({ text: line.slice(at, until), scope, marked });
      at = until;
    }
  };
  for (const [length, scope] of tokens ?? []) add(Math.min(line.length, at + length), scope);
  add(line.length, '');
  return found;
}
