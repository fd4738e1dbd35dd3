// The hub's HTTP API as TypeScript types. Generated from the code by `make docs`; do not edit.

import type {
  ACPCapabilities,
  ACPEvent,
  AgentDataPaths,
  ApprovalPreview,
  DiscoveredSession,
  PermissionPolicy,
  RiskLevel,
  SessionStatus,
  TokenUsage,
  ToolCategory,
} from './agent-context';

/** A prompt was taken. A reader that attaches after `seq` sees all of its turn. */
export interface Accepted {
  turnId: string;
  seq: number;
  queued: boolean;
}

/** An agent of the catalog. `version` is absent where it is not installed or does not say. */
export interface AdapterInfo {
  name: string;
  installed: boolean;
  version?: string;
  capabilities: ACPCapabilities;
  dataPaths: AgentDataPaths;
}

/** Sessions to attach to, newest activity first. */
export interface AdapterSessions {
  sessions: DiscoveredSession[];
}

/** An agent of the catalog as clients see it. */
export interface AgentInfo {
  name: string;
  displayName: string;
  icon: string;
  command: string[];
  docsUrl: string;
  installHint: string;
  loginHint: string;
  pick: string;
  envAllow: string[];
  installed: boolean;
  path: string | null;
  version: string | null;
  capabilities: unknown;
  asksPermission: boolean;
  sandbox: Sandboxed | null;
  resources: Resources;
  daemons: string[];
}

/** Hints on how to show a block, and to whom. */
export interface Annotations {
  _meta?: Record<string, unknown> | null;
  audience?: ('assistant' | 'user')[] | null;
  lastModified?: string | null;
  priority?: number | null;
}

/** An answer to a question. */
export interface Answer {
  action?: 'accept' | 'cancel' | 'decline';
  content?: Record<string, unknown> | null;
}

/** A permission that waits for a decision. */
export interface ApprovalView {
  requestId: string;
  toolCallId: string;
  toolName: string;
  title: string;
  description: string;
  riskLevel: RiskLevel;
  riskReason?: string;
  sure?: boolean;
  doubts?: string[];
  calls?: AskedCall[];
  options: PermissionOption[];
  toolInput: Record<string, unknown>;
  preview?: ApprovalPreview | null;
  acts?: ApprovalPreview[];
  inWords?: boolean;
  parts?: CommandPart[];
  about?: PolicyAsk | null;
  disk?: Disk | null;
  always?: Rule | null;
  noRule?: string;
  editable?: boolean;
  beyondTurn?: boolean;
  rulesAllow?: boolean;
  answerThere?: boolean;
  requestedAt: string;
  expiresAt: string;
}

/** A file or app that the agent made. `preview_url` keeps the name it has in the `artifact_created` packet. */
export interface ArtifactView {
  id: string;
  sessionId: string;
  type: string;
  name: string;
  path: string;
  preview_url: string | null;
  version: number;
  createdAt: string;
  updatedAt: string;
}

/** One of the calls that an ask is about which says nothing of its own. */
export interface AskedCall {
  toolCallId: string;
  toolName: string;
  description: string;
  command?: string | null;
  paths?: string[];
  riskLevel: RiskLevel;
  riskReason?: string;
  doubts?: string[];
  about?: PolicyAsk | null;
}

/** How to attach. `watch`: only follow what the agent writes elsewhere (false: go on with it here, or be refused); without */
export interface Attach {
  watch?: boolean | null;
  projectPath?: string | null;
}

/** A sound; `data` is base64. */
export interface AudioContent {
  type: 'audio';
  _meta?: Record<string, unknown> | null;
  data: string;
  mimeType: string;
  annotations?: Annotations | null;
}

/** A slash command of the agent. */
export interface AvailableCommand {
  _meta?: Record<string, unknown> | null;
  name: string;
  description: string;
  input?: AvailableCommandInput | null;
}

/** What may follow a slash command. */
export interface AvailableCommandInput {
  _meta?: Record<string, unknown> | null;
  hint: string;
}

/** `since` in UTC, microseconds; absent where nobody has ever said. */
export interface AwayView {
  away: boolean;
  since?: number;
  by?: string;
}

/** Whether there was a turn to cancel. */
export interface Cancelled {
  cancelled: boolean;
}

/** The limits of a session; what is absent has none. `cost` is in the currency that the agent reports. */
export interface Caps {
  tokens?: number | null;
  cost?: number | null;
  minutes?: number | null;
  turns?: number | null;
}

