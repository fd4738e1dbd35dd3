// What somebody said: a person's words in a bubble, the agent's as the text of the page.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ImagePart } from '../../generated/agent-context';
import { t } from '../../i18n';
import { Markdown } from '../../matter/markdown';
import type { MessageItem } from '../../model/items';
import { Copy, Icon } from '../../ui';
import { clockTime } from './labels';
import { LinkTo } from './link_to';

export function MessageRow({ item }: { item: MessageItem }): JSX.Element {
  return item.role === 'assistant' ? <AgentMessage item={item} /> : <PersonMessage item={item} />;
}

function AgentMessage({ item }: { item: MessageItem }): JSX.Element {
  const { done, images, model } = item.state.value;
  return (
    <div class="session-said">
      <Markdown text={item.text.value} live={!done} />
      <Images images={images} />
      {done && (
        <div class="session-tools">
          <Copy text={() => item.text.peek()} label={t('session.copyMessage')} />
          <LinkTo seq={item.seq} />
          <time dateTime={new Date(item.at).toISOString()}>{clockTime(item.at)}</time>
          {model !== undefined && <span>{model}</span>}
        </div>
      )}
    </div>
  );
}

function PersonMessage({ item }: { item: MessageItem }): JSX.Element {
  const { images, by, replayed } = item.state.value;
  const text = item.text.value;
  return (
    <div class="session-asked">
      <div class="session-bubble">
        {text !== '' && <p class="session-plain">{text}</p>}
        <Images images={images} />
      </div>
      <div class="session-tools">
        {by !== undefined && <span class="session-by">{by}</span>}
        {replayed && <span>{t('session.replayed')}</span>}
        <time dateTime={new Date(item.at).toISOString()}>{clockTime(item.at)}</time>
        <Copy text={() => item.text.peek()} label={t('session.copyMessage')} />
        <LinkTo seq={item.seq} />
      </div>
    </div>
  );
}

function Images({ images }: { images: readonly ImagePart[] }): JSX.Element | null {
  if (images.length === 0) return null;
  return <div class="session-images">{images.map((image, index) => <Picture key={image.url.slice(0, 200)} url={image.url} n={index + 1} />)}</div>;
}

/** A picture of the hub's or in the event itself; one from anywhere else only when somebody asks for it. */
function Picture({ url, n }: { url: string; n: number }): JSX.Element {
  const [asked, setAsked] = useState(false);
  const own = isOwn(url);
  if (!own && !asked) {
    return (
      <button type="button" class="session-image-remote" onClick={() => setAsked(true)}>
        <Icon name="image" size={16} /> {t('session.imageRemote', { host: hostOf(url) })}
      </button>
    );
  }
  const shown = <img class="session-image" src={url} alt={t('session.image', { n })} loading="lazy" decoding="async" referrerpolicy="no-referrer" />;
  if (url.startsWith('data:')) return shown;
  return <a href={url} target="_blank" rel="noopener noreferrer" title={t('session.imageOpen')}>{shown}</a>;
}

function isOwn(url: string): boolean {
  if (/^data:image\//i.test(url)) return true;
  return url.startsWith('/') && !url.startsWith('//') && !url.startsWith('/\\');
}

function hostOf(url: string): string {
  try {
    return new URL(url).host || url.slice(0, 60);
  } catch {
    return url.slice(0, 60);
  }
}
