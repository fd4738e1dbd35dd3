/** The commands of an agent that does not run here yet: its newest session has them, and only where it is asked for by itself. */
import { useSignal, type ReadonlySignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { SessionView } from '../../generated/api';
import { http, pathOf } from '../../hub/http';
import { sessions } from '../../hub/session_list';
import { commandsOf, type AgentCommand } from '../composer/suggestions';

export function useAgentCommands(agent: string): ReadonlySignal<AgentCommand[]> {
  const known = useSignal<AgentCommand[]>([]);
  const newest = sessions.value.find((view) => view.agent === agent)?.id;
  useEffect(() => {
    let isStale = false;
    known.value = [];
    if (newest !== undefined) {
      const take = (view: SessionView): void => {
        if (!isStale) known.value = commandsOf(view.commands as Record<string, unknown>[] | null);
      };
      void http.get<SessionView>(pathOf(['sessions', newest])).then(take, () => undefined); // then nothing is suggested
    }
    return () => {
      isStale = true;
    };
  }, [newest]);
  return known;
}
