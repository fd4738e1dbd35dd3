// Any value as a tree: closed below the first level, drawn when it is opened.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../i18n';
import { Button, Copy } from '../ui';
import '../style/content/index.css';
import { VisibleText } from './visible_text';

const FIRST_ENTRIES = 100;
const FIRST_CHARACTERS = 600;
const OPEN_ENTRIES = 24;

export function Json({ value }: { value: unknown }): JSX.Element {
  return (
    <div class="content-json">
      <div class="content-code-tools"><Copy text={() => JSON.stringify(value, null, 2) ?? ''} label={t('content.copyJson')} /></div>
      <Value value={value} open={sizeOf(value) <= OPEN_ENTRIES} />
    </div>
  );
}

function Value({ value, open }: { value: unknown; open: boolean }): JSX.Element {
  if (typeof value === 'string') return <Text text={value} />;
  if (typeof value !== 'object' || value === null) return <span class="content-json-atom">{String(value)}</span>;
  if (sizeOf(value) === 0) return <span class="content-json-brief">{Array.isArray(value) ? '[]' : '{}'}</span>;
  return <Branch value={value} open={open} />;
}

function Branch({ value, open: first }: { value: object; open: boolean }): JSX.Element {
  const [open, setOpen] = useState(first);
  const [most, setMost] = useState(FIRST_ENTRIES);
  const entries = open ? Object.entries(value) : [];
  return (
    <span class="content-json-branch">
      <button type="button" class="content-json-toggle" aria-expanded={open} onClick={() => setOpen(!open)}>{open ? '▾' : '▸'} <span class="content-json-brief">{brief(value)}</span></button>
      {open && (
        <ul>
          {entries.slice(0, most).map(([key, each]) => <li key={key}><span class="content-json-key"><VisibleText text={key} /></span>: <Value value={each} open={false} /></li>)}
          {entries.length > most && <li><Button kind="quiet" onClick={() => setMost(most * 10)}>{t('content.moreEntries', { n: entries.length - most })}</Button></li>}
        </ul>
      )}
    </span>
  );
}

function Text({ text }: { text: string }): JSX.Element {
  const [all, setAll] = useState(false);
  const cut = !all && text.length > FIRST_CHARACTERS;
  return (
    <span class="content-json-text">
      <VisibleText text={cut ? text.slice(0, FIRST_CHARACTERS) : text} />
      {cut && <Button kind="quiet" onClick={() => setAll(true)}>{t('content.moreCharacters', { n: text.length - FIRST_CHARACTERS })}</Button>}
    </span>
  );
}

function sizeOf(value: unknown): number {
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
}

function brief(value: object): string {
  const count = sizeOf(value);
  return Array.isArray(value) ? t('content.items', { n: count }) : t('content.fields', { n: count });
}
