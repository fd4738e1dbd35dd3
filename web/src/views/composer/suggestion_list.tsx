/** The list above the composer: commands of the agent, or files. */
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { t } from '../../i18n';
import { Icon } from '../../ui';
import type { Suggested, Suggestion } from './suggestion_source';

interface SuggestionListProps {
  id: string;
  shown: Suggested;
  agent: string;
  onTake: (suggestion: Suggestion) => void;
}

export function SuggestionList({ id, shown, agent, onTake }: SuggestionListProps): JSX.Element {
  const isFile = shown.token.kind === 'file';
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' }), [shown.selected]);
  return (
    <div class="composer-suggestions">
      <ul id={id} role="listbox" ref={list} aria-label={isFile ? t('composer.files') : t('composer.commands', { agent })}>
        {shown.choices.map((choice, index) => (
          <li key={choice.word} id={`${id}-${index}`} role="option" aria-selected={index === shown.selected}
            onPointerDown={(event) => { event.preventDefault(); onTake(choice); }}>
            <Icon name={isFile ? 'file' : 'bolt'} size={14} />
            <span class="composer-word">{isFile ? choice.word : `/${choice.word}`}</span>
            {choice.description && <span class="composer-description">{choice.description}</span>}
          </li>
        ))}
      </ul>
      {!shown.choices.length && shown.state === 'known' && <p>{t(shown.token.query ? 'composer.noFiles' : 'composer.filesHint')}</p>}
    </div>
  );
}
