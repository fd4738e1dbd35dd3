/** Words that go to the next line between each other only: in a command a hyphen begins an option. */
import { Fragment, type JSX } from 'preact';

export function Unbroken({ words }: { words: string }): JSX.Element {
  return <>{words.split(' ').map((word, index) => <Fragment key={index}>{index > 0 && ' '}<span class="ui-word">{word}</span></Fragment>)}</>;
}