/** What `_meta.reading` of an event says of a call, for faces that would have to look into its input otherwise. */
export interface CarriedReading {
  category?: ToolCategory;
  role?: 'ask_user' | 'delete' | 'edit' | 'fetch' | 'mcp' | 'move' | 'patch' | 'plan' | 'read' | 'search' | 'task' | 'terminal' | 'think' | 'todos' | 'web_search' | 'write' | null;
  command?: string | null;
  paths?: string[];
  subject?: string;
  onlyRuns?: boolean;
}

/** What the session has changed so far, all its files together. */
export interface Changes {
  files: number;
  linesAdded: number;
  linesRemoved: number;
}

/** A code, and what the device calls itself. */
export interface Claim {
  code: string;
  name?: string | null;
}

/** The device is paired: its cookie comes with this answer, and counts below the path `base` only. `expiresAt` is in */
export interface Claimed {
  deviceId: string;
  name: string;
  scope: 'admin' | 'approve' | 'control' | 'view';
  expiresAt: number;
  base: string;
}

/** The cluster as one of its nodes sees it. */
export interface ClusterView {
  node: string;
  role: string;
  commit: string;
  generation: number;
  connected: boolean;
  nodes: NodeView[];
}

/** A one-time code and the path that logs a browser in with it. */
export interface Code {
  code: string;
  path: string;
  expiresInS: number;
}

/** A command was carried out: its own id, and what came of it. */
export interface CommandDone {
  id: string | null;
  result: Record<string, unknown>;
  ok: boolean;
}

/** A part of a line, in characters; a part inside another comes after it. `risk`: this is what makes it dangerous. */
export interface CommandPart {
  start: number;
  end: number;
  kind: 'argument' | 'flag' | 'operator' | 'path' | 'program' | 'redirect' | 'string' | 'substitution' | 'variable';
  risk?: RiskLevel;
}

/** Money spent in all; `input` and `output` are what is known of its parts. */
export interface Cost {
  amount: number;
  currency: string;
  input?: number;
  output?: number;
}

/** Something that cannot be read any more: entries `from` to `to` of a session; without them, more than entries. */
export interface DamageView {
  number: number;
  at: string;
  sessionId?: string;
  from?: number;
  to?: number;
  what: string;
}

/** An answer to an approval: one of the agent's options, or allow or deny; for how long; with which input. */
export interface Decision {
  optionId?: string | null;
  decision?: 'allow' | 'deny' | null;
  scope?: 'always' | 'once' | 'session' | 'turn';
  reason?: string | null;
  updatedInput?: Record<string, unknown> | null;
}

/** A paired device; times are seconds since the epoch. `current`: it is the one that asks. */
export interface DeviceView {
  id: string;
  name: string;
  scope: 'admin' | 'approve' | 'control' | 'view';
  createdAt: number;
  lastSeenAt: number | null;
  expiresAt: number | null;
  connected: boolean;
  push: boolean;
  current: boolean;
}

/** Every paired device, or, for who is no admin, this one. */
export interface Devices {
  devices: DeviceView[];
}

/** All changes as one unified diff; `base` is what they are measured against, null where there is nothing to compare. */
export interface Diff {
  base: 'HEAD' | 'call' | 'empty' | 'session' | null;
  files: FileDiff[];
  diff: string;
  truncated: boolean;
  reason: string | null;
}

/** What the disk said of the paths of an ask when it was asked: a rule decides later from the same. */
export interface Disk {
  real?: Record<string, string>;
  unknown?: string[];
  cut?: boolean;
}

/** Whether a node is to take no new sessions. */
export interface Drain {
  draining?: boolean;
}

/** What a waiting prompt says from now on. */
export interface EditQueued {
  content: string | ContentBlock[];
}

/** A resource with its body. */
export interface EmbeddedResource {
  type: 'resource';
  _meta?: Record<string, unknown> | null;
  resource: ResourceContents;
  annotations?: Annotations | null;
}

/** What every error answers with: `code` is for programs, `message` for people. */
export interface ErrorBody {
  code: string;
  message: string;
  recoverable: boolean;
  details?: Record<string, unknown> | null;
  agentCode?: string | null;
}

