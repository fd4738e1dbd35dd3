// A message: a person's words in a bubble, the agent's as the text of the page.

import type { JSX } from 'preact';
import type { ImagePart } from '../../../generated/agent-context';
import { whoIs } from '../../../hub/people';
import { t } from '../../../i18n';
import { Image } from '../../../content/markdown/image';
import { Markdown } from '../../../content/markdown/markdown';
import type { MessageItem } from '../../../model/timeline/items';
import { clockTime, Copy } from '../../../ui';
import { modelName } from '../../controls/agent_settings';
import { useSessionView } from '../view_state';
import { CopyLink } from './copy_link';
import { OwnText } from './own_text';
import { useRest } from './rest';

export function MessageRow({ item }: { item: MessageItem }): JSX.Element {
  return item.role === 'assistant' ? <AgentMessage item={item} /> : <PersonMessage item={item} />;
}

function AgentMessage({ item }: { item: MessageItem }): JSX.Element {
  const { done, images, model } = item.state.value;
  const { session } = useSessionView();
  return (
    <div class="session-said">
      <Markdown text={item.text.value} live={!done} rest={useRest(item)} />
      <Images images={images} />
      {done && (
        <div class="session-tools">
          <Copy text={() => item.text.peek()} label={t('session.copyMessage')} />
          <CopyLink seq={item.seq} />
          <time dateTime={new Date(item.at).toISOString()}>{clockTime(item.at)}</time>
          {model !== undefined && <span>{modelName(session.state.value.configOptions, model)}</span>}
        </div>
      )}
    </div>
  );
}

function PersonMessage({ item }: { item: MessageItem }): JSX.Element {
  const { images, by, replayed } = item.state.value;
  const text = item.text.value;
  const rest = useRest(item);
  return (
    <div class="session-asked">
      <div class="session-bubble">
        {text !== '' && <OwnText text={text} rowKey={item.key} rest={rest} />}
        <Images images={images} />
      </div>
      <div class="session-tools">
        {by !== undefined && <span class="session-by">{whoIs(by)}</span>}
        {replayed && <span>{t('session.replayed')}</span>}
        <time dateTime={new Date(item.at).toISOString()}>{clockTime(item.at)}</time>
        <Copy text={() => item.text.peek()} label={t('session.copyMessage')} />
        <CopyLink seq={item.seq} />
      </div>
    </div>
  );
}

function Images({ images }: { images: readonly ImagePart[] }): JSX.Element | null {
  if (images.length === 0) return null;
  return <div class="session-images">{images.map((image, index) => <Image key={index} src={image.url} alt={t('session.image', { n: index + 1 })} />)}</div>;
}
