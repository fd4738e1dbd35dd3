// Where a link of an agent's really leads, and whether its text says something else.
//
// Rule 1: only http, https and mailto lead anywhere, and paths inside the session's folder. Everything else is dead text.
// Rule 2: a path is meant from the folder of the text that names it; what climbs out of the session's folder is dead, too.
// Rule 3: the host that is shown is the one that the browser would ask, in ASCII.

import { hasUnseen } from '../unseen';

/** A link that was judged. `doubt` says why its text may mislead; it is empty where nothing does. */
export type JudgedLink =
  | { kind: 'web'; href: string; host: string; doubt: Doubt | null }
  | { kind: 'mail'; href: string; host: string; doubt: Doubt | null }
  | { kind: 'file'; path: string; line: number | null }
  | { kind: 'dead' };

/** `other host`: the text names another one. `lookalike`: the host has letters of other scripts. `hidden name`: user part before @. */
export type Doubt = 'other host' | 'lookalike' | 'hidden name' | 'unseen characters';

const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
const BLANKS = /[\u0000-\u0020\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
const LINE_AT_END = /(?:#L|:)(\d{1,7})(?:[-:](?:L)?\d{1,7})?$/;

/** Judge a link by its address and by the text that it shows; paths are meant from the folder on that the text lies in. */
export function judgeLink(address: string, shown: string, folder = ''): JudgedLink {
  // Browsers drop these from an address; what is left is what counts.
  const href = address.replace(BLANKS, '');
  if (href === '') return { kind: 'dead' };
  if (href.startsWith('//') || href.startsWith('\\')) return judgeWeb(`https:${href.replaceAll('\\', '/')}`, shown);
  if (/^https?:/i.test(href)) return judgeWeb(href, shown);
  if (/^mailto:/i.test(href)) return judgeMail(href, shown);
  if (/^www\./i.test(href)) return judgeWeb(`http://${href}`, shown);
  if (/^file:/i.test(href)) return judgePath(href.replace(/^file:(?:\/\/)?/i, ''), folder);
  if (SCHEME.test(href) && !looksLikePathWithLine(href)) return { kind: 'dead' };
  return judgePath(href, folder);
}

/** The scheme-less host and path, as a reader would type it: to tell an address from a text that only names it. */
export function isOwnName(href: string, shown: string): boolean {
  return bare(href) === bare(shown);
}

function bare(text: string): string {
  return text.trim().replace(/^(?:https?:\/\/|mailto:)/i, '').replace(/\/$/, '').toLowerCase();
}

function judgeWeb(href: string, shown: string): JudgedLink {
  let url: URL;
  try {
    url = new URL(href);
  } catch {
    return { kind: 'dead' };
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return { kind: 'dead' };
  return { kind: 'web', href: url.href, host: url.host, doubt: doubtOf(url, shown) };
}

function doubtOf(url: URL, shown: string): Doubt | null {
  if (url.username !== '' || url.password !== '') return 'hidden name';
  if (/(?:^|\.)xn--/.test(url.hostname)) return 'lookalike';
  if (hasUnseen(shown)) return 'unseen characters';
  const named = hostNamedBy(shown);
  return named !== null && !sameSite(named, url.hostname) ? 'other host' : null;
}

/** The host that a text looks like it leads to, or null where it does not look like an address. */
function hostNamedBy(text: string): string | null {
  const found = /^\s*(?:(https?):\/\/|\/\/)?(?:[^\s/@]*@)?((?:[^\s/:?#.@]+\.)+[^\s/:?#.@\d]{2,}|\d+\.\d+\.\d+\.\d+)\.?(?::\d+)?(?=[/?#\s]|$)/i.exec(text);
  const host = found?.[2];
  if (found == null || host === undefined) return null;
  // Without a scheme, file names and method calls look the same: only the usual endings of hosts count.
  if (found[1] === undefined && !/\.(?:com|org|net|io|dev|app|gov|edu|co|ai|me|info|biz|cloud|bank|[a-z]{2}\.[a-z]{2})$/i.test(host)) return null;
  return host.toLowerCase();
}

function sameSite(named: string, real: string): boolean {
  const a = named.replace(/^www\./, '');
  const b = real.toLowerCase().replace(/^www\./, '');
  return a === b || b.endsWith(`.${a}`);
}

function judgeMail(href: string, shown: string): JudgedLink {
  const address = safeDecode(href.slice('mailto:'.length).split('?')[0] ?? '');
  const host = address.split('@').pop() ?? '';
  if (address === '' || /[<>"'\s]/.test(address)) return { kind: 'dead' };
  const shownMail = /^\s*([^\s@]+@[^\s@]+\.[^\s@]+)\s*$/.exec(shown)?.[1];
  const doubt = shownMail !== undefined && shownMail.toLowerCase() !== address.toLowerCase() ? 'other host' : null;
  return { kind: 'mail', href: `mailto:${encodeURI(address)}`, host, doubt };
}

function looksLikePathWithLine(href: string): boolean {
  return /^[\w./-]+\.[\w]+:\d+(?::\d+)?$/.test(href);
}

function judgePath(href: string, folder: string): JudgedLink {
  if (href.startsWith('#') || href.startsWith('?')) return { kind: 'dead' };
  const line = LINE_AT_END.exec(href);
  const written = safeDecode((line === null ? href : href.slice(0, line.index)).split(/[?#]/)[0] ?? '');
  const path = written === '' || hasUnseen(written) ? null : pathFrom(folder, written);
  return path === null ? { kind: 'dead' } : { kind: 'file', path, line: line === null ? null : Number(line[1]) };
}

/** Where a path leads from a folder of the session's, without dots; null where it climbs out. */
function pathFrom(folder: string, path: string): string | null {
  const whole = path.startsWith('/') || folder === '' ? path : `${folder}/${path}`;
  const parts: string[] = [];
  for (const part of whole.split('/')) {
    if (part === '..' && parts.pop() === undefined) return null;
    if (part !== '..' && part !== '.' && part !== '') parts.push(part);
  }
  return whole.startsWith('/') ? `/${parts.join('/')}` : parts.join('/') || '.';
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a lone percent sign is a percent sign
  }
}