/** A page of events. `nextAfter` is the cursor of the next page, null at the end; a page that was filtered may be empty */
export interface EventPage {
  events: ACPEvent[];
  nextAfter: number | null;
  nextBefore: number | null;
  lastSeq: number;
}

/** What would happen, which rule says so, and why; and how the call was read: its tool and category as in events, its command, */
export interface Explanation {
  action: 'allow' | 'ask' | 'deny';
  source: 'cluster policy' | 'default' | 'permission policy' | 'policy file' | 'session';
  why: string;
  rule: Rule | null;
  risk: RiskLevel;
  riskReason: string;
  considered: RuleLookedAt[];
  tool: string;
  category: ToolCategory;
  command: string | null;
  paths: string[];
  doubts: string[];
  pieces: Piece[];
  node: string;
}

/** How the last turn broke off. */
export interface Failure {
  code: string;
  message: string;
  at: string;
}

/** One changed file. */
export interface FileDiff {
  path: string;
  status: 'added' | 'deleted' | 'modified';
  additions: number;
  deletions: number;
}

/** A file or folder. `path` goes into `?path=`; `size` and `mimeType` are null for folders. */
export interface FileEntry {
  name: string;
  path: string;
  isDirectory: boolean;
  size: number | null;
  mimeType: string | null;
  modifiedAt: string;
  isSymlink: boolean;
}

/** A folder: folders first, then by name, ignoring case. */
export interface FileList {
  path: string;
  entries: FileEntry[];
  truncated: boolean;
}

/** Files whose path contains what was asked for, the best match first. */
export interface FilesFound {
  query: string;
  files: FileEntry[];
  truncated: boolean;
}

/** A folder. `isProject` says that it is under version control; `hidden` that its name begins with a dot. */
export interface Folder {
  name: string;
  path: string;
  hidden: boolean;
  isSymlink: boolean;
  isProject: boolean;
}

/** A folder's folders, hidden ones last, and the recent ones; `parent` is null at the top, `branch` where there is no git. */
export interface FolderPage {
  path: string;
  parent: string | null;
  home: string;
  folders: Folder[];
  truncated: boolean;
  recent: RecentFolder[];
  branch: string | null;
}

/** How a branch begins: in another folder, under another title, or as its source. */
export interface Fork {
  cwd?: string | null;
  title?: string | null;
}

/** Sessions that other programs wrote and the hub does not have, newest activity first. `revision` goes into `?after=`. */
export interface FoundPage {
  sessions: FoundView[];
  revision: number;
  missing?: string[];
}

/** A session that another program wrote, as clients see it: it is not the hub's until somebody joins it. */
export interface FoundView {
  id: string;
  agent: string;
  cwd: string;
  project: string;
  title: string;
  createdAt: string;
  updatedAt: string;
  lastText: string;
  running: boolean;
  pid: number | null;
  model: string | null;
  tokens: number | null;
  resumeCommand: string | null;
  where: 'elsewhere';
  node?: string;
}

/** Who has a session, and how it changes hands. */
export interface HandoverView {
  sessionId: string;
  here: boolean;
  running: boolean;
  pid: number | null;
  ways: Way[];
  resumeCommand: string | null;
  canGiveBack: boolean;
}

/** Somebody is there. */
export interface Health {
  status: string;
}

/** An image; `data` is base64. */
export interface ImageContent {
  type: 'image';
  _meta?: Record<string, unknown> | null;
  data: string;
  mimeType: string;
  uri?: string | null;
  annotations?: Annotations | null;
}

/** The state of the journal. `asides` are damaged files that were put aside; `unwritable` is why nothing can be stored. */
export interface JournalView {
  state: 'hurt' | 'unwritable' | 'whole';
  damages: DamageView[];
  asides: string[];
  unwritable: string | null;
}

/** Who is to have a session. */
export interface LetGo {
  to: string;
  force?: boolean;
}

/** What the browser may do, and until when (seconds since the epoch). Its cookie counts below the path `base` only. */
export interface LoggedIn {
  scope: 'admin' | 'approve' | 'control' | 'view';
  expiresAt: number;
  base: string;
}

/** What lets a browser in: a one-time code, or a token. */
export interface Login {
  code?: string | null;
  token?: string | null;
}

/** A new token; `secret` is shown here and never again. */
export interface MadeToken {
  secret: string;
  token: TokenView;
}

/** Where a session is to go on. */
export interface Move {
  node: string;
  force?: boolean;
}

/** The person leaves, or is back. */
export interface NewAway {
  away: boolean;
}

