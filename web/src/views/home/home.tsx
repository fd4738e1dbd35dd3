import type { JSX } from 'preact';
import { sessions } from '../../hub/sessions';

export function HomeView(): JSX.Element {
  return <ul>{sessions.value.map((view) => <li key={view.id}>{view.title}</li>)}</ul>;
}
