// How a session stands: its snapshot, kept true by events. Pure.
//
// Rule 1: what an event tells is taken from it; where it only tells that something changed, `needsSnapshot` says so.
// Rule 2: an event that says nothing about the view, such as a chunk, gives the same view back.

import type { ACPEvent, CustomEvent, SessionStatus } from '../generated/agent-context';
import type { QueuedPrompt, SessionState } from '../generated/api';
import { word } from './timeline/notices';

/** What an event says only a part of: the rest is in the next snapshot. */
const HALF_TOLD = new Set([
  'acp/available_commands_update', 'acp/config_option_update', 'trunkline/config_option_update', 'trunkline/rule_added', 'trunkline/limits_set',
  'trunkline/permission_policy_set', 'trunkline/session_attached', 'trunkline/artifact_created', 'agent/agent_session_changed',
]);

/** What the hub keeps of a title that an agent gives. */
const TITLE_MOST = 500;

export function needsSnapshot(event: ACPEvent): boolean {
  switch (event.type) {
    case 'approval:requested':
    case 'interaction:question':
    case 'session:started':
    case 'session:resumed':
    case 'session:paused':
      return true;
    case 'custom':
      return HALF_TOLD.has(`${event.namespace}/${event.eventName}`);
    default:
      return false;
  }
}

/** A view to begin with, of a session of which only the id is known. */
export function blank(sessionId: string): SessionState {
  return {
    id: sessionId, status: 'starting', agent: '', cwd: '', title: '', createdAt: '', updatedAt: '', lastSeq: 0, turn: null, pendingApprovals: [],
    pendingQuestions: [], queue: [], todos: [], usage: null, cost: null, mode: null, modes: null, configOptions: null, artifacts: 0, paused: null,
    caps: null, waits: {}, rules: [], permissionPolicy: null, tokens: null, agentInfo: null, agentStart: null, lastText: '', agentSessionId: null,
    watchOnly: false, commands: null, failed: null,
  } as unknown as SessionState;
}

export function advance(view: SessionState, event: ACPEvent): SessionState {
  const told = toldBy(view, event);
  return told === undefined ? view : { ...view, ...told, lastSeq: event.seq, updatedAt: event.timestamp };
}

function toldBy(view: SessionState, event: ACPEvent): Partial<SessionState> | undefined {
  switch (event.type) {
    case 'session:status_changed':
      return { status: event.to, ...(endsTurn(event.to, event._meta) ? { turn: null } : {}), ...(event.from === 'paused' ? { paused: null } : {}) };
    case 'session:error':
      return { turn: null, failed: { code: event.error.code, message: event.error.message, at: event.timestamp } };
    case 'session:resumed':
      return { paused: null };
    case 'session:started':
      return { agent: event.agent, cwd: event.workingDirectory };
    case 'progress:todo_update':
      return { todos: event.todos } as Partial<SessionState>;
    case 'resource:context_window':
      return { usage: { used: event.used, size: event.limit } };
    case 'resource:cost':
      return { cost: { amount: event.cumulative.total, currency: event.cumulative.currency, input: event.cumulative.input, output: event.cumulative.output } };
    case 'resource:token_usage':
      return { tokens: event.cumulative };
    case 'approval:resolved':
      return { pendingApprovals: view.pendingApprovals.filter((approval) => approval.requestId !== event.requestId) };
    case 'custom':
      return toldByCustom(view, event);
    default:
      return undefined;
  }
}

function endsTurn(to: SessionStatus, meta: Record<string, unknown> | undefined): boolean {
  return to === 'idle' || to === 'completed' || to === 'error' || meta?.['stopReason'] !== undefined;
}

function toldByCustom(view: SessionState, event: CustomEvent): Partial<SessionState> | undefined {
  const { data } = event;
  switch (`${event.namespace}/${event.eventName}`) {
    case 'trunkline/turn_started': {
      const turnId = word(data, 'turnId') ?? '';
      const turn = { turnId, startedAt: event.timestamp, by: word(event._meta, 'by') ?? '', seq: event.seq };
      return { turn, failed: null, queue: view.queue.filter((waiting) => waiting.turnId !== turnId) };
    }
    case 'trunkline/turn_ended':
      return { turn: null };
    case 'trunkline/prompt_queued':
      return { queue: [...view.queue, data as unknown as QueuedPrompt] };
    case 'trunkline/prompt_edited':
      return { queue: view.queue.map((waiting) => (waiting.turnId === data['turnId'] ? { ...waiting, content: data['content'] as QueuedPrompt['content'] } : waiting)) };
    case 'trunkline/prompt_dropped':
      return { queue: view.queue.filter((waiting) => waiting.turnId !== data['turnId']) };
    case 'trunkline/question_resolved':
      return { pendingQuestions: view.pendingQuestions.filter((question) => question.questionId !== data['questionId']) };
    case 'trunkline/session_renamed':
      return { title: word(data, 'title') ?? view.title };
    case 'acp/session_info_update':
      return word(data, 'title') !== undefined ? { title: word(data, 'title')!.slice(0, TITLE_MOST) } : undefined;
    case 'acp/current_mode_update': {
      const mode = word(data, 'currentModeId') ?? view.mode;
      return { mode, modes: view.modes && mode ? { ...view.modes, currentModeId: mode } : view.modes };
    }
    default:
      return undefined;
  }
}
