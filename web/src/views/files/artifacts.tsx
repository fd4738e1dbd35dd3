// What the agent made: a list, and a preview in a sandbox, still or live.
//
// Rule 1: a preview has no origin: never `allow-same-origin`. It can reach nothing of the page.
// Rule 2: its address expires; it is asked for anew when the artifact changed or the reader asks.
// Rule 3: it is still (no scripts, nothing from elsewhere) until the reader asks for it live, which is an address of another kind: a
// script that runs may tell others what it was shown. The next version, or coming back to it, begins still again.
// Rule 4: which one is shown is in the address, so that a link can lead to it.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ArtifactView, PreviewAddress } from '../../generated/api';
import { withBasePath } from '../../hub/base_path';
import { asHubError, http, pathOf } from '../../hub/http';
import { t } from '../../i18n';
import { VisibleText } from '../../content/visible_text';
import { contentHref } from '../../content/location';
import { Badge, Button, Icon, IconButton, type IconName, Spinner, Tabs, Time } from '../../ui';
import '../../style/files.css';
import '../../style/content/index.css';
import { isMarkdownPath } from '../../text/code/language';
import { useLoaded } from './use_loaded';
import { artifactHref, chosenArtifact } from './address';
import { Content } from './file_preview';

type Side = 'preview' | 'source';

/** What a browser shows as a page; other files are shown as the files tab shows them. */
const PAGE = /\.(?:x?html?|svg)$/i;

/** `news` changes when there may be something new to look at. */
export function ArtifactsTab({ sessionId, news }: { sessionId: string; news: string }): JSX.Element {
  const loaded = useLoaded<ArtifactView[]>(sessionId, () => http.get(pathOf(['sessions', sessionId, 'artifacts'])), news);
  const { value, error, again, busy } = loaded;
  if (error !== null) return <div class="ui-empty" role="alert"><p>{error.message}</p><Button onClick={again}>{t('common.retry')}</Button></div>;
  if (value === null) return <div class="ui-waiting"><Spinner size={24} label={t('common.loading')} /></div>;
  if (value.length === 0) return <div class="ui-empty"><Icon name="box" size={32} /><p>{t('files.noArtifacts')}</p><Button icon="refresh" busy={busy} onClick={again}>{t('files.lookAgain')}</Button></div>;
  const newest = [...value].reverse();
  const shown = value.find((each) => each.id === chosenArtifact.value) ?? null;
  return (
    <div class="files"><div class={shown === null ? 'files-both' : 'files-both files-looking'}>
      <div class="files-lists">
        <div class="files-bar"><h2>{t('files.artifacts')}</h2><IconButton icon="refresh" busy={busy} label={t('files.lookAgain')} onClick={again} /></div>
        <ul class="files-list files-artifacts">{newest.map((each) => <li key={each.id}><Row artifact={each} selected={each.id === shown?.id} /></li>)}</ul>
      </div>
      <div class="files-shown">
        {shown === null ? <div class="ui-empty"><Icon name="box" size={32} /><p>{t('files.chooseArtifact')}</p></div>
          : <Artifact key={`${shown.id} ${shown.version}`} artifact={shown} refresh={again} />}
      </div>
    </div></div>
  );
}

const ICONS: Readonly<Record<string, IconName>> = { image: 'image', web_app: 'globe', nextjs_app: 'globe', file: 'file' };

function Row({ artifact, selected }: { artifact: ArtifactView; selected: boolean }): JSX.Element {
  return (
    <a class="files-entry files-artifact" href={artifactHref(artifact.sessionId, artifact.id)} aria-current={selected ? 'true' : undefined}>
      <Icon name={ICONS[artifact.type] ?? 'file'} size={20} />
      <span><b><VisibleText text={artifact.name} /></b><small><VisibleText text={artifact.path} /></small></span>
      <small>{artifact.version > 1 && <Badge>{t('files.version', { n: artifact.version })}</Badge>} <Time at={artifact.updatedAt} /></small>
    </a>
  );
}