/** What the browser that uses the code may do. */
export interface NewCode {
  scope?: 'admin' | 'approve' | 'control' | 'view';
}

/** What is absent stays as it is. `caps` replaces all caps: one that it does not name is lifted. */
export interface NewLimits {
  caps?: Caps | null;
  waits?: NewWaits | null;
}

/** What the device that uses the code may do, and what it is called unless it says so itself. */
export interface NewPairing {
  scope?: 'admin' | 'approve' | 'control' | 'view';
  name?: string | null;
}

/** The policy to be: the file's text, or its rules and the protocol's own policy. */
export interface NewPolicy {
  text?: string | null;
  rules?: NewRule[] | null;
  autoApprove?: PermissionPolicy | null;
}

/** How an artifact is to be shown. `live`: its scripts run, and it may load scripts, styles, pictures and fonts from */
export interface NewPreview {
  live?: boolean;
}

/** A rule as a client sends it. */
export interface NewRule {
  action: 'allow' | 'ask' | 'deny';
  category?: ToolCategory[];
  tool?: string[];
  path?: string[];
  command?: string[];
  agent?: string[];
  risk?: RiskLevel[];
  input?: string | null;
  root?: string | null;
  node?: string[];
  expiresAt?: string | null;
  session?: string | null;
  turn?: string | null;
  savedBy?: string | null;
  reason?: string | null;
  id?: string | null;
}

/** What a client gives to start a session. */
export interface NewSession {
  agent: string;
  cwd: string;
  title?: string | null;
  mcpServers?: unknown[];
  mode?: string | null;
  prompt?: string | ContentBlock[];
  env?: Record<string, string>;
  sandbox?: 'bwrap' | 'none' | null;
  sandboxNetwork?: boolean | null;
  resources?: Resources;
  node?: string | null;
  pool?: string | null;
  labels?: Record<string, string>;
}

/** A browser's subscription as `PushSubscription.toJSON()` gives it, and which events it wants to be sent. */
export interface NewSubscription {
  endpoint: string;
  keys: PushKeys;
  kinds?: ('approval' | 'failed' | 'finished' | 'question')[];
  expirationTime?: number | null;
}

/** A token to make. */
export interface NewToken {
  name: string;
  scope: 'admin' | 'approve' | 'control' | 'view';
  expiresInS?: number | null;
}

/** How long approvals wait, and what the agent is told when nobody answered. Null: as the hub is set. */
export interface NewWaits {
  approvalS?: number | null;
  onTimeout?: 'cancel' | 'reject' | null;
}

/** A node of the cluster as clients see it. */
export interface NodeView {
  node: string;
  role: string;
  pool: string;
  labels: Record<string, string>;
  version: string;
  sessions: number;
  running: number;
  lag: number;
  late: Record<string, number>;
  draining: boolean;
  taken: number;
  aside: number;
  away?: string;
  gone: boolean;
  heardAt?: string;
}

/** A one-time code and the address that pairs whoever opens it. `reach` says from where that address can be opened; */
export interface Pairing {
  code: string;
  url: string;
  expiresAt: number;
  scope: 'admin' | 'approve' | 'control' | 'view';
  reach: 'machine' | 'network' | 'public';
  secure: boolean;
}

/** Somebody holds the session. `held` says what waits: the next permission, the queue, the turn. */
export interface Pause {
  since: string;
  by: string;
  reason: string | null;
  held: string[];
}

/** An approval or a question that waits for somebody, and the session it waits in. */
export interface PendingAsk {
  sessionId: string;
  agent: string;
  title: string;
  cwd: string;
  approval?: ApprovalView;
  question?: QuestionView;
}

/** Approvals and questions that wait, the one that expires first at the top. */
export interface PendingAsks {
  pending: PendingAsk[];
}

/** One answer the agent offers; chosen by `option_id`, never by position. */
export interface PermissionOption {
  optionId: string;
  name: string;
  kind: string;
}

/** One simple command of a line, as rules see it. */
export interface Piece {
  text: string;
  also?: string[];
  runs?: string[];
  runsUnknown?: boolean;
  changing?: string[];
  doubt?: string;
}

