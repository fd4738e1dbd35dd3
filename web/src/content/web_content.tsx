// A page that an agent fetched: where from, what it is called, how it begins. Its text is shown as text.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../i18n';
import { Button, Icon } from '../ui';
import '../style/matter.css';
import { Link } from './markdown/link';
import { Shown } from './visible_text';

const FIRST_CHARACTERS = 1_200;

export function WebContent({ url, title, summary }: { url: string; title?: string | undefined; summary?: string | undefined }): JSX.Element {
  const [all, setAll] = useState(false);
  const text = summary ?? '';
  const cut = !all && text.length > FIRST_CHARACTERS;
  return (
    <div class="matter-web">
      <p class="matter-web-head"><Icon name="globe" size={16} /><Link address={url} shown={title ?? url}><Shown text={title ?? url} /></Link></p>
      {text !== '' && <p class="matter-web-text"><Shown text={cut ? text.slice(0, FIRST_CHARACTERS) : text} />{cut && '…'}</p>}
      {cut && <Button kind="quiet" onClick={() => setAll(true)}>{t('matter.showMore')}</Button>}
    </div>
  );
}
