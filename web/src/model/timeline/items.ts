// What the conversation is made of: one item per thing that a reader can point at.
//
// Rule 1: `key` never changes, whatever page of history an item was first seen in; positions, open cards and heights hang on it.
// Rule 2: what streams is a signal of the item's own, so that a chunk touches one item and never the list.
// Rule 3: the value in a signal is replaced, never changed in place.

import type { Signal } from '@preact/signals';
import type {
  ACPError, ApprovalRequestedEvent, ApprovalResolvedEvent, FileBatchChange, GitOperation, ImagePart, MessageRole, RiskLevel, TokenUsage,
  ToolCategory, ToolStructuredOutput, UserQuestionEvent, WebOperation,
} from '../../generated/agent-context';
import type { CarriedReading } from '../../generated/api';
import type { PartialOutput } from './tool_output';

interface ItemBase {
  readonly key: string;
  /** The entry that it began with, as far as it is loaded. */
  readonly seq: number;
  /** When it began, in milliseconds. */
  readonly at: number;
}

/** A message. `by` is who sent it, where it is a person's. */
export interface MessageItem extends ItemBase {
  readonly kind: 'message';
  readonly messageId: string;
  readonly role: MessageRole;
  readonly text: Signal<string>;
  readonly state: Signal<MessageState>;
}

/** A text that was too long for the event that completes it: how long all of it is, and where. */
export interface CutText {
  bytes: number;
  url: string;
}

interface MessageState {
  done: boolean;
  cut?: CutText | undefined;
  images: readonly ImagePart[];
  by?: string;
  model?: string;
  turnId?: string;
  /** Repeated by the agent, from before the hub knew it. */
  replayed?: boolean;
}

/** What the agent thought aloud. */
export interface ThinkingItem extends ItemBase {
  readonly kind: 'thinking';
  readonly messageId: string;
  readonly text: Signal<string>;
  readonly state: Signal<ThinkingState>;
}

interface ThinkingState {
  done: boolean;
  cut?: CutText | undefined;
  redacted: boolean;
  endedAt?: number;
}

/** One file that changed. A diff that was too long for its event is at `url`. */
export interface Change extends FileBatchChange {
  url?: string;
  /** Line numbers are those of the piece that was replaced. */
  fragment?: boolean;
}

type CallStatus = 'pending' | 'in_progress' | 'completed' | 'failed';

/** One call of a tool, from its first sign to its end. */
export interface ToolItem extends ItemBase {
  readonly kind: 'tool';
  readonly callId: string;
  /** The arguments as the model writes them, until the input is known. */
  readonly args: Signal<string>;
  readonly call: Signal<Call>;
  /** What it has put out so far, until its result has all of it. */
  readonly partialOutput: Signal<PartialOutput>;
}

export interface Call {
  status: CallStatus;
  name: string;
  category: ToolCategory;
  title?: string;
  input?: Record<string, unknown>;
  /** What the hub read out of its input (`_meta.reading`): the page looks into no input for it. */
  reading?: CarriedReading;
  risk?: RiskLevel;
  riskReason?: string;
  output?: string;
  structured?: ToolStructuredOutput;
  error?: ACPError;
  exitCode?: number;
  /** How long it took, without the wait for somebody's decision where that is known. */
  durationMs?: number;
  changes: readonly Change[];
  git: readonly GitOperation[];
  web: readonly WebOperation[];
  /** When it waited for a decision, from and to. */
  waited: readonly (readonly [number, number])[];
  /** What was decided about it, the last decision last. */
  decisions: readonly ApprovalResolvedEvent[];
  /** Somebody has to decide. */
  waits: boolean;
  /** Its turn is over and nobody knows how it ended. */
  abandoned: boolean;
}

/** A sub-agent with all that it did; it stands where the call that made it stood. */
export interface SubagentItem extends ItemBase {
  readonly kind: 'subagent';
  readonly callId: string;
  readonly tool: ToolItem | undefined;
  readonly state: Signal<SubagentState>;
  readonly children: Item[];
}

export interface SubagentState {
  task: string;
  description?: string;
  agentType?: string;
  model?: string;
  /** What it reported last. */
  lastMessage?: string;
  progress?: number;
  result?: string;
  tokens?: TokenUsage;
  done: boolean;
  failed: boolean;
}

/** The agent asks whether it may. */
export interface ApprovalItem extends ItemBase {
  readonly kind: 'approval';
  readonly requestId: string;
  readonly callId: string;
  readonly request: ApprovalRequestedEvent;
  readonly resolved: Signal<ApprovalResolvedEvent | undefined>;
}

/** The agent, or the hub, wants to know something. */
export interface QuestionItem extends ItemBase {
  readonly kind: 'question';
  readonly questionId: string;
  readonly request: UserQuestionEvent;
  readonly resolved: Signal<Answer | undefined>;
}

interface Answer {
  action: string;
  content?: Record<string, unknown>;
  by?: string;
  at: number;
}

export type NoticeTone = 'quiet' | 'info' | 'success' | 'warning' | 'error';

/** News that needs no answer. `name` says which words it is shown with; `aside`: only for who wants every detail. */
export interface NoticeItem extends ItemBase {
  readonly kind: 'notice';
  readonly name: string;
  readonly tone: NoticeTone;
  readonly aside: boolean;
  readonly state: Signal<NoticeState>;
}

export interface NoticeState {
  title?: string;
  text?: string;
  by?: string;
  url?: string;
  /** The approval that it reminds of. */
  ask?: string;
  /** When it is over (a wait), in milliseconds. */
  until?: number;
  data?: unknown;
}

/** Files that changed without a call that is known. */
export interface ChangesItem extends ItemBase {
  readonly kind: 'changes';
  readonly changes: readonly Change[];
  readonly text?: string;
}

/** A step in git worth seeing. */
export interface GitItem extends ItemBase {
  readonly kind: 'git';
  readonly operation: GitOperation;
  readonly callId?: string;
}

/** A web operation without a call that is known. */
export interface WebItem extends ItemBase {
  readonly kind: 'web';
  readonly operation: WebOperation;
}

/** The plan that the agent wants to follow. */
export interface PlanItem extends ItemBase {
  readonly kind: 'plan';
  readonly plan: Signal<string>;
}

/** A turn, or more than a turn, failed. */
export interface ErrorItem extends ItemBase {
  readonly kind: 'error';
  readonly error: ACPError;
  readonly turnId?: string;
  /** The prompt of the turn that failed. */
  readonly prompt?: string;
  /** The addresses of the pictures that went with it. */
  readonly pictures: readonly string[];
}

/** A turn ended, and what it took. */
export interface TurnEndItem extends ItemBase {
  readonly kind: 'turn_end';
  readonly turnId?: string;
  readonly stopReason: string;
  readonly empty: boolean;
  readonly durationMs?: number;
  readonly tokens?: TokenUsage;
  readonly cost?: number;
  readonly currency?: string;
  readonly filesChanged: number;
}

export type Item =
  | MessageItem | ThinkingItem | ToolItem | SubagentItem | ApprovalItem | QuestionItem | NoticeItem | ChangesItem | GitItem | WebItem
  | PlanItem | ErrorItem | TurnEndItem;
