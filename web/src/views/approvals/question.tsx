import type { JSX } from 'preact';
import type { Pending } from '../../hub/sessions';

export function QuestionForm({ pending }: { pending: Pending }): JSX.Element {
  return <p>{pending.title}</p>;
}
