// A picture that an agent shows.
//
// Rule 1: what is in the text itself, in the session's folder or on the hub is shown; a file that is not named like a picture is
// fetched on a click. A picture from elsewhere is a link that opens it there: the page loads nothing from other hosts, and its policy
// would not let it.
// Rule 2: a picture that did not load is tried again, as a busy hub or a lost line is none of its own faults. One that cannot be shown
// says so, and can be asked for once more.

import type { JSX } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { withBasePath } from '../../hub/base_path';
import { t } from '../../i18n';
import { judgeLink, type JudgedLink } from '../../text/markdown/links';
import { Button, Icon } from '../../ui';
import '../../style/content/index.css';
import { REL } from './link';
import { contentHref, ContentFolder, useSessionId } from '../location';

const IN_TEXT = /^data:image\/(?:png|jpeg|gif|webp|avif|bmp|svg\+xml)[;,]/i;
const NAMED_LIKE_ONE = /\.(?:png|jpe?g|gif|webp|avif|bmp|svg|ico)$/i;
/** Pauses before a picture is tried again. */
const AGAIN_MS = [500, 2_000];
const OF_HUB = /^\/sessions\/[\w-]+\/(?:images\/\d+|files\/content\?path=[^#]*)$/;

export function Image({ src, alt = '', title }: { src: string; alt?: string; title?: string }): JSX.Element {
  const sessionId = useSessionId();
  const { broken, tries, failed, again } = useTries();
  const [large, setLarge] = useState(false);
  const [wanted, setWanted] = useState(false);
  const folder = useContext(ContentFolder);
  const isOwn = IN_TEXT.test(src) || OF_HUB.test(src);
  const link: JudgedLink = isOwn ? { kind: 'dead' } : judgeLink(src, '', folder);
  const address = isOwn ? src : addressOf(link, sessionId);
  if (address === null) return <Elsewhere link={link} alt={alt} />;
  if (!wanted && !isOwn && !isPicture(link)) return <Button kind="quiet" icon="image" onClick={() => setWanted(true)}>{t('content.showPicture', { name: alt || src })}</Button>;
  if (broken) return <span class="content-picture-missing"><Icon name="image" size={16} />{alt === '' ? t('content.pictureBroken') : t('content.pictureBrokenNamed', { name: alt })} <Button kind="quiet" icon="refresh" onClick={again}>{t('common.retry')}</Button></span>;
  return (
    <button type="button" class={large ? 'content-picture content-picture-large' : 'content-picture'} onClick={() => setLarge(!large)}
      aria-label={t(large ? 'content.pictureSmaller' : 'content.pictureLarger', { name: alt || t('content.picture') })}>
      <img key={tries} src={withBasePath(address)} alt={alt} title={title} loading="lazy" decoding="async" referrerpolicy="no-referrer" onError={failed} />
    </button>
  );
}

/** How often it was tried, and what to do when it failed. */
function useTries(): { broken: boolean; tries: number; failed: () => void; again: () => void } {
  const [tries, setTries] = useState(0);
  const [broken, setBroken] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>();
  useEffect(() => () => clearTimeout(timer.current), []);
  const failed = (): void => {
    const pause = AGAIN_MS[tries];
    if (pause === undefined) setBroken(true);
    else timer.current = setTimeout(() => setTries(tries + 1), pause);
  };
  const again = (): void => {
    setTries(0);
    setBroken(false);
  };
  return { broken, tries, failed, again };
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
