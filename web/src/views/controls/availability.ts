/**
 * Which control of a session can be used now, and if not, why: a button that does nothing lies.
 *
 * Rule: pure. A reason is a key of the texts, never an empty promise.
 */

export type Scope = 'view' | 'approve' | 'control' | 'admin';
export type Act = 'cancel' | 'pause' | 'resume' | 'terminate' | 'configure' | 'limits' | 'prompt';
export type Why = 'offline' | 'noScope' | 'away' | 'watchOnly' | 'noTurn' | 'cancelling' | 'paused' | 'notPaused' | 'over' | 'deleted';
export type ActState = { can: true } | { can: false; why: Why };

interface SessionFacts {
  status: string;
  turn: unknown;
  paused: unknown;
  watchOnly: boolean;
  /** Somebody else runs it, and yet it takes prompts and can be interrupted. */
  line: boolean;
}

const SCOPES: Scope[] = ['view', 'approve', 'control', 'admin'];

/** Whether a token of this scope may do what needs the other. */
export function mayDo(scope: Scope | null | undefined, needed: Scope): boolean {
  return scope != null && SCOPES.indexOf(scope) >= SCOPES.indexOf(needed);
}

/** Whether each act can be done now. Commands wait while the page is offline, so offline keeps only what is sent by HTTP. `away`: its node
 * of a cluster is, and takes nothing. */
export function actStates(session: SessionFacts, online: boolean, scope: Scope | null | undefined, away = false): Record<Act, ActState> {
  const over = session.status === 'completed';
  const deaf = session.watchOnly && !session.line;
  const usual = [!mayDo(scope, 'control') && 'noScope', away && 'away'] as const;
  return {
    cancel: first(...usual, deaf && 'watchOnly', !session.turn && 'noTurn', !online && 'offline'),
    pause: first(...usual, session.watchOnly && 'watchOnly', over && 'over', !!session.paused && 'paused', !online && 'offline'),
    resume: first(...usual, session.watchOnly && 'watchOnly', !session.paused && !over && 'notPaused', !online && 'offline'),
    terminate: first(...usual, session.watchOnly && 'watchOnly', over && 'over', !online && 'offline'),
    configure: first(...usual, session.watchOnly && 'watchOnly', !online && 'offline'),
    limits: first(...usual, session.watchOnly && 'watchOnly', !online && 'offline'),
    prompt: first(...usual, deaf && 'watchOnly'),
  };
}

function first(...reasons: (Why | false)[]): ActState {
  const why = reasons.find((reason): reason is Why => reason !== false);
  return why ? { can: false, why } : { can: true };
}
