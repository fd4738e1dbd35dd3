/** An agent's sign in a small square; its name is read out only where no text beside it says it. */
import type { JSX } from 'preact';
import { agentIcon, agentName } from '../hub/agents';

export function AgentSign({ name, size = 32, label }: { name: string; size?: number; label?: boolean }): JSX.Element {
  const style = { width: `${size}px`, height: `${size}px`, fontSize: `${Math.round(size * 0.5)}px` };
  const shown = label ? { role: 'img' as const, 'aria-label': agentName(name) } : { 'aria-hidden': true as const };
  return <span class="ui-agent" style={style} title={agentName(name)} {...shown}>{agentIcon(name)}</span>;
}
