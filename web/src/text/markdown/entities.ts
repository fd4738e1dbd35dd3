// Character references in markdown text (`&amp;`, `&#39;`), which the lexer leaves as they are written.

const NAMED: Readonly<Record<string, string>> = {
  amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0', copy: '©', reg: '®', trade: '™', hellip: '…', mdash: '—', ndash: '–', lsquo: '‘',
  rsquo: '’', ldquo: '“', rdquo: '”', laquo: '«', raquo: '»', bull: '•', middot: '·', times: '×', divide: '÷', plusmn: '±', deg: '°', micro: 'µ',
  para: '¶', sect: '§', euro: '€', pound: '£', yen: '¥', cent: '¢', larr: '←', uarr: '↑', rarr: '→', darr: '↓', harr: '↔', rArr: '⇒', lArr: '⇐',
  ne: '≠', le: '≤', ge: '≥', infin: '∞', asymp: '≈', equiv: '≡', sum: '∑', prod: '∏', radic: '√', check: '✓', cross: '✗', star: '☆', starf: '★',
  frac12: '½', frac14: '¼', frac34: '¾', sup2: '²', sup3: '³', alpha: 'α', beta: 'β', gamma: 'γ', delta: 'δ', lambda: 'λ', mu: 'μ', pi: 'π',
  sigma: 'σ', omega: 'ω', Delta: 'Δ', Sigma: 'Σ', Omega: 'Ω', forall: '∀', exist: '∃', isin: '∈', and: '∧', or: '∨', not: '¬', lbrace: '{',
  rbrace: '}', lbrack: '[', rbrack: ']', vert: '|', ast: '*', lowbar: '_', grave: '`', num: '#', tab: '\t', NewLine: '\n',
};

/** The text with the references that we know resolved; others stay as written. */
export function withoutReferences(text: string): string {
  return text.includes('&') ? text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z][a-z\d]{1,31}));/gi, resolved) : text;
}

function resolved(whole: string, decimal?: string, hex?: string, name?: string): string {
  if (name !== undefined) return Object.hasOwn(NAMED, name) ? NAMED[name] ?? whole : whole;
  const code = decimal !== undefined ? Number.parseInt(decimal, 10) : Number.parseInt(hex ?? '', 16);
  const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  return isCharacter ? String.fromCodePoint(code) : '\ufffd';
}
