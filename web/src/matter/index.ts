/** What an agent shows: text, terminals, changes, code. */
export { CodeView } from './code';
export { DiffView } from './diff';
export { Json } from './json';
export { Markdown } from './markdown';
export { StructuredResult } from './structured';
export { Terminal } from './terminal';
