/** What an agent shows: text, terminals, changes, code. */
export { CodeView } from './code';
export { Command } from './command';
export { DiffView, TextDiff } from './diff/diff';
export { Image } from './markdown/image';
export { Json } from './json';
export { Link } from './markdown/link';
export { Markdown } from './markdown/markdown';
export { fileHref, MatterSession } from './location';
export { SearchHits } from './search_hits';
export { Shown } from './visible_text';
export { StructuredResult } from './tool_result';
export { Terminal } from './terminal';
export { WebContent } from './web_content';
