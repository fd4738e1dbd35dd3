/** What was chosen last time, on this device: the agent, what of each agent can be chosen, and the node of a cluster. */

const AGENT = 'trunkline.agent';
const CHOICES = 'trunkline.choices.';
const NODE = 'trunkline.node';

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

/** Empty: wherever there was room. */
export function lastNode(): string {
  return kept(NODE);
}

export function rememberChoices(agent: string, choices: Record<string, string>, node = ''): void {
  try {
    localStorage.setItem(AGENT, agent);
    localStorage.setItem(CHOICES + agent, JSON.stringify(choices));
    localStorage.setItem(NODE, node);
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
