// One file: as code, as a picture, as rendered markdown.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { withBasePath } from '../../hub/base_path';
import { http } from '../../hub/http';
import { t } from '../../i18n';
import { CodeView } from '../../content/code';
import { Image } from '../../content/markdown/image';
import { Markdown } from '../../content/markdown/markdown';
import { VisibleText } from '../../content/visible_text';
import { contentHref, folderOf, ContentFolder, pathIn, useFolder } from '../../content/location';
import { isMarkdownPath, isPicturePath } from '../../text/code/language';
import { Button, Icon, Spinner } from '../../ui';
import { useLoaded } from './use_loaded';
import { filesHref } from './address';

const BINARY = /\0/;
const NOT_TEXT = /\.(?:pdf|zip|gz|tgz|xz|bz2|7z|jar|wasm|so|dll|dylib|exe|o|a|pyc|class|db|sqlite3?|mp[34]|mov|avi|webm|ogg|wav|flac|ttf|otf|woff2?)$/i;

export function Preview({ sessionId, path, line, version }: { sessionId: string; path: string; line: number | null; version: number }): JSX.Element {
  const [source, setSource] = useState(false);
  const canRender = isMarkdownPath(path);
  const address = contentHref(sessionId, path);
  return (
    <article class="files-preview" aria-label={path}>
      <header class="files-preview-head">
        <a class="files-back ui-icon-button" href={filesHref(sessionId, {})} aria-label={t('files.back')}><Icon name="arrow-left" /></a>
        <h2 title={path}><bdi><VisibleText text={path} /></bdi></h2>
        {canRender && <Button kind="quiet" pressed={source} onClick={() => setSource(!source)}>{t('files.source')}</Button>}
        <a class="ui-icon-button" href={withBasePath(address)} download={path.split('/').pop() ?? 'file'} aria-label={t('files.download')} title={t('files.download')}><Icon name="download" /></a>
      </header>
      <div class="files-preview-body">
        <Content address={address} path={path} line={line} version={version} rendered={canRender && !source && line === null} />
      </div>
    </article>
  );
}

interface ContentProps {
  /** Where its bytes are. */
  address: string;
  path: string;
  line: number | null;
  version: number;
  /** Markdown as it is meant to be read, not as it is written. */
  rendered: boolean;
}

/** What is in a file, in the form that suits it. */
export function Content(props: ContentProps): JSX.Element {
  if (isPicturePath(props.path)) return <div class="files-picture"><Image src={props.address} alt={props.path} /></div>;
  return NOT_TEXT.test(props.path) ? <NoText /> : <TextFile key={props.path} {...props} />;
}

function TextFile({ address, path, line, version, rendered }: ContentProps): JSX.Element {
  const root = useFolder();
  const { value, error, again } = useLoaded(`${address} ${version}`, () => http.text(address));
  if (error !== null) return <div class="ui-empty" role="alert"><p>{error.message}</p><Button onClick={again}>{t('common.retry')}</Button></div>;
  if (value === null) return <div class="ui-waiting"><Spinner size={24} label={t('common.loading')} /></div>;
  if (BINARY.test(value.slice(0, 8_000))) return <NoText />;
  if (value === '') return <p class="files-faint">{t('files.emptyFile')}</p>;
  if (rendered) return <div class="files-rendered"><ContentFolder.Provider value={folderOf(pathIn(root, path))}><Markdown text={value} breaks={false} /></ContentFolder.Provider></div>;
  return <CodeView text={value} path={path} firstLine={1} line={line} whole />;
}

function NoText(): JSX.Element {
  return <div class="ui-empty"><Icon name="file" size={32} /><p>{t('files.notText')}</p></div>;
}
