/**
 * Starting a session: the agent first, then its options, then the prompt.
 *
 * Rule 1: what was started is not started twice: a second try goes on where the first one failed.
 * Rule 2: a session and a prompt each have a key, by which the hub knows them again where its answer was lost.
 */
import type { ContentBlock, NewSession, SessionView } from '../../generated/api';
import { http, pathOf } from '../../hub/http';
import { newId } from '../../hub/outbox';
import { sessionList } from '../../hub/session_list';

/** What is asked for: nothing beyond the agent's settings, a sandbox, or one without network. */
export type SandboxChoice = '' | 'on' | 'offline';

interface SessionPlan {
  agent: string;
  /** The node of a cluster to run on; empty or absent: wherever there is room. */
  node?: string;
  cwd: string;
  mode: string;
  sandbox: SandboxChoice;
  /** Of the agent's options: what was chosen, by id. */
  options: Record<string, string>;
  prompt: ContentBlock[];
}

const SANDBOX: Record<SandboxChoice, Partial<NewSession>> = {
  '': {}, on: { sandbox: 'bwrap' }, offline: { sandbox: 'bwrap', sandboxNetwork: false },
};

export class Starting {
  session: SessionView | null = null;
  private readonly done = new Set<string>();
  private begun = '';
  private prompt = { words: '', key: '' };
  private key = newId();

  async run(plan: SessionPlan): Promise<SessionView> {
    const where = JSON.stringify([plan.agent, plan.node ?? '', plan.cwd, plan.mode, plan.sandbox]);
    if (where !== this.begun) this.forget();
    this.begun = where;
    this.session ??= await this.create(plan);
    const id = this.session.id;
    for (const [configId, value] of Object.entries(plan.options)) {
      await this.once(`option ${configId} ${value}`, () => http.post(pathOf(['sessions', id, 'config']), { configId, value }));
    }
    if (plan.prompt.length) await this.once('prompt', () => http.post(pathOf(['sessions', id, 'send-message']), { content: plan.prompt }, { 'Idempotency-Key': this.keyOf(plan.prompt) }));
    return this.session;
  }

  /** Where the answer is lost, the same key finds what was made. */
  private async create({ agent, node, cwd, mode, sandbox }: SessionPlan): Promise<SessionView> {
    const request: NewSession = { agent, cwd, ...(node && { node }), ...(mode && { mode }), ...SANDBOX[sandbox] };
    const view = await http.post<SessionView>('/sessions', request, { 'Idempotency-Key': this.key });
    sessionList.put(view);
    return view;
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
    this.key = newId();
  }

  private async once(step: string, act: () => Promise<unknown>): Promise<void> {
    if (this.done.has(step)) return;
    await act();
    this.done.add(step);
  }
}
