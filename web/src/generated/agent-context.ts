// The Agent Context Protocol 1.0.0 as TypeScript types. Generated from the code by `make docs`; do not edit.
// Optional means absent, never null. What Trunkline adds beyond the protocol rides in `_meta`.

export const ACP_VERSION = '1.0.0';
export const ACP_MIN_VERSION = '1.0.0';

export type SessionStatus = 'starting' | 'running' | 'thinking' | 'waiting_for_input' | 'waiting_for_approval' | 'paused' | 'idle' | 'completed' | 'error';

export type MessageRole = 'user' | 'assistant' | 'system';

export type ToolCategory = 'file_read' | 'file_write' | 'file_edit' | 'terminal' | 'search' | 'web' | 'git' | 'mcp' | 'agent' | 'other';

export type RiskLevel = 'low' | 'medium' | 'high' | 'critical';

export type IntegrationMethod = 'sdk' | 'http' | 'pty' | 'file-watch' | 'mcp';

export type ChangeType = 'created' | 'modified' | 'deleted';

export type TodoStatus = 'pending' | 'in_progress' | 'completed';

export type Resolver = 'user' | 'policy' | 'timeout';

/** What went wrong, for programs (`code`) and for people (`message`). */
export interface ACPError {
  code: string;
  message: string;
  recoverable: boolean;
  details?: unknown;
  agentCode?: string;
}

/** Tokens of one message or of a whole session. */
export interface TokenUsage {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens?: number;
  cacheWriteTokens?: number;
}

/** Money spent, in `currency` (ISO 4217). What it is made of is absent where nobody reported it. */
export interface CostBreakdown {
  total: number;
  input?: number;
  output?: number;
  currency: string;
}

/** One file of a finished session. */
export interface FileChangeSummary {
  path: string;
  changeType: ChangeType;
  linesAdded: number;
  linesRemoved: number;
}

/** What a finished session did. `duration` is milliseconds. */
export interface SessionSummary {
  filesChanged: FileChangeSummary[];
  tokenUsage: TokenUsage;
  cost?: CostBreakdown;
  duration: number;
  toolCallsCount: number;
  messagesCount: number;
  errorCount: number;
}

/** The agent program. */
export interface EnvironmentAgent {
  name: string;
  version: string;
  displayName: string;
}

/** The model behind the agent. */
export interface EnvironmentModel {
  id: string;
  displayName?: string;
  provider?: string;
}

/** What is being worked on. */
export interface EnvironmentProject {
  path: string;
  name: string;
  language?: string;
  framework?: string;
}

/** Where it runs. */
export interface EnvironmentRuntime {
  os: string;
  arch: string;
  nodeVersion?: string;
}

/** Agent, model, project and machine of a session. */
export interface EnvironmentContext {
  agent: EnvironmentAgent;
  model: EnvironmentModel;
  project: EnvironmentProject;
  runtime: EnvironmentRuntime;
}

/** What needs no person: yes, no, or a list of glob patterns. */
export interface AutoApprove {
  reads: boolean;
  writes: boolean | string[];
  commands: boolean | string[];
  searches: boolean;
}

/** A client's standing answer to approvals. */
export interface PermissionPolicy {
  autoApprove: AutoApprove;
}

/** Where an agent keeps its files. */
export interface AgentDataPaths {
  sessions?: string;
  config?: string;
  logs?: string;
}

/** A session that somebody else started; dates are ISO 8601. */
export interface DiscoveredSession {
  id: string;
  agent: string;
  projectPath: string;
  projectName: string;
  createdAt: string;
  lastActivity: string;
  lastMessage?: string | null;
  sessionName?: string | null;
}

/** A session appeared, changed or went away outside the hub. */
export interface SessionDiscoveryEvent {
  type: 'session_created' | 'session_removed' | 'session_updated';
  sessionId: string;
  agent: string;
}

/** What a client gives to start a session. */
export interface StartSessionOptions {
  projectPath: string;
  prompt: string;
  model?: string;
  agentOptions?: Record<string, unknown>;
}

