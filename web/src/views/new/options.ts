/** What an agent lets one choose: known from its newest session, because an agent lists it only when it runs. Pure. */
import type { SessionConfigSelect, SessionConfigSelectEntry, SessionView } from '../../generated/api';

export interface Choice {
  /** `mode` for the agent's modes, else the id of its option. */
  id: string;
  name: string;
  isMode: boolean;
  values: { value: string; name: string; description: string }[];
}

export function choicesOf(agent: string, views: readonly SessionView[]): Choice[] {
  const newest = views.find((view) => view.agent === agent && (view.modes || view.configOptions));
  if (!newest) return [];
  const selects = (newest.configOptions ?? []).filter((option): option is SessionConfigSelect => option.type === 'select');
  const options = selects.map((option) => ({ id: option.id, name: option.name, isMode: false, values: flat(option.options) }));
  return selects.some((option) => option.category === 'mode') || !newest.modes ? options : [modesOf(newest), ...options];
}

/** Whether it has run here, so that what it lets one choose is known, be it nothing. */
export function hasRun(agent: string, views: readonly SessionView[]): boolean {
  return views.some((view) => view.agent === agent && view.agentSessionId && !view.watchOnly);
}

function modesOf(view: SessionView): Choice {
  const values = (view.modes?.availableModes ?? []).map((mode) => ({ value: mode.id, name: mode.name, description: mode.description ?? '' }));
  return { id: 'mode', name: '', isMode: true, values };
}

function flat(entries: readonly SessionConfigSelectEntry[]): Choice['values'] {
  return entries.flatMap((entry) => {
    if (entry.options) return flat(entry.options);
    return entry.value == null ? [] : [{ value: entry.value, name: entry.name, description: entry.description ?? '' }];
  });
}