/** What an agent wants to do, as far as a policy cares. `paths` are as the agent wrote them, or real ones. */
export interface PolicyAsk {
  tool: string;
  category: ToolCategory;
  toldAs?: ToolCategory | null;
  agent: string;
  risk: RiskLevel;
  paths?: string[];
  globs?: string[];
  command?: string | null;
  claimed?: string;
  root: string;
  sessionId?: string;
  turnId?: string | null;
  cwd?: string | null;
  roots?: string[];
  home?: string | null;
  guarded?: string[];
  riskReason?: string;
  doubts?: string[];
  onlyLooks?: boolean;
  input?: string;
}

/** Every ask that waits and that another policy would answer. */
export interface PolicyPreview {
  answers: RuleAnswer[];
}

/** The policy in force and the file as it is. `problem` says why these are not the same, null when they are; `text` is */
export interface PolicyView {
  text: string;
  rules: Rule[];
  autoApprove: PermissionPolicy | null;
  problem: string | null;
  path: string | null;
  version: string;
  lastGood: string | null;
  of: 'cluster' | 'node';
  node: string | null;
}

/** Where an artifact can be seen for a while; null for an app without static output. */
export interface PreviewAddress {
  preview_url: string | null;
}

/** The hub's public key (`applicationServerKey`), which events there are, and the caller's own subscription. */
export interface PushInfo {
  publicKey: string;
  kinds: ('approval' | 'failed' | 'finished' | 'question')[];
  subscription: SubscriptionView | null;
}

/** What a message for this browser is encrypted with, base64url: its public key and its secret. */
export interface PushKeys {
  p256dh: string;
  auth: string;
}

/** What an agent might want: a command, a change of a path, or a call of a tool with its input. */
export interface Question {
  command?: string | null;
  path?: string | null;
  tool?: string | null;
  kind?: string | null;
  input?: Record<string, unknown> | null;
  title?: string;
  agent?: string;
  cwd?: string | null;
  sessionId?: string | null;
}

/** A question that waits for an answer; `schema` is the form's JSON Schema. */
export interface QuestionView {
  questionId: string;
  question: string;
  options?: string[] | null;
  schema?: Record<string, unknown>;
  url?: string | null;
  toolCallId?: string | null;
  cap?: string | null;
  beyondTurn?: boolean;
  askedAt: string;
  expiresAt?: string;
}

/** A prompt that waits for its turn. `content` are ACP content blocks. */
export interface QueuedPrompt {
  turnId: string;
  content: ContentBlock[];
  queuedAt: string;
  by: string;
}

/** The hub can take work: the journal answers and can be written. `busy` while a turn runs or an approval waits; */
export interface Readiness {
  status: string;
  version: string;
  busy: boolean;
  streams: number;
  playground: string;
}

/** A folder that sessions worked in. */
export interface RecentFolder {
  name: string;
  path: string;
  sessions: number;
  lastUsedAt: string;
}

/** A new title. */
export interface Rename {
  title: string;
}

/** A resource's body: `text`, or `blob` in base64 (the schema's TextResourceContents and BlobResourceContents). */
export interface ResourceContents {
  _meta?: Record<string, unknown> | null;
  uri: string;
  text?: string | null;
  blob?: string | null;
  mimeType?: string | null;
}

/** A thing the agent can fetch itself. */
export interface ResourceLink {
  type: 'resource_link';
  _meta?: Record<string, unknown> | null;
  uri: string;
  name: string;
  mimeType?: string | null;
  title?: string | null;
  description?: string | null;
  size?: number | null;
  annotations?: Annotations | null;
}

/** Limits of one agent; what is None has none. */
export interface Resources {
  memoryMb?: number | null;
  processes?: number | null;
  files?: number | null;
}

/** Allow, ask or deny what fits every list that is not empty; `session`, `turn` and `expires_at` bound its life. */
export interface Rule {
  action: 'allow' | 'ask' | 'deny';
  category?: ToolCategory[];
  tool?: string[];
  path?: string[];
  command?: string[];
  agent?: string[];
  risk?: RiskLevel[];
  input?: string | null;
  root?: string | null;
  node?: string[];
  expiresAt?: string | null;
  session?: string | null;
  turn?: string | null;
  savedBy?: string | null;
  reason?: string | null;
  id?: string | null;
}

/** One ask that a rule would answer, and how. */
export interface RuleAnswer {
  requestId: string;
  sessionId: string;
  description: string;
  decision: 'allow' | 'deny';
}

/** A decision for longer than once that somebody thinks of. */
export interface RuleDecision {
  decision: 'allow' | 'deny';
  scope?: 'always' | 'session' | 'turn';
}

