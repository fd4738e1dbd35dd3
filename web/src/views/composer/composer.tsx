import type { JSX } from 'preact';
import type { Story } from '../../model/story';

export function Composer({ story }: { story: Story }): JSX.Element {
  return <p>{String(story)}</p>;
}
