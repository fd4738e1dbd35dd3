import type { JSX } from 'preact';

export function CodeView(props: { text: string; path?: string; firstLine?: number }): JSX.Element {
  return <pre>{JSON.stringify(props)}</pre>;
}
