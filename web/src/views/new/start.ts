/**
 * Starting a session: the agent first, then its options, then the prompt.
 *
 * Rule: what was started is not started twice: a second try goes on where the first one failed.
 */
import type { ContentBlock, NewSession, SessionView } from '../../generated/api';
import { http, pathOf } from '../../hub/http';
import { store } from '../../hub/sessions';

export interface Plan {
  agent: string;
  cwd: string;
  mode: string;
  /** Of the agent's options: what was chosen, by id. */
  options: Record<string, string>;
  prompt: ContentBlock[];
}

export class Starting {
  session: SessionView | null = null;
  private readonly done = new Set<string>();
  private begun = '';

  async run(plan: Plan): Promise<SessionView> {
    const where = JSON.stringify([plan.agent, plan.cwd, plan.mode]);
    if (where !== this.begun) this.forget();
    this.session ??= await create(plan);
    this.begun = where;
    const id = this.session.id;
    for (const [configId, value] of Object.entries(plan.options)) {
      await this.once(`option ${configId} ${value}`, () => http.post(pathOf(['sessions', id, 'config']), { configId, value }));
    }
    if (plan.prompt.length) await this.once('prompt', () => http.post(pathOf(['sessions', id, 'send-message']), { content: plan.prompt }));
    return this.session;
  }

  /** Another agent or folder is another session. */
  private forget(): void {
    this.session = null;
    this.done.clear();
  }

  private async once(step: string, act: () => Promise<unknown>): Promise<void> {
    if (this.done.has(step)) return;
    await act();
    this.done.add(step);
  }
}

async function create({ agent, cwd, mode }: Plan): Promise<SessionView> {
  const asked: NewSession = mode ? { agent, cwd, mode } : { agent, cwd };
  const view = await http.post<SessionView>('/sessions', asked);
  store.learn(view);
  return view;
}