/** A rule in the order in which it counts; `why` says what stands against it. */
export interface RuleLookedAt {
  rule: Rule;
  source: 'cluster policy' | 'default' | 'permission policy' | 'policy file' | 'session';
  fits: boolean;
  why: string;
}

/** The rule that a decision for longer than once would save, and every ask that it would answer: its own, and others. */
export interface RulePreview {
  rule: Rule;
  answers: RuleAnswer[];
}

/** The sandbox that a session's agent and commands run in. */
export interface Sandboxed {
  kind: 'bwrap';
  network: boolean;
}

/** A passage that matches. `kind` is title, user, assistant or tool; `seq` is its entry, 0 for a title. */
export interface SearchHit {
  sessionId: string;
  title: string;
  agent: string;
  cwd: string;
  kind: string;
  seq: number;
  at: string;
  snippet: SnippetPart[];
  url: string;
  node?: string;
}

/** The best matches, best first. Without `complete` the index is still reading: the same search finds more later. */
export interface SearchPage {
  query: string;
  hits: SearchHit[];
  complete: boolean;
  missing?: string[];
}

/** A prompt, and what to do when a turn is running: refuse it, or let it wait. */
export interface SendMessage {
  content: string | ContentBlock[];
  whenBusy?: 'queue' | 'reject';
}

/** An option that is on or off. */
export interface SessionConfigBoolean {
  type: 'boolean';
  _meta?: Record<string, unknown> | null;
  id: string;
  name: string;
  currentValue: boolean;
  description?: string | null;
  category?: string | null;
}

/** An option with a list of choices; `category` is mode, model, model_config, thought_level or anything else. */
export interface SessionConfigSelect {
  type: 'select';
  _meta?: Record<string, unknown> | null;
  id: string;
  name: string;
  currentValue: string;
  options: SessionConfigSelectEntry[];
  description?: string | null;
  category?: string | null;
}

/** One choice (`value` is set), or a titled group of them (`group` and `options` are). */
export interface SessionConfigSelectEntry {
  _meta?: Record<string, unknown> | null;
  name: string;
  value?: string | null;
  description?: string | null;
  group?: string | null;
  options?: SessionConfigSelectEntry[] | null;
}

/** One way for the agent to work (ask, plan, code …). */
export interface SessionMode {
  _meta?: Record<string, unknown> | null;
  id: string;
  name: string;
  description?: string | null;
}

/** The modes on offer and the one in force. */
export interface SessionModeState {
  _meta?: Record<string, unknown> | null;
  currentModeId: string;
  availableModes: SessionMode[];
}

/** Sessions, newest activity first; `next` goes into `?before=` for more, null at the end. `found`, on the first page */
export interface SessionPage {
  sessions: SessionView[];
  next: string | null;
  found?: FoundView[];
  missing?: string[];
}

/** A session's view, with all that waits for somebody, and what works in this session. */
export interface SessionState {
  id: string;
  status: SessionStatus;
  agent: string;
  cwd: string;
  title: string;
  createdAt: string;
  updatedAt: string;
  lastSeq: number;
  turn: TurnView | null;
  pendingApprovals: ApprovalView[];
  pendingQuestions: QuestionView[];
  queue: QueuedPrompt[];
  todos: TodoView[];
  usage: Usage | null;
  cost: Cost | null;
  mode: string | null;
  modes: SessionModeState | null;
  configOptions: (SessionConfigSelect | SessionConfigBoolean)[] | null;
  artifacts: number;
  paused: Pause | null;
  caps: Caps | null;
  waits: Waits;
  rules: Rule[];
  permissionPolicy: PermissionPolicy | null;
  tokens: TokenUsage | null;
  agentInfo: unknown;
  agentStart: string | null;
  lastText: string;
  agentSessionId: string | null;
  sandbox: Sandboxed | null;
  watchOnly: boolean;
  line: boolean;
  resumeCommand: string | null;
  commands: AvailableCommand[] | null;
  changes: Changes;
  resources: Resources;
  failed: Failure | null;
  missed: string | null;
  node?: string;
  nodeAway?: string;
  lag?: number;
  capabilities?: ACPCapabilities;
}

