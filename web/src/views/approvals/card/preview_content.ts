/** What a preview is drawn with, fetched when there is one to draw: in one file, since these parts share most of what they need. */
export { DiffView } from '../../../content/diff/diff';
export { Markdown } from '../../../content/markdown/markdown';
