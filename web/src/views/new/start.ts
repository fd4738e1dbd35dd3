/**
 * Starting a session: the agent first, then its options, then the prompt.
 *
 * Rule 1: what was started is not started twice: a second try goes on where the first one failed.
 * Rule 2: where the answer was lost, the hub is asked what became of it before anything is started again. A prompt has a key, by which
 * the hub knows it again.
 */
import type { ContentBlock, NewSession, SessionPage, SessionView } from '../../generated/api';
import { asHubError, http, pathOf } from '../../hub/http';
import { newId } from '../../hub/outbox';
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
  private prompt = { words: '', key: '' };
  /** Nobody knows whether a session was made; these were there before. */
  private lost: ReadonlySet<string> | null = null;

  async run(plan: Plan): Promise<SessionView> {
    const where = JSON.stringify([plan.agent, plan.cwd, plan.mode]);
    if (where !== this.begun) this.forget();
    this.session ??= await this.create(plan);
    this.begun = where;
    const id = this.session.id;
    for (const [configId, value] of Object.entries(plan.options)) {
      await this.once(`option ${configId} ${value}`, () => http.post(pathOf(['sessions', id, 'config']), { configId, value }));
    }
    if (plan.prompt.length) await this.once('prompt', () => http.post(pathOf(['sessions', id, 'send-message']), { content: plan.prompt }, { 'Idempotency-Key': this.keyOf(plan.prompt) }));
    return this.session;
  }

  private async create({ agent, cwd, mode }: Plan): Promise<SessionView> {
    if (this.lost) {
      const { sessions } = await http.get<SessionPage>(pathOf(['sessions'], { limit: 50 }));
      const made = sessions.find((view) => !this.lost?.has(view.id) && view.agent === agent && isFolder(view.cwd, cwd) && view.turn === null && !view.lastText);
      if (made) return learnt(made);
    }
    const before = this.lost ?? new Set(store.sessions.peek().map((view) => view.id));
    const asked: NewSession = mode ? { agent, cwd, mode } : { agent, cwd };
    try {
      return learnt(await http.post<SessionView>('/sessions', asked));
    } catch (error) {
      const { code, status } = asHubError(error);
      this.lost = code === 'unreachable' || status >= 502 ? before : null;
      throw error;
    }
  }

  /** The same words are the same prompt. */
  private keyOf(prompt: ContentBlock[]): string {
    const words = JSON.stringify(prompt);
    if (this.prompt.words !== words) this.prompt = { words, key: newId() };
    return this.prompt.key;
  }

  /** Another agent or folder is another session. */
  private forget(): void {
    this.session = null;
    this.done.clear();
    if (this.begun) this.lost = null;
  }

  private async once(step: string, act: () => Promise<unknown>): Promise<void> {
    if (this.done.has(step)) return;
    await act();
    this.done.add(step);
  }
}

/** The hub writes a folder out; somebody may have typed it from their home on, or with a slash at its end. */
function isFolder(path: string, typed: string): boolean {
  const wanted = typed.replace(/\/+$/, '');
  return wanted.startsWith('~') ? path.endsWith(wanted.slice(1)) : path === wanted || path === typed;
}

function learnt(view: SessionView): SessionView {
  store.learn(view);
  return view;
}
