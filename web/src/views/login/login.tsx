import type { JSX } from 'preact';

export function LoginView(): JSX.Element {
  return <p />;
}
