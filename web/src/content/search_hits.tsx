// What a search of code found: by file, every line a link into the files tab.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { SearchResult } from '../generated/agent-context';
import { t } from '../i18n';
import { Button, Icon } from '../ui';
import '../style/content/index.css';
import { FileLink } from './markdown/link';
import { useSessionId } from './location';
import { VisibleText } from './visible_text';

const FILES_FIRST = 20;

export function SearchHits({ results, more = false }: { results: readonly SearchResult[]; more?: boolean }): JSX.Element {
  const [all, setAll] = useState(false);
  const files = [...byFile(results)];
  if (files.length === 0) return <p class="content-note">{t('content.noHits')}</p>;
  const shown = all ? files : files.slice(0, FILES_FIRST);
  return (
    <div class="content-hits">
      <p class="content-note">{t('content.hits', { n: results.length })}, {t('content.inFiles', { n: files.length })}{more && `. ${t('content.moreHits')}`}</p>
      <ul>{shown.map(([file, hits]) => <FileHits key={file} file={file} hits={hits} />)}</ul>
      {shown.length < files.length && <Button kind="quiet" onClick={() => setAll(true)}>{t('content.moreFiles', { n: files.length - shown.length })}</Button>}
    </div>
  );
}

function FileHits({ file, hits }: { file: string; hits: readonly SearchResult[] }): JSX.Element {
  const sessionId = useSessionId();
  const lines = hits.filter((hit) => hit.line > 0 || hit.content !== '');
  return (
    <li>
      <FileLink sessionId={sessionId} path={file} line={null}><Icon name="file" size={14} /><VisibleText text={file} /></FileLink>
      {lines.length > 0 && (
        <ul class="content-hit-lines">
          {lines.map((hit, index) => (
            <li key={index}><FileLink sessionId={sessionId} path={file} line={hit.line || null}><span class="content-hit-number">{hit.line || ''}</span><code><VisibleText text={hit.content.slice(0, 400)} /></code></FileLink></li>
          ))}
        </ul>
      )}
    </li>
  );
}

function byFile(results: readonly SearchResult[]): Map<string, SearchResult[]> {
  const files = new Map<string, SearchResult[]>();
  for (const hit of results) files.set(hit.file, [...(files.get(hit.file) ?? []), hit]);
  return files;
}
