// What the agent thought aloud: closed, since few read it.

import type { JSX } from 'preact';
import { t } from '../../../i18n';
import { Markdown } from '../../../content/markdown/markdown';
import type { ThinkingItem } from '../../../model/timeline/items';
import { span } from '../../../ui';
import { Card, CardIcon } from './card';
import { useOpenRow } from '../view_state';
import { useRest } from './rest';

export function ThinkingRow({ item }: { item: ThinkingItem }): JSX.Element {
  const [open, toggle] = useOpenRow(item.key);
  const state = item.state.value;
  const rest = useRest(item);
  return (
    <Card icon={<CardIcon name="bulb" />} look={state.done ? 'thought' : 'thought session-live'} open={open} onToggle={toggle} title={titleOf(item)}>
      {() => <div class="session-thought">{state.redacted ? <p>{t('session.thoughtHidden')}</p> : <Markdown text={item.text.value} live={!state.done} rest={rest} />}</div>}
    </Card>
  );
}

function titleOf(item: ThinkingItem): string {
  const { done, endedAt } = item.state.value;
  if (!done) return t('session.thinking');
  const took = endedAt === undefined ? 0 : endedAt - item.at;
  return took >= 1_000 ? t('session.thoughtFor', { time: span(Math.round(took / 1_000) * 1_000).replace('.0 ', ' ') }) : t('session.thought');
}
