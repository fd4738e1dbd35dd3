/** Tabs: one of several panels is shown. Left and right move between them. */
import type { ComponentChildren, JSX } from 'preact';
import { Icon, type IconName } from './icon';

export interface Tab<T extends string> {
  id: T;
  label: string;
  icon?: IconName;
  /** A number beside it. */
  count?: number;
}

interface TabsProps<T extends string> {
  label: string;
  tabs: readonly Tab<T>[];
  selected: T;
  onSelect: (id: T) => void;
  children?: ComponentChildren;
}

export function Tabs<T extends string>({ label, tabs, selected, onSelect }: TabsProps<T>): JSX.Element {
  const move = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const at = tabs.findIndex((tab) => tab.id === selected);
    const next = tabs.at((at + step) % tabs.length);
    if (!next) return;
    event.preventDefault();
    onSelect(next.id);
    (event.currentTarget as HTMLElement).querySelector<HTMLElement>(`[data-tab="${next.id}"]`)?.focus();
  };
  return (
    <div class="ui-tabs" role="tablist" aria-label={label} onKeyDown={move}>
      {tabs.map((tab) => (
        <button key={tab.id} type="button" role="tab" class="ui-tab" data-tab={tab.id} aria-selected={tab.id === selected}
          tabIndex={tab.id === selected ? 0 : -1} onClick={() => onSelect(tab.id)}>
          {tab.icon && <Icon name={tab.icon} size={16} />}
          <span>{tab.label}</span>
          {tab.count !== undefined && <span class="ui-tab-count">{tab.count}</span>}
        </button>
      ))}
    </div>
  );
}