/** One file of a `file:batch`. */
export interface FileBatchChange {
  path: string;
  changeType: ChangeType;
  diff?: string;
  linesAdded?: number;
  linesRemoved?: number;
}

/** One line of the todo list. */
export interface Todo {
  content: string;
  status: TodoStatus;
}

/** One hit of a code search. */
export interface SearchResult {
  file: string;
  line: number;
  content: string;
}

/** One hit of a web search. */
export interface WebSearchResult {
  title: string;
  url: string;
  snippet: string;
}

/** An image that goes with a message. */
export interface Attachment {
  type: 'image';
  url: string;
}

/** A command as it travels: sent again with the same `id`, it is not carried out again. */
export interface CommandEnvelope {
  id?: string;
  command: ACPCommand;
}

/** Who the agent is; `version` is null when it is not known. */
export interface AgentIdentity {
  name: string;
  displayName: string;
  icon: string;
  version: string | null;
  integrationMethod: IntegrationMethod;
}

/** What arrives piece by piece. */
export interface StreamingFeatures {
  messages: boolean;
  toolArgs: boolean;
  thinking: boolean;
}

/** Whether tool calls ask, and show what they would do. */
export interface ApprovalFeatures {
  toolCalls: boolean;
  preview: boolean;
}

/** Which commands steer a running session. */
export interface SessionControlFeatures {
  pause: boolean;
  resume: boolean;
  cancel: boolean;
}

/** Todo lists and plan mode. */
export interface PlanningFeatures {
  todos: boolean;
  planMode: boolean;
}

/** Which figures are reported. */
export interface ResourceFeatures {
  tokenUsage: boolean;
  costTracking: boolean;
  contextWindow: boolean;
}

/** How file changes are emitted. */
export interface FileOperationFeatures {
  diffs: boolean;
  batchedChanges: boolean;
}

/** Whether the agent asks and notifies. */
export interface UserInteractionFeatures {
  questions: boolean;
  notifications: boolean;
}

/** Every feature, spelled out. */
export interface Features {
  streaming: StreamingFeatures;
  approval: ApprovalFeatures;
  sessionControl: SessionControlFeatures;
  subAgents: boolean;
  planning: PlanningFeatures;
  resources: ResourceFeatures;
  fileOperations: FileOperationFeatures;
  git: boolean;
  webSearch: boolean;
  multimodal: boolean;
  userInteraction: UserInteractionFeatures;
  thinking: boolean;
  customEvents: string[];
}

/** The object a consumer adapts itself to. */
export interface ACPCapabilities {
  protocolVersion: string;
  agent: AgentIdentity;
  features: Features;
  _meta?: Record<string, unknown>;
}

/** Text of a message. */
export interface TextPart {
  type: 'text';
  text: string;
}

/** An image by URL (`data:` URLs included). */
export interface ImagePart {
  type: 'image';
  url: string;
  mimeType?: string;
}

/** The message calls a tool. */
export interface ToolUsePart {
  type: 'tool_use';
  toolCallId: string;
  name: string;
  input: unknown;
}

/** The message carries a tool's answer. */
export interface ToolResultPart {
  type: 'tool_result';
  toolCallId: string;
  content: string;
  isError?: boolean;
}

/** The tool changed a file. */
export interface FileDiffOutput {
  type: 'file_diff';
  path: string;
  diff: string;
  changeType: ChangeType;
}

/** The tool searched code. */
export interface SearchResultsOutput {
  type: 'search_results';
  results: SearchResult[];
}