/** The fold as the HTTP API shows it. */
export interface SessionView {
  id: string;
  status: SessionStatus;
  agent: string;
  cwd: string;
  title: string;
  createdAt: string;
  updatedAt: string;
  lastSeq: number;
  turn: TurnView | null;
  pendingApprovals: ApprovalView[];
  pendingQuestions: QuestionView[];
  queue: QueuedPrompt[];
  todos: TodoView[];
  usage: Usage | null;
  cost: Cost | null;
  mode: string | null;
  modes: SessionModeState | null;
  configOptions: (SessionConfigSelect | SessionConfigBoolean)[] | null;
  artifacts: number;
  paused: Pause | null;
  caps: Caps | null;
  waits: Waits;
  rules: Rule[];
  permissionPolicy: PermissionPolicy | null;
  tokens: TokenUsage | null;
  agentInfo: unknown;
  agentStart: string | null;
  lastText: string;
  agentSessionId: string | null;
  sandbox: Sandboxed | null;
  watchOnly: boolean;
  line: boolean;
  resumeCommand: string | null;
  commands: AvailableCommand[] | null;
  changes: Changes;
  resources: Resources;
  failed: Failure | null;
  missed: string | null;
  node?: string;
  nodeAway?: string;
  lag?: number;
}

/** One of the session's options and its new value. */
export interface SetConfig {
  configId: string;
  value: string | boolean;
}

/** One of the session's modes. */
export interface SetMode {
  modeId: string;
}

/** The state of a session after the entry `seq`. */
export interface Snapshot {
  sessionId: string;
  seq: number;
  state: SessionState;
}

/** A piece of a snippet, and whether it is what was looked for. */
export interface SnippetPart {
  text: string;
  match: boolean;
}

/** A packet and its cursor. */
export interface StoredPacket {
  seq: number;
  packet: unknown;
}

/** A page of packets. `nextAfter` is the cursor of the next page, null at the end; `nextBefore` that of the page */
export interface StoredPackets {
  messages: StoredPacket[];
  nextAfter: number | null;
  nextBefore: number | null;
}

/** What the caller subscribed to; `createdAt` is in seconds since the epoch. */
export interface SubscriptionView {
  endpoint: string;
  kinds: ('approval' | 'failed' | 'finished' | 'question')[];
  createdAt: number;
}

/** How to go on: with the very session, with a branch of it, or with a new one that begins with what was said. */
export interface TakeOver {
  how?: 'fork' | 'resume' | 'summary';
}

/** A session where it goes on, and the key that it was started under, for the table of those. */
export interface TakenIn {
  session: SessionView;
  startKey: string | null;
}

/** Plain or markdown text. */
export interface TextContent {
  type: 'text';
  _meta?: Record<string, unknown> | null;
  text: string;
  annotations?: Annotations | null;
}

/** One line of the agent's plan. */
export interface TodoView {
  content: string;
  status: string;
  priority: string;
}

/** A token as the API shows it; times are seconds since the epoch. */
export interface TokenView {
  id: string;
  name: string;
  scope: 'admin' | 'approve' | 'control' | 'view';
  kind: string;
  createdAt: number;
  expiresAt: number | null;
}

/** The running turn, as clients see it. */
export interface TurnView {
  turnId: string;
  startedAt: string;
  by: string;
  seq: number;
}

/** A file that is in the session's folder now. */
export interface Uploaded {
  name: string;
  path: string;
  size: number;
}

/** Every file of one upload. */
export interface Uploads {
  files: Uploaded[];
}

/** Context tokens in use and the window's size, as the agent reports them. */
export interface Usage {
  used?: number;
  size?: number;
}

/** How long this session's approvals wait, and what the agent is told when nobody answered. */
export interface Waits {
  approvalS?: number | null;
  onTimeout?: 'cancel' | 'reject';
}

/** One way to go on here with a session that another program wrote, and what it does or why it is not possible now. */
export interface Way {
  how: 'fork' | 'resume' | 'summary';
  possible: boolean;
  words: string;
}

/** What to type on the hub's machine for a link that logs a browser in. */
export interface WayIn {
  command: string;
  revoked?: boolean;
}

/** One part of a prompt or of what an agent said, by the Agent Client Protocol. */
export type ContentBlock =
  | TextContent
  | ImageContent
  | AudioContent
  | ResourceLink
  | EmbeddedResource;

/** An agent that the hub can run. */
export type AgentView = AgentInfo;

/** An approval or a question that waits for somebody, and the session it waits in. */
export type Pending = PendingAsk;
