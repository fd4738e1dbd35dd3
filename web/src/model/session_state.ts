// The state of a session: its snapshot, kept true by events. Pure.
//
// Rule 1: what an event has is taken from it; where it only has that something changed, `needsSnapshot` is true.
// Rule 2: an event that changes nothing of it, such as a chunk, gives the same state back.

import type { ACPEvent, CustomEvent, SessionStatus } from '../generated/agent-context';
import type { QueuedPrompt, SessionState } from '../generated/api';
import { readText } from './timeline/event_fields';

/** Events that have only a part of what changed: the rest is in the next snapshot. */
const INCOMPLETE = new Set([
  'acp/available_commands_update', 'acp/config_option_update', 'trunkline/config_option_update', 'trunkline/rule_added', 'trunkline/limits_set',
  'trunkline/permission_policy_set', 'trunkline/session_attached', 'trunkline/session_taken_over', 'trunkline/session_given_back', 'trunkline/session_moved', 'trunkline/artifact_created', 'agent/agent_session_changed',
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
      return INCOMPLETE.has(`${event.namespace}/${event.eventName}`);
    default:
      return false;
  }
}

/** A state to begin with, of a session of which only the id is known. */
export function emptyState(sessionId: string): SessionState {
  return {
    id: sessionId, status: 'starting', agent: '', cwd: '', title: '', createdAt: '', updatedAt: '', lastSeq: 0, turn: null, pendingApprovals: [],
    pendingQuestions: [], queue: [], todos: [], usage: null, cost: null, mode: null, modes: null, configOptions: null, artifacts: 0, paused: null,
    caps: null, waits: {}, rules: [], permissionPolicy: null, tokens: null, agentInfo: null, agentStart: null, lastText: '', agentSessionId: null,
    watchOnly: false, line: false, resumeCommand: null, commands: null, failed: null, missed: null,
  } as unknown as SessionState;
}

/** Whether the hub has said anything about it yet. */
export function isKnown(state: SessionState): boolean {
  return state.agent !== '';
}

export function applyEvent(state: SessionState, event: ACPEvent): SessionState {
  const changes = changesOf(state, event);
  return changes === undefined ? state : { ...state, ...changes, lastSeq: event.seq, updatedAt: event.timestamp };
}

function changesOf(state: SessionState, event: ACPEvent): Partial<SessionState> | undefined {
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
      return { pendingApprovals: state.pendingApprovals.filter((approval) => approval.requestId !== event.requestId) };
    case 'custom':
      return customChangesOf(state, event);
    default:
      return undefined;
  }
}

function endsTurn(to: SessionStatus, meta: Record<string, unknown> | undefined): boolean {
  return to === 'idle' || to === 'completed' || to === 'error' || meta?.['stopReason'] !== undefined;
}

function customChangesOf(state: SessionState, event: CustomEvent): Partial<SessionState> | undefined {
  const { data } = event;
  switch (`${event.namespace}/${event.eventName}`) {
    case 'trunkline/turn_started': {
      const turnId = readText(data, 'turnId') ?? '';
      const turn = { turnId, startedAt: event.timestamp, by: readText(event._meta, 'by') ?? '', seq: event.seq };
      return { turn, failed: null, queue: state.queue.filter((waiting) => waiting.turnId !== turnId) };
    }
    case 'trunkline/turn_ended':
      return { turn: null };
    case 'trunkline/prompt_queued':
      return { queue: [...state.queue, data as unknown as QueuedPrompt] };
    case 'trunkline/prompt_edited':
      return { queue: state.queue.map((waiting) => (waiting.turnId === data['turnId'] ? { ...waiting, content: data['content'] as QueuedPrompt['content'] } : waiting)) };
    case 'trunkline/line_opened':
    case 'trunkline/line_lost':
      return { line: event.eventName === 'line_opened' };
    case 'trunkline/prompt_sent':
    case 'trunkline/prompt_dropped':
      return { queue: state.queue.filter((waiting) => waiting.turnId !== data['turnId']) };
    case 'trunkline/question_resolved':
      return { pendingQuestions: state.pendingQuestions.filter((question) => question.questionId !== data['questionId']) };
    case 'trunkline/session_moved':
      return { node: readText(data, 'to') ?? state.node };
    case 'trunkline/session_renamed':
      return { title: readText(data, 'title') ?? state.title };
    case 'acp/session_info_update':
      return readText(data, 'title') !== undefined ? { title: readText(data, 'title')!.slice(0, TITLE_MOST) } : undefined;
    case 'acp/current_mode_update': {
      const mode = readText(data, 'currentModeId') ?? state.mode;
      return { mode, modes: state.modes && mode ? { ...state.modes, currentModeId: mode } : state.modes };
    }
    default:
      return undefined;
  }
}
