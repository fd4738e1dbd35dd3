// A link that an agent wrote, with the host that it really leads to.
//
// Rule 1: it opens elsewhere, without telling where it was clicked. Links to files of the session open the files tab.
// Rule 2: the true host stands beside it, unless its text is the address itself; a text that misleads is called out.

import type { ComponentChildren, JSX } from 'preact';
import { useContext } from 'preact/hooks';
import { t } from '../../i18n';
import { isOwnName, judgeLink, type Doubt, type JudgedLink } from '../../text/markdown/links';
import { Icon } from '../../ui';
import { fileHref, ContentFolder, useSessionId } from '../location';

export const REL = 'noopener noreferrer nofollow';

export function AgentLink({ address, shown, children }: { address: string; shown: string; children: ComponentChildren }): JSX.Element {
  const sessionId = useSessionId();
  const link = judgeLink(address, shown, useContext(ContentFolder));
  if (link.kind === 'dead') return <span class="content-dead" title={t('content.deadLink')}>{children}</span>;
  if (link.kind === 'file') return <FileLink sessionId={sessionId} path={link.path} line={link.line}>{children}</FileLink>;
  return <Away link={link} shown={shown}>{children}</Away>;
}

function Away({ link, shown, children }: { link: Extract<JudgedLink, { kind: 'web' | 'mail' }>; shown: string; children: ComponentChildren }): JSX.Element {
  const named = link.doubt === null && isOwnName(link.href, shown);
  return (
    <a class={link.doubt === null ? 'content-link' : 'content-link content-link-doubt'} href={link.href} target="_blank" rel={REL} title={link.href}>
      <bdi>{children}</bdi>
      {!named && <Host host={link.host} doubt={link.doubt} />}
      <Icon name="external" size={12} label={t('content.opensElsewhere')} />
    </a>
  );
}

function Host({ host, doubt }: { host: string; doubt: Doubt | null }): JSX.Element {
  if (doubt === null) return <span class="content-host">{host}</span>;
  return <span class="content-host content-host-doubt"><Icon name="warning" size={12} label={t('content.linkDoubt')} />{t('content.reallyLeadsTo', { host })}</span>;
}

/** A file of the session, in the files tab. */
export function FileLink({ sessionId, path, line, children }: { sessionId: string | null; path: string; line: number | null; children: ComponentChildren }): JSX.Element {
  if (sessionId === null) return <span title={path}>{children}</span>;
  return <a class="content-file-link" href={fileHref(sessionId, path, line)} title={line === null ? path : `${path}:${line}`}>{children}</a>;
}
