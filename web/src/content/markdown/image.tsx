// A picture that an agent shows.
//
// Rule 1: what is in the text itself, in the session's folder or on the hub is shown; a file that is not named like a picture is
// fetched on a click. A picture from elsewhere is a link that opens it there: the page loads nothing from other hosts, and its policy
// would not let it.
// Rule 2: a picture that cannot be shown says so.

import type { JSX } from 'preact';
import { useContext, useState } from 'preact/hooks';
import { withBasePath } from '../../hub/base_path';
import { t } from '../../i18n';
import { judgeLink, type JudgedLink } from '../../text/markdown/links';
import { Button, Icon } from '../../ui';
import '../../style/content/index.css';
import { REL } from './link';
import { contentHref, ContentFolder, useSessionId } from '../location';

const IN_TEXT = /^data:image\/(?:png|jpeg|gif|webp|avif|bmp|svg\+xml)[;,]/i;
const NAMED_LIKE_ONE = /\.(?:png|jpe?g|gif|webp|avif|bmp|svg|ico)$/i;
const OF_HUB = /^\/sessions\/[\w-]+\/(?:images\/\d+|files\/content\?path=[^#]*)$/;

export function Image({ src, alt = '', title }: { src: string; alt?: string; title?: string }): JSX.Element {
  const sessionId = useSessionId();
  const [broken, setBroken] = useState(false);
  const [large, setLarge] = useState(false);
  const [wanted, setWanted] = useState(false);
  const folder = useContext(ContentFolder);
  const isOwn = IN_TEXT.test(src) || OF_HUB.test(src);
  const link: JudgedLink = isOwn ? { kind: 'dead' } : judgeLink(src, '', folder);
  const address = isOwn ? src : addressOf(link, sessionId);
  if (address === null) return <Elsewhere link={link} alt={alt} />;
  if (!wanted && !isOwn && !isPicture(link)) return <Button kind="quiet" icon="image" onClick={() => setWanted(true)}>{t('content.showPicture', { name: alt || src })}</Button>;
  if (broken) return <span class="content-picture-missing"><Icon name="image" size={16} />{alt === '' ? t('content.pictureBroken') : t('content.pictureBrokenNamed', { name: alt })}</span>;
  return (
    <button type="button" class={large ? 'content-picture content-picture-large' : 'content-picture'} onClick={() => setLarge(!large)}
      aria-label={t(large ? 'content.pictureSmaller' : 'content.pictureLarger', { name: alt || t('content.picture') })}>
      <img src={withBasePath(address)} alt={alt} title={title} loading="lazy" decoding="async" referrerpolicy="no-referrer" onError={() => setBroken(true)} />
    </button>
  );
}

/** The address of a picture of the session's own folder, or null where it is from elsewhere. */
function addressOf(link: JudgedLink, sessionId: string | null): string | null {
  return link.kind === 'file' && sessionId !== null ? contentHref(sessionId, link.path) : null;
}

function isPicture(link: JudgedLink): boolean {
  return link.kind === 'file' && NAMED_LIKE_ONE.test(link.path);
}

function Elsewhere({ link, alt }: { link: JudgedLink; alt: string }): JSX.Element {
  if (link.kind !== 'web') return <span class="content-picture-missing"><Icon name="image" size={16} />{alt || t('content.pictureNone')}</span>;
  return (
    <a class="content-picture-elsewhere" href={link.href} target="_blank" rel={REL} title={link.href}>
      <Icon name="image" size={16} />
      <span>{alt !== '' && <b>{alt} </b>}{t('content.loadPicture', { host: link.host })}</span>
      <Icon name="external" size={12} label={t('content.opensElsewhere')} />
    </a>
  );
}