function Artifact({ artifact, refresh }: { artifact: ArtifactView; refresh: () => void }): JSX.Element {
  const isFile = artifact.type === 'file' || artifact.type === 'image';
  const hasSides = isFile && (PAGE.test(artifact.path) || isMarkdownPath(artifact.path));
  const [side, setSide] = useState<Side>('preview');
  const preview = safePreview(artifact.preview_url);
  const [live, setLive] = useState<string | null>(null);
  const address = live ?? preview;
  return (
    <article class="files-preview" aria-label={artifact.name}>
      <header class="files-preview-head">
        <a class="files-back ui-icon-button" href={artifactHref(artifact.sessionId)} aria-label={t('files.back')}><Icon name="arrow-left" /></a>
        <h2 title={artifact.path}><bdi><VisibleText text={artifact.name} /></bdi></h2>
        <IconButton icon="refresh" label={t('files.reloadPreview')} onClick={refresh} />
        {isFile && <a class="ui-icon-button" href={withBasePath(contentHref(artifact.sessionId, artifact.path))} download={artifact.name} aria-label={t('files.download')} title={t('files.download')}><Icon name="download" /></a>}
        {address !== null && <a class="ui-icon-button" href={address} target="_blank" rel="noopener noreferrer" aria-label={t('files.openInTab')} title={t('files.openInTab')}><Icon name="external" /></a>}
      </header>
      {hasSides && <Tabs label={t('files.sides')} selected={side} onSelect={setSide} tabs={[{ id: 'preview', label: t('files.preview') }, { id: 'source', label: t('files.source') }]} />}
      <div class="files-preview-body">
        {isFile && (side === 'source' || !PAGE.test(artifact.path))
          ? <Content address={contentHref(artifact.sessionId, artifact.path)} path={artifact.path} line={null} version={artifact.version} rendered={side === 'preview' && isMarkdownPath(artifact.path)} />
          : <Framed artifact={artifact} preview={preview} live={live} run={setLive} />}
      </div>
    </article>
  );
}

/** Only an address of the hub's own previews is ever framed. */
function safePreview(address: string | null): string | null {
  return address !== null && /^\/preview\/[0-9a-f]+\/[^\\]*$/.test(address) ? address : null;
}

interface FramedProps {
  artifact: ArtifactView;
  /** The address of the still preview; null where there is nothing to show. */
  preview: string | null;
  /** The address of the live one, once the reader asked for it. */
  live: string | null;
  run: (address: string | null) => void;
}

function Framed({ artifact, preview, live, run }: FramedProps): JSX.Element {
  if (preview === null) return <div class="ui-empty"><Icon name="box" size={32} /><p>{t('files.noPreview')}</p></div>;
  return (
    <>
      <LiveBar artifact={artifact} live={live !== null} run={run} />
      <iframe key={live ?? preview} class="files-frame" src={live ?? preview} sandbox={live === null ? '' : 'allow-scripts'} referrerpolicy="no-referrer" title={t('files.previewOf', { name: artifact.name })} loading="lazy" />
    </>
  );
}

/** Says whether the preview is still or live, and lets the reader run it. */
function LiveBar({ artifact, live, run }: Pick<FramedProps, 'artifact' | 'run'> & { live: boolean }): JSX.Element {
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<string | null>(null);
  const ask = (): void => {
    setBusy(true);
    http.post<PreviewAddress>(pathOf(['sessions', artifact.sessionId, 'artifacts', artifact.id, 'preview']), { live: true })
      .then((made) => run(safePreview(made.preview_url)), (error: unknown) => setFailed(asHubError(error).message))
      .finally(() => setBusy(false));
  };
  return (
    <div class="files-remote">
      <span role={failed === null ? 'status' : 'alert'}>{failed ?? t(live ? 'files.live' : 'files.still')}</span>
      {!live && <Button kind="quiet" busy={busy} onClick={ask}>{t('files.stillRun')}</Button>}
    </div>
  );
}
