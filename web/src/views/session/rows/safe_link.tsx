// A link that an agent gave: shown with the host that it really leads to, or not as a link at all.

import type { JSX } from 'preact';
import { judgeLink } from '../../../text/markdown/links';
import { Icon } from '../../../ui';

export function SafeLink({ url }: { url: string }): JSX.Element | null {
  const judged = judgeLink(url, url);
  if (judged.kind !== 'web') return null;
  return (
    <a class="session-out" href={judged.href} target="_blank" rel="noopener noreferrer nofollow" title={judged.href}>
      {judged.host}<Icon name="external" size={14} />
    </a>
  );
}
