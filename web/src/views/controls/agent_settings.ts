/**
 * What of the agent can be set: its mode, its model, and the rest.
 *
 * Rule: pure. An agent may tell its modes in two ways; they are shown once.
 */
import type { SessionConfigBoolean, SessionConfigSelect, SessionConfigSelectEntry, SessionModeState } from '../../generated/api';

type ConfigOption = SessionConfigSelect | SessionConfigBoolean;

interface Choice {
  value: string;
  name: string;
  description?: string;
  group?: string;
}

/** A choice among several: by which request it is made depends on where it came from. */
export interface Setting {
  by: 'mode' | 'config';
  id: string;
  name: string;
  current: string;
  choices: Choice[];
}

export interface Settings {
  mode: Setting | null;
  model: Setting | null;
  others: (Setting | SessionConfigBoolean)[];
}

export function settingsOf(modes: SessionModeState | null, mode: string | null, options: readonly ConfigOption[] | null, modeName: string): Settings {
  const selects = (options ?? []).filter((option): option is SessionConfigSelect => option.type === 'select').map(settingOf);
  const category = (name: string): Setting | null => {
    const at = (options ?? []).find((option) => option.type === 'select' && option.category === name);
    return at ? (selects.find((setting) => setting.id === at.id) ?? null) : null;
  };
  const own = modes?.availableModes.length ? modeSetting(modes, mode, modeName) : null;
  const shownMode = own ?? category('mode');
  const model = category('model');
  const hidden = new Set([shownMode?.id, model?.id, ...(own ? [category('mode')?.id] : [])]);
  const rest = (options ?? []).filter((option) => !hidden.has(option.id));
  return { mode: shownMode, model, others: rest.map((option) => (option.type === 'select' ? settingOf(option) : option)) };
}

/** What the agent calls one of its models; its id where it says nothing of it. */
export function modelName(options: readonly ConfigOption[] | null, id: string): string {
  return settingsOf(null, null, options, '').model?.choices.find((choice) => choice.value === id)?.name ?? id;
}

function modeSetting(modes: SessionModeState, mode: string | null, name: string): Setting {
  const choices = modes.availableModes.map((each) => ({ value: each.id, name: each.name, ...(each.description ? { description: each.description } : {}) }));
  return { by: 'mode', id: 'mode', name, current: mode ?? modes.currentModeId, choices };
}

function settingOf(option: SessionConfigSelect): Setting {
  return { by: 'config', id: option.id, name: option.name, current: option.currentValue, choices: option.options.flatMap((entry) => choicesOf(entry)) };
}

function choicesOf(entry: SessionConfigSelectEntry): Choice[] {
  if (entry.options) return entry.options.flatMap((inner) => choicesOf(inner).map((choice) => ({ ...choice, group: entry.name })));
  if (entry.value === undefined || entry.value === null) return [];
  return [{ value: entry.value, name: entry.name, ...(entry.description ? { description: entry.description } : {}) }];
}
