// What the agent made: a list, and a live preview in a sandbox.
//
// Rule 1: a preview runs without an origin: `sandbox="allow-scripts"`, never `allow-same-origin`. It can reach nothing of the page.
// Rule 2: its address expires; it is asked for anew when the artifact changed or the reader asks.
// Rule 3: it loads nothing from elsewhere until the reader asks for that, which is an address of another kind. The next version, or
// coming back to it, begins without again.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ArtifactView, PreviewAddress } from '../../generated/api';
import { asHubError, http, pathOf } from '../../hub/http';
import { t } from '../../i18n';
import { Shown } from '../../matter';
import { contentHref } from '../../matter/place';
import { Badge, Button, Icon, IconButton, type IconName, Spinner, Tabs, Time } from '../../ui';
import '../../style/files.css';
import '../../style/matter.css';
import { isMarkdownPath } from '../../text/language';
import { useLoaded } from './load';
import { Content } from './preview';

type Side = 'preview' | 'source';

/** What a browser shows as a page; other files are shown as the files tab shows them. */
const PAGE = /\.(?:x?html?|svg)$/i;

export function ArtifactsTab({ sessionId }: { sessionId: string }): JSX.Element {
  const loaded = useLoaded<ArtifactView[]>(sessionId, () => http.get(pathOf(['sessions', sessionId, 'artifacts'])));
  const [chosen, setChosen] = useState<string | null>(null);
  const { value, error, again, busy } = loaded;
  if (error !== null) return <div class="ui-empty" role="alert"><p>{error.message}</p><Button onClick={again}>{t('common.retry')}</Button></div>;
  if (value === null) return <div class="ui-waiting"><Spinner size={24} label={t('common.loading')} /></div>;
  if (value.length === 0) return <div class="ui-empty"><Icon name="box" size={32} /><p>{t('files.noArtifacts')}</p><Button icon="refresh" busy={busy} onClick={again}>{t('files.lookAgain')}</Button></div>;
  const newest = [...value].reverse();
  const shown = value.find((each) => each.id === chosen) ?? null;
  return (
    <div class="files"><div class={shown === null ? 'files-both' : 'files-both files-looking'}>
      <div class="files-lists">
        <div class="files-bar"><h2>{t('files.artifacts')}</h2><IconButton icon="refresh" busy={busy} label={t('files.lookAgain')} onClick={again} /></div>
        <ul class="files-list files-artifacts">{newest.map((each) => <li key={each.id}><Row artifact={each} selected={each.id === shown?.id} choose={() => setChosen(each.id)} /></li>)}</ul>
      </div>
      <div class="files-shown">
        {shown === null ? <div class="ui-empty"><Icon name="box" size={32} /><p>{t('files.chooseArtifact')}</p></div>
          : <Artifact key={`${shown.id} ${shown.version}`} artifact={shown} back={() => setChosen(null)} refresh={again} />}
      </div>
    </div></div>
  );
}

const ICONS: Readonly<Record<string, IconName>> = { image: 'image', web_app: 'globe', nextjs_app: 'globe', file: 'file' };

function Row({ artifact, selected, choose }: { artifact: ArtifactView; selected: boolean; choose: () => void }): JSX.Element {
  return (
    <button type="button" class="files-entry files-artifact" aria-current={selected ? 'true' : undefined} onClick={choose}>
      <Icon name={ICONS[artifact.type] ?? 'file'} size={20} />
      <span><b><Shown text={artifact.name} /></b><small><Shown text={artifact.path} /></small></span>
      <small>{artifact.version > 1 && <Badge>{t('files.version', { n: artifact.version })}</Badge>} <Time at={artifact.updatedAt} /></small>
    </button>
  );
}

function Artifact({ artifact, back, refresh }: { artifact: ArtifactView; back: () => void; refresh: () => void }): JSX.Element {
  const isFile = artifact.type === 'file' || artifact.type === 'image';
  const hasSides = isFile && (PAGE.test(artifact.path) || isMarkdownPath(artifact.path));
  const [side, setSide] = useState<Side>('preview');
  const preview = safePreview(artifact.preview_url);
  return (
    <article class="files-preview" aria-label={artifact.name}>
      <header class="files-preview-head">
        <IconButton class="files-back" icon="arrow-left" label={t('files.back')} onClick={back} />
        <h2 title={artifact.path}><bdi><Shown text={artifact.name} /></bdi></h2>
        <IconButton icon="refresh" label={t('files.reloadPreview')} onClick={refresh} />
        {isFile && <a class="ui-icon-button" href={contentHref(artifact.sessionId, artifact.path)} download={artifact.name} aria-label={t('files.download')} title={t('files.download')}><Icon name="download" /></a>}
        {preview !== null && <a class="ui-icon-button" href={preview} target="_blank" rel="noopener noreferrer" aria-label={t('files.openInTab')} title={t('files.openInTab')}><Icon name="external" /></a>}
      </header>
      {hasSides && <Tabs label={t('files.sides')} selected={side} onSelect={setSide} tabs={[{ id: 'preview', label: t('files.preview') }, { id: 'source', label: t('files.source') }]} />}
      <div class="files-preview-body">
        {isFile && (side === 'source' || !PAGE.test(artifact.path))
          ? <Content address={contentHref(artifact.sessionId, artifact.path)} path={artifact.path} line={null} version={artifact.version} rendered={side === 'preview'} />
          : <Live artifact={artifact} preview={preview} />}
      </div>
    </article>
  );
}

/** Only an address of the hub's own previews is ever framed. */
function safePreview(address: string | null): string | null {
  return address !== null && /^\/preview\/[0-9a-f]+\/[^\\]*$/.test(address) ? address : null;
}

function Live({ artifact, preview }: { artifact: ArtifactView; preview: string | null }): JSX.Element {
  const [remote, setRemote] = useState<string | null>(null);
  if (preview === null) return <div class="ui-empty"><Icon name="box" size={32} /><p>{t('files.noPreview')}</p></div>;
  return (
    <>
      <RemoteBar artifact={artifact} allowed={remote !== null} allow={setRemote} />
      <iframe key={remote ?? preview} class="files-frame" src={remote ?? preview} sandbox="allow-scripts" referrerpolicy="no-referrer" title={t('files.previewOf', { name: artifact.name })} loading="lazy" />
    </>
  );
}

/** Says whether the preview may load from elsewhere, and lets the reader allow it. */
function RemoteBar({ artifact, allowed, allow }: { artifact: ArtifactView; allowed: boolean; allow: (address: string | null) => void }): JSX.Element {
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<string | null>(null);
  const ask = (): void => {
    setBusy(true);
    http.post<PreviewAddress>(pathOf(['sessions', artifact.sessionId, 'artifacts', artifact.id, 'preview']), { remote: true })
      .then((made) => allow(safePreview(made.preview_url)), (error: unknown) => setFailed(asHubError(error).message))
      .finally(() => setBusy(false));
  };
  return (
    <div class="files-remote">
      <span role={failed === null ? 'status' : 'alert'}>{failed ?? t(allowed ? 'files.remoteAllowed' : 'files.remoteBlocked')}</span>
      {!allowed && <Button kind="quiet" busy={busy} onClick={ask}>{t('files.remoteAllow')}</Button>}
    </div>
  );
}
