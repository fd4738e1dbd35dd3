/** Copies a text. Where the browser offers no clipboard (no HTTPS), it falls back to a selection that the reader can copy. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../i18n';
import { IconButton } from './button';

const SHOWN_MS = 1_500;

export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

function copyBySelection(text: string): boolean {
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'visually-hidden';
  document.body.append(field);
  field.select();
  const copied = document.execCommand('copy');
  field.remove();
  return copied;
}

export function Copy({ text, label }: { text: string | (() => string); label?: string }): JSX.Element {
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    if (!(await copyText(typeof text === 'function' ? text() : text))) return;
    setCopied(true);
    setTimeout(() => setCopied(false), SHOWN_MS);
  };
  return <IconButton icon={copied ? 'check' : 'copy'} size={16} label={copied ? t('common.copied') : label ?? t('common.copy')} onClick={() => void copy()} />;
}
