/** What an agent shows: text, terminals, changes, code. */
export { CodeView } from './code';
export { Command } from './command';
export { DiffView, TextDiff } from './diff';
export { Image } from './image';
export { Json } from './json';
export { Link } from './link';
export { Markdown } from './markdown';
export { fileHref, MatterSession } from './place';
export { SearchHits } from './search_hits';
export { Shown } from './shown';
export { StructuredResult } from './structured';
export { Terminal } from './terminal';
export { WebContent } from './web_content';
