/** What was chosen last time, on this device: the agent, and what of each agent can be chosen. */

const AGENT = 'trunkline.agent';
const CHOICES = 'trunkline.choices.';

export function lastAgent(): string {
  return kept(AGENT);
}

/** By the option's id. */
export function lastChoices(agent: string): Record<string, string> {
  try {
    const found = JSON.parse(kept(CHOICES + agent) || '{}') as Record<string, unknown>;
    return Object.fromEntries(Object.entries(found).flatMap(([id, value]) => (typeof value === 'string' ? [[id, value]] : [])));
  } catch {
    return {};
  }
}

export function rememberChoices(agent: string, choices: Record<string, string>): void {
  try {
    localStorage.setItem(AGENT, agent);
    localStorage.setItem(CHOICES + agent, JSON.stringify(choices));
  } catch {
    // A browser that keeps nothing.
  }
}

function kept(name: string): string {
  try {
    return localStorage.getItem(name) ?? '';
  } catch {
    return '';
  }
}