/** The tool ran a command. */
export interface CommandOutput {
  type: 'command_output';
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** The tool fetched a page. */
export interface WebContentOutput {
  type: 'web_content';
  url: string;
  title?: string;
  summary?: string;
}

/** What an edit would change. */
export interface DiffPreview {
  type: 'diff';
  path: string;
  diff: string;
}

/** What would be run, and where. */
export interface CommandPreview {
  type: 'command';
  command: string;
  workingDir: string;
}

/** In words, where there is nothing better. */
export interface DescriptionPreview {
  type: 'description';
  text: string;
}

/** A commit was made. */
export interface GitCommit {
  kind: 'commit';
  hash: string;
  message: string;
  filesChanged: number;
}

/** A branch was made. */
export interface GitBranchCreate {
  kind: 'branch_create';
  name: string;
  from: string;
}

/** Another branch was checked out. */
export interface GitBranchSwitch {
  kind: 'branch_switch';
  name: string;
}

/** A pull request was opened. */
export interface GitPrCreate {
  kind: 'pr_create';
  number: number;
  title: string;
  url: string;
}

/** Commits went to a remote. */
export interface GitPush {
  kind: 'push';
  remote: string;
  branch: string;
}

/** Changes were put aside or taken back. */
export interface GitStash {
  kind: 'stash';
  action: 'pop' | 'push';
}

/** The web was searched. */
export interface WebSearch {
  kind: 'search';
  query: string;
  results?: WebSearchResult[];
}

/** A page was fetched. */
export interface WebFetch {
  kind: 'fetch';
  url: string;
  title?: string;
  statusCode?: number;
}

/** The agent is ready to work in a project. */
export interface SessionStartedEvent {
  type: 'session:started';
  seq: number;
  sessionId: string;
  timestamp: string;
  _meta?: Record<string, unknown>;
  agent: string;
  projectPath: string;
  projectName: string;
  model?: string;
  workingDirectory: string;
  environment?: EnvironmentContext;
}

/** An earlier session goes on. */
export interface SessionResumedEvent {
  type: 'session:resumed';
  seq: number;
  sessionId: string;
  timestamp: string;
  _meta?: Record<string, unknown>;
  previousSessionId?: string;
}

/** The session is held; `reason` says what exactly is. */
export interface SessionPausedEvent {
  type: 'session:paused';
  seq: number;
  sessionId: string;
  timestamp: string;
  _meta?: Record<string, unknown>;
  reason?: string;
}

/** The session is over. */
export interface SessionCompletedEvent {
  type: 'session:completed';
  seq: number;
  sessionId: string;
  timestamp: string;
  _meta?: Record<string, unknown>;
  summary: SessionSummary;
}

/** Something failed beyond one tool call. */
export interface SessionErrorEvent {
  type: 'session:error';
  seq: number;
  sessionId: string;
  timestamp: string;
  _meta?: Record<string, unknown>;
  error: ACPError;
}

/** The session's status moved. */
export interface SessionStatusChangedEvent {
  type: 'session:status_changed';
  seq: number;
  sessionId: string;
  timestamp: string;
  _meta?: Record<string, unknown>;
  from: SessionStatus;
  to: SessionStatus;
  reason?: string;
}

/** A message begins. */
export interface MessageStartEvent {
  type: 'message:start';
  seq: number;
  sessionId: string;
  timestamp: string;
  _meta?: Record<string, unknown>;
  messageId: string;
  role: MessageRole;
}

/** The next piece of a message; pieces concatenate. */
export interface MessageDeltaEvent {
  type: 'message:delta';
  seq: number;
  sessionId: string;
  timestamp: string;
  _meta?: Record<string, unknown>;
  messageId: string;
  role: MessageRole;
  delta: string;
}

/** The whole message. */
export interface MessageCompleteEvent {
  type: 'message:complete';
  seq: number;
  sessionId: string;
  timestamp: string;
  _meta?: Record<string, unknown>;
  messageId: string;
  role: MessageRole;
  content: MessageContent[];
  model?: string;
  stopReason?: string;
}

/** The agent begins to think aloud. */
export interface ThinkingStartEvent {
  type: 'thinking:start';
  seq: number;
  sessionId: string;
  timestamp: string;
  _meta?: Record<string, unknown>;
  messageId: string;
}

/** The next piece of a thought. */
export interface ThinkingDeltaEvent {
  type: 'thinking:delta';
  seq: number;
  sessionId: string;
  timestamp: string;
  _meta?: Record<string, unknown>;
  messageId: string;
  delta: string;
}

/** The whole thought. */
export interface ThinkingCompleteEvent {
  type: 'thinking:complete';
  seq: number;
  sessionId: string;
  timestamp: string;
  _meta?: Record<string, unknown>;
  messageId: string;
  content: string;
  redacted?: boolean;
}

/** A tool is going to be called. */
export interface ToolCallStartEvent {
  type: 'tool:start';
  seq: number;
  sessionId: string;
  timestamp: string;
  _meta?: Record<string, unknown>;
  toolCallId: string;
  name: string;
  category: ToolCategory;
  description?: string;
}

/** The next piece of the call's JSON arguments. */
export interface ToolCallArgsDeltaEvent {
  type: 'tool:args_delta';
  seq: number;
  sessionId: string;
  timestamp: string;
  _meta?: Record<string, unknown>;
  toolCallId: string;
  delta: string;
}

/** The input is known; the tool runs, or waits for approval. */
export interface ToolCallExecutingEvent {
  type: 'tool:executing';
  seq: number;
  sessionId: string;
  timestamp: string;
  _meta?: Record<string, unknown>;
  toolCallId: string;
  name: string;
  input: Record<string, unknown>;
  riskLevel: RiskLevel;
  requiresApproval: boolean;
}

/** The tool is done. `duration` is milliseconds. */
export interface ToolCallResultEvent {
  type: 'tool:result';
  seq: number;
  sessionId: string;
  timestamp: string;
  _meta?: Record<string, unknown>;
  toolCallId: string;
  name: string;
  output: string;
  duration: number;
  structured?: ToolStructuredOutput;
}

/** The tool failed or was not let run. */
export interface ToolCallErrorEvent {
  type: 'tool:error';
  seq: number;
  sessionId: string;
  timestamp: string;
  _meta?: Record<string, unknown>;
  toolCallId: string;
  name: string;
  error: ACPError;
  duration?: number;
}

/** Somebody has to decide before `expiresAt` (ISO 8601). */
export interface ApprovalRequestedEvent {
  type: 'approval:requested';
  seq: number;
  sessionId: string;
  timestamp: string;
  _meta?: Record<string, unknown>;
  requestId: string;
  toolCallId: string;
  toolName: string;
  toolInput: Record<string, unknown>;
  description: string;
  riskLevel: RiskLevel;
  expiresAt: string;
  preview?: ApprovalPreview;
}

/** It was decided, by whom and why. */
export interface ApprovalResolvedEvent {
  type: 'approval:resolved';
  seq: number;
  sessionId: string;
  timestamp: string;
  _meta?: Record<string, unknown>;
  requestId: string;
  toolCallId: string;
  approved: boolean;
  resolvedBy: Resolver;
  reason?: string;
}

/** One file changed. */
export interface FileChangeEvent {
  type: 'file:change';
  seq: number;
  sessionId: string;
  timestamp: string;
  _meta?: Record<string, unknown>;
  path: string;
  changeType: ChangeType;
  diff?: string;
  language?: string;
  linesAdded?: number;
  linesRemoved?: number;
  toolCallId?: string;
}

/** Several files changed together. */
export interface FileChangeBatchEvent {
  type: 'file:batch';
  seq: number;
  sessionId: string;
  timestamp: string;
  _meta?: Record<string, unknown>;
  changes: FileBatchChange[];
  description?: string;
  toolCallId?: string;
}

/** A child agent was given a task. */
export interface SubAgentSpawnedEvent {
  type: 'subagent:spawned';
  seq: number;
  sessionId: string;
  timestamp: string;
  _meta?: Record<string, unknown>;
  subAgentId: string;
  parentToolCallId: string;
  task: string;
  model?: string;
}

/** The child agent says how far it is (`progress` 0 to 100). */
export interface SubAgentProgressEvent {
  type: 'subagent:progress';
  seq: number;
  sessionId: string;
  timestamp: string;
  _meta?: Record<string, unknown>;
  subAgentId: string;
  message: string;
  progress?: number;
}

/** The child agent is done. */
export interface SubAgentCompletedEvent {
  type: 'subagent:completed';
  seq: number;
  sessionId: string;
  timestamp: string;
  _meta?: Record<string, unknown>;
  subAgentId: string;
  parentToolCallId: string;
  result: string;
  tokenUsage?: TokenUsage;
}

/** The whole todo list, as it is now. */
export interface TodoUpdateEvent {
  type: 'progress:todo_update';
  seq: number;
  sessionId: string;
  timestamp: string;
  _meta?: Record<string, unknown>;
  todos: Todo[];
}

/** Plan mode was entered or left. */
export interface PlanModeEvent {
  type: 'progress:plan_mode';
  seq: number;
  sessionId: string;
  timestamp: string;
  _meta?: Record<string, unknown>;
  active: boolean;
  plan?: string;
}

/** Something moves on. */
export interface ProgressEvent {
  type: 'progress:update';
  seq: number;
  sessionId: string;
  timestamp: string;
  _meta?: Record<string, unknown>;
  label: string;
  current?: number;
  total?: number;
  percentage?: number;
}

/** Tokens spent just now and in all. */
export interface TokenUsageEvent {
  type: 'resource:token_usage';
  seq: number;
  sessionId: string;
  timestamp: string;
  _meta?: Record<string, unknown>;
  messageId?: string;
  delta: TokenUsage;
  cumulative: TokenUsage;
}

/** Money spent just now and in all. */
export interface CostUpdateEvent {
  type: 'resource:cost';
  seq: number;
  sessionId: string;
  timestamp: string;
  _meta?: Record<string, unknown>;
  delta: CostBreakdown;
  cumulative: CostBreakdown;
}

/** How full the model's context is. */
export interface ContextWindowEvent {
  type: 'resource:context_window';
  seq: number;
  sessionId: string;
  timestamp: string;
  _meta?: Record<string, unknown>;
  used: number;
  limit: number;
  percentage: number;
}

/** The provider asks to wait; `retryAfter` is seconds here (the protocol names no unit). */
export interface RateLimitEvent {
  type: 'resource:rate_limit';
  seq: number;
  sessionId: string;
  timestamp: string;
  _meta?: Record<string, unknown>;
  retryAfter: number;
  limit: string;
  message?: string;
}

/** Where the session runs and on what. */
export interface EnvironmentInfoEvent {
  type: 'environment:info';
  seq: number;
  sessionId: string;
  timestamp: string;
  _meta?: Record<string, unknown>;
  context: EnvironmentContext;
}

/** The agent waits for an answer. */
export interface UserQuestionEvent {
  type: 'interaction:question';
  seq: number;
  sessionId: string;
  timestamp: string;
  _meta?: Record<string, unknown>;
  questionId: string;
  question: string;
  options?: string[];
  defaultValue?: string;
  expiresAt?: string;
}

/** The agent has news; no answer is expected. */
export interface NotificationEvent {
  type: 'interaction:notification';
  seq: number;
  sessionId: string;
  timestamp: string;
  _meta?: Record<string, unknown>;
  level: 'error' | 'info' | 'success' | 'warning';
  title: string;
  message: string;
  actionUrl?: string;
}

/** A commit, branch, push, pull request or stash. */
export interface GitOperationEvent {
  type: 'git:operation';
  seq: number;
  sessionId: string;
  timestamp: string;
  _meta?: Record<string, unknown>;
  operation: GitOperation;
  toolCallId?: string;
}

/** A web search or fetch. */
export interface WebOperationEvent {
  type: 'web:operation';
  seq: number;
  sessionId: string;
  timestamp: string;
  _meta?: Record<string, unknown>;
  operation: WebOperation;
  toolCallId?: string;
}

/** An extension; consumers skip namespaces they do not know. */
export interface CustomEvent {
  type: 'custom';
  seq: number;
  sessionId: string;
  timestamp: string;
  _meta?: Record<string, unknown>;
  namespace: string;
  eventName: string;
  data: Record<string, unknown>;
}

/** Say something to the agent. */
export interface SendMessageCommand {
  command: 'send_message';
  _meta?: Record<string, unknown>;
  message: string;
  attachments?: Attachment[];
}

/** Let the tool run. */
export interface ApproveToolCallCommand {
  command: 'approve_tool_call';
  _meta?: Record<string, unknown>;
  requestId: string;
  toolCallId: string;
}

/** Do not let the tool run. */
export interface DenyToolCallCommand {
  command: 'deny_tool_call';
  _meta?: Record<string, unknown>;
  requestId: string;
  toolCallId: string;
  reason?: string;
}

/** Answer what the agent asked. */
export interface AnswerQuestionCommand {
  command: 'answer_question';
  _meta?: Record<string, unknown>;
  questionId: string;
  answer: string;
}

/** Stop the running turn. */
export interface CancelCommand {
  command: 'cancel';
  _meta?: Record<string, unknown>;
}

/** Hold the session. */
export interface PauseCommand {
  command: 'pause';
  _meta?: Record<string, unknown>;
}

/** Go on, optionally with a prompt. */
export interface ResumeCommand {
  command: 'resume';
  _meta?: Record<string, unknown>;
  prompt?: string;
}

/** End the session. */
export interface TerminateCommand {
  command: 'terminate';
  _meta?: Record<string, unknown>;
}

/** Answer approvals by rule from now on. */
export interface SetPermissionPolicyCommand {
  command: 'set_permission_policy';
  _meta?: Record<string, unknown>;
  policy: PermissionPolicy;
}

export type MessageContent =
  | TextPart
  | ImagePart
  | ToolUsePart
  | ToolResultPart;

export type ToolStructuredOutput =
  | FileDiffOutput
  | SearchResultsOutput
  | CommandOutput
  | WebContentOutput;

export type ApprovalPreview =
  | DiffPreview
  | CommandPreview
  | DescriptionPreview;

export type GitOperation =
  | GitCommit
  | GitBranchCreate
  | GitBranchSwitch
  | GitPrCreate
  | GitPush
  | GitStash;

export type WebOperation =
  | WebSearch
  | WebFetch;

export type ACPEvent =
  | SessionStartedEvent
  | SessionResumedEvent
  | SessionPausedEvent
  | SessionCompletedEvent
  | SessionErrorEvent
  | SessionStatusChangedEvent
  | MessageStartEvent
  | MessageDeltaEvent
  | MessageCompleteEvent
  | ThinkingStartEvent
  | ThinkingDeltaEvent
  | ThinkingCompleteEvent
  | ToolCallStartEvent
  | ToolCallArgsDeltaEvent
  | ToolCallExecutingEvent
  | ToolCallResultEvent
  | ToolCallErrorEvent
  | ApprovalRequestedEvent
  | ApprovalResolvedEvent
  | FileChangeEvent
  | FileChangeBatchEvent
  | SubAgentSpawnedEvent
  | SubAgentProgressEvent
  | SubAgentCompletedEvent
  | TodoUpdateEvent
  | PlanModeEvent
  | ProgressEvent
  | TokenUsageEvent
  | CostUpdateEvent
  | ContextWindowEvent
  | RateLimitEvent
  | EnvironmentInfoEvent
  | UserQuestionEvent
  | NotificationEvent
  | GitOperationEvent
  | WebOperationEvent
  | CustomEvent;

export type ACPCommand =
  | SendMessageCommand
  | ApproveToolCallCommand
  | DenyToolCallCommand
  | AnswerQuestionCommand
  | CancelCommand
  | PauseCommand
  | ResumeCommand
  | TerminateCommand
  | SetPermissionPolicyCommand;

/** The events whose type begins so: `ACPEventByPrefix<'tool:'>`. */
export type ACPEventByPrefix<P extends string> = Extract<ACPEvent, { type: `${P}${string}` }>;

/** What every event has. */
export type ACPEventBase = Pick<ACPEvent, 'seq' | 'sessionId' | 'timestamp' | '_meta'>;
