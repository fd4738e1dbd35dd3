import type { JSX } from 'preact';
import type { Pending } from '../../hub/sessions';

export { QuestionForm } from './question';

export function ApprovalCard({ pending }: { pending: Pending }): JSX.Element {
  return <p>{pending.title}</p>;
}
