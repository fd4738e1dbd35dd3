// The page: log in, pick or start a session, watch its packets, answer and steer.
// Rule 1: what an agent says is text. Nodes are built with textContent; nothing is parsed as HTML.
// Rule 2: the stream is the truth. Cards change when a packet says so, not when a button was pressed.

const $ = (id) => document.getElementById(id);

function node(tag, classes = "", text = "") {
  const made = document.createElement(tag);
  if (classes) made.className = classes;
  if (text) made.textContent = text;
  return made;
}

// ---- the API

class Refused extends Error {
  constructor(status, body) {
    super(body.message || `The hub answered ${status}.`);
    this.status = status;
  }
}

async function ask(method, path, body) {
  const options = { method, headers: { Accept: "application/json" } };
  if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  const response = await fetch(path, options);
  const text = await response.text();
  const answer = text ? JSON.parse(text) : null;
  if (!response.ok) throw new Refused(response.status, answer || {});
  return answer;
}

let noticeTimer;
function tell(error) {
  if (error.status === 401) return showLogin();
  $("notice").textContent = error.message;
  $("notice").hidden = false;
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => { $("notice").hidden = true; }, 8000);
}

const trying = (work) => async (event) => {
  event?.preventDefault?.();
  try { await work(event); } catch (error) { tell(error); }
};

// ---- logging in

async function start() {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code) {
    // The code leaves the address at once: it must not stay in the history or be copied along.
    history.replaceState(null, "", "/");
    await ask("POST", "/auth/login", { code }).catch((error) => { $("login-error").textContent = error.message; });
  }
  try {
    await refreshSessions();
  } catch (error) {
    return tell(error);
  }
  await showApp();
}

function showLogin() {
  watcher?.stop();
  $("app").hidden = true;
  $("login").hidden = false;
  $("login-token").focus();
}

async function showApp() {
  $("login").hidden = true;
  $("app").hidden = false;
  await listAgents();
  const wanted = new URLSearchParams(location.hash.slice(1)).get("session");
  if (wanted) openSession(wanted);
}

$("login-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    await ask("POST", "/auth/login", { token: $("login-token").value.trim() });
    $("login-token").value = "";
    $("login-error").textContent = "";
    await refreshSessions();
    await showApp();
  } catch (error) {
    $("login-error").textContent = error.message;
  }
});

$("logout").addEventListener("click", trying(async () => {
  await ask("POST", "/auth/logout");
  showLogin();
}));

// ---- sessions

let sessions = [];
let watcher = null;
let unasking = new Set();  // agents that were never seen to ask before they act

async function refreshSessions() {
  sessions = (await ask("GET", "/sessions?limit=100")).sessions;
  const current = watcher?.id;
  $("sessions").replaceChildren(...sessions.map((session) => {
    const button = node("button");
    button.type = "button";
    button.setAttribute("aria-current", String(session.id === current));
    const title = node("strong", "", session.title || "Untitled");
    title.prepend(node("span", `dot ${session.status}`));
    button.append(title, node("small", "", `${session.agent} · ${session.cwd.split("/").pop() || "/"}`));
    button.addEventListener("click", () => openSession(session.id));
    return button;
  }));
  const shown = sessions.find((session) => session.id === current);
  if (shown) showHead(shown);
}

function showHead(session) {
  $("session-title").textContent = session.title || "Untitled";
  $("session-asks").hidden = !unasking.has(session.agent);
  $("session-state").textContent = session.status.replaceAll("_", " ");
  $("stop").disabled = session.turn === null;
  document.title = `${session.title || "Untitled"} · Trunkline`;
}

async function listAgents() {
  const agents = await ask("GET", "/agents");
  unasking = new Set(agents.filter((agent) => !agent.asksPermission).map((agent) => agent.name));
  agents.sort((one, other) => Number(other.installed) - Number(one.installed));
  $("new-agent").replaceChildren(...agents.map((agent) => {
    const notes = [agent.installed ? "" : "not installed", agent.asksPermission ? "" : "may act without asking"].filter(Boolean);
    const option = node("option", "", notes.length ? `${agent.displayName} (${notes.join(", ")})` : agent.displayName);
    option.value = agent.name;
    option.disabled = !agent.installed;
    return option;
  }));
}

async function begin(agent, cwd) {
  const session = await ask("POST", "/sessions", { agent, cwd });
  await openSession(session.id);
  return session;
}

$("new-form").addEventListener("submit", trying(async () => {
  await begin($("new-agent").value, $("new-cwd").value.trim());
  $("new-session").open = false;
}));

$("try-demo").addEventListener("click", trying(async () => {
  const { playground } = await ask("GET", "/readyz");
  const session = await begin("demo", playground);
  await ask("POST", `/sessions/${session.id}/send-message`, { content: "/tour" });
}));

async function openSession(id) {
  watcher?.stop();
  watcher = new Watcher(id);
  history.replaceState(null, "", `/#session=${encodeURIComponent(id)}`);
  $("composer").hidden = false;
  watcher.start();
  await refreshSessions();
  $("prompt").focus();
}

$("composer").addEventListener("submit", trying(async () => {
  const content = $("prompt").value.trim();
  if (!content || !watcher) return;
  $("prompt").value = "";
  try {
    await ask("POST", `/sessions/${watcher.id}/send-message`, { content, whenBusy: "queue" });
  } catch (error) {
    $("prompt").value = content;
    throw error;
  }
}));

$("prompt").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    $("composer").requestSubmit();
  }
});

$("stop").addEventListener("click", trying(() => ask("POST", `/sessions/${watcher.id}/cancel`)));

// ---- watching one session

class Watcher {
  // Reads stored packets first, by pages with joined text, then follows. After any loss it goes on behind the last id.
  constructor(id) {
    this.id = id;
    this.last = 0;
    this.stopped = false;
    this.timeline = new Timeline(id);
  }

  async start() {
    try {
      let after = 0;
      while (after !== null && !this.stopped) {
        const page = await ask("GET", `/sessions/${this.id}/messages?after=${after}&limit=500`);
        for (const { seq, packet } of page.messages) this.take(seq, packet);
        after = page.nextAfter;
      }
      this.follow();
    } catch (error) {
      tell(error);
    }
  }

  follow() {
    if (this.stopped) return;
    this.source = new EventSource(`/sessions/${this.id}/packets?after=${this.last}`);
    this.source.onopen = () => { $("link-state").textContent = ""; };
    this.source.onmessage = (event) => {
      const packet = JSON.parse(event.data);
      if (event.lastEventId) this.take(Number(event.lastEventId), packet);
    };
    this.source.onerror = () => {
      if (this.stopped) return;
      $("link-state").textContent = "reconnecting …";
      // The browser comes back by itself with Last-Event-ID, unless it was turned away.
      if (this.source.readyState === EventSource.CLOSED) {
        this.source.close();
        setTimeout(() => this.follow(), 2000);
      }
    };
  }

  take(seq, packet) {
    if (this.stopped || seq <= this.last) return;
    this.last = seq;
    this.timeline.show(packet);
    if (LISTED.has(packet.type)) refreshSoon();
  }

  stop() {
    this.stopped = true;
    this.source?.close();
    $("link-state").textContent = "";
  }
}

const LISTED = new Set(["user_message_chunk", "prompt_response", "error", "approval_requested", "approval_resolved",
  "question_requested", "question_resolved"]);
let refreshTimer;
function refreshSoon() {
  clearTimeout(refreshTimer);
  refreshTimer = setTimeout(() => refreshSessions().catch(tell), 150);
}
setInterval(() => { if (!document.hidden && !$("app").hidden) refreshSessions().catch(tell); }, 10000);

// ---- what a packet looks like

class Timeline {
  constructor(id) {
    this.id = id;
    this.box = $("timeline");
    this.box.replaceChildren();
    this.turn = 0;
    this.tools = new Map();
    this.asks = new Map();
    this.text = null;
    this.plan = null;
  }

  show(packet) {
    const atEnd = this.box.scrollHeight - this.box.scrollTop - this.box.clientHeight < 80;
    this[`on_${packet.type}`]?.(packet);
    if (atEnd) this.box.scrollTop = this.box.scrollHeight;
  }

  add(made) {
    this.text = null;
    this.box.append(made);
    return made;
  }

  say(kind, packet) {
    const words = packet.content?.text ?? `[${packet.content?.type ?? "content"}]`;
    if (this.text?.kind !== kind) {
      const box = this.add(node("div", `said ${kind}`));
      this.text = { kind, box, words: "", drawn: false };
    }
    const text = this.text;
    text.words += words;
    if (text.drawn) return;
    // Many chunks, one drawing: at most one per frame.
    text.drawn = true;
    requestAnimationFrame(() => {
      text.drawn = false;
      if (kind === "agent") text.box.replaceChildren(...paragraphs(text.words));
      else text.box.textContent = text.words;
      this.box.scrollTop = this.box.scrollHeight - this.box.scrollTop - this.box.clientHeight < 160
        ? this.box.scrollHeight : this.box.scrollTop;
    });
  }

  on_user_message_chunk(packet) { this.say("user", packet); }
  on_agent_message_chunk(packet) { this.say("agent", packet); }
  on_agent_thought_chunk(packet) { this.say("thought", packet); }

  on_tool_call_start(packet) { this.tool(packet); }
  on_tool_call_progress(packet) { this.tool(packet); }

  tool(packet) {
    const key = `${this.turn}:${packet.toolCallId}`;
    let card = this.tools.get(key);
    if (!card) {
      card = this.add(node("details", "tool"));
      card.summary = node("summary");
      card.what = node("span", "what");
      card.kind = node("span", "kind");
      card.status = node("span", "status");
      card.body = node("div", "body");
      card.summary.append(card.kind, card.what, card.status);
      card.append(card.summary, card.body);
      this.tools.set(key, card);
    }
    card.className = `tool ${packet.status}`;
    card.kind.textContent = packet.kind;
    card.what.textContent = describe(packet);
    card.status.textContent = { pending: "…", in_progress: "running", completed: "done", failed: "failed" }[packet.status] || "";
    card.body.replaceChildren(...details(packet));
  }

  on_agent_plan_update(packet) {
    this.plan ??= this.add(node("div", "plan"));
    const list = node("ul");
    list.append(...packet.entries.map((entry) => node("li", entry.status, entry.content)));
    this.plan.replaceChildren(list);
  }

  on_approval_requested(packet) {
    const card = this.add(node("div", "ask"));
    card.append(node("strong", "", packet.title || packet.toolName), node("div", "risk", `risk: ${packet.riskLevel}`));
    if (packet.description) card.append(node("p", "", packet.description));
    const preview = packet.preview;
    if (preview?.type === "command") card.append(node("pre", "", preview.command));
    if (preview?.type === "diff") card.append(diffBlock(preview.diff));
    if (preview?.type === "description") card.append(node("p", "", preview.text));
    const answer = (body) => trying(() => ask("POST", `/sessions/${this.id}/permissions/${packet.requestId}`, body));
    card.append(buttons([
      ["Allow", "", answer({ decision: "allow" })],
      ["Always allow", "quiet", answer({ decision: "allow", scope: "always" })],
      ["Deny", "deny", answer({ decision: "deny" })],
    ]));
    this.asks.set(packet.requestId, card);
  }

  on_approval_resolved(packet) {
    const how = `${packet.approved ? "Allowed" : "Denied"} by ${packet.resolvedBy}${packet.reason ? `: ${packet.reason}` : ""}`;
    this.resolve(packet.requestId, how);
  }

  on_question_requested(packet) {
    const card = this.add(node("form", "ask"));
    card.append(node("strong", "", packet.question));
    const fields = formFields(packet.schema);
    card.append(...fields.map((field) => field.label));
    if (packet.url && /^https?:/.test(packet.url)) {
      const link = node("a", "", packet.url);
      link.href = packet.url;
      link.rel = "noreferrer noopener";
      link.target = "_blank";
      card.append(node("p"), link);
    }
    const answer = (body) => ask("POST", `/sessions/${this.id}/questions/${packet.questionId}`, body);
    card.addEventListener("submit", trying(() => answer(
      { action: "accept", content: Object.fromEntries(fields.filter((field) => field.has()).map((field) => [field.name, field.value()])) })));
    const row = buttons([["Decline", "deny", trying(() => answer({ action: "decline" }))]]);
    const accept = node("button", "", "Answer");
    accept.type = "submit";
    row.prepend(accept);
    card.append(row);
    this.asks.set(packet.questionId, card);
  }

  on_question_resolved(packet) { this.resolve(packet.questionId, `${packet.action} by ${packet.resolvedBy}`); }

  resolve(id, how) {
    const card = this.asks.get(id);
    if (!card) return;
    card.classList.add("done");
    card.querySelectorAll("button, input, select").forEach((each) => { each.disabled = true; });
    card.querySelector(".buttons")?.replaceChildren(node("span", "state", how));
  }

  on_artifact_created(packet) {
    const made = node("div", "made", `Made ${packet.artifact.name} `);
    if (packet.artifact.preview_url) made.append(this.previewLink(packet.artifact.id));
    this.add(made);
  }

  previewLink(artifactId) {
    // A packet's own address may have expired since; ask for a fresh one when somebody wants to look.
    const button = node("button", "quiet", "preview");
    button.type = "button";
    button.addEventListener("click", trying(async () => {
      const artifact = await ask("GET", `/sessions/${this.id}/artifacts/${artifactId}`);
      if (artifact.preview_url) window.open(artifact.preview_url, "_blank", "noopener");
    }));
    return button;
  }

  on_prompt_response(packet) {
    if (packet.stopReason !== "end_turn") this.add(node("div", "ended", `turn ended: ${packet.stopReason.replaceAll("_", " ")}`));
    this.endTurn();
  }

  on_error(packet) {
    this.add(node("div", "ended error", packet.message));
    this.endTurn();
  }

  endTurn() {
    this.turn += 1;
    this.text = null;
    this.plan = null;
  }
}

function buttons(offers) {
  const row = node("div", "buttons");
  row.append(...offers.map(([text, kind, act]) => {
    const button = node("button", kind, text);
    button.type = "button";
    button.addEventListener("click", act);
    return button;
  }));
  return row;
}

function formFields(schema) {
  return Object.entries(schema?.properties ?? {}).map(([name, rule]) => {
    const label = node("label", "", `${rule.title ?? name} `);
    const choices = rule.oneOf?.map((each) => [each.const, each.title ?? each.const]) ?? rule.enum?.map((each) => [each, each]);
    const input = node(choices ? "select" : "input");
    if (choices) {
      input.append(...choices.map(([value, text]) => Object.assign(node("option", "", String(text)), { value })));
    } else if (rule.type === "boolean") {
      input.type = "checkbox";
      input.checked = Boolean(rule.default);
    } else if (rule.type === "integer" || rule.type === "number") {
      input.type = "number";
    }
    if (rule.default !== undefined && rule.type !== "boolean") input.value = rule.default;
    if (rule.type !== "boolean") input.required = schema.required?.includes(name) ?? false;
    label.append(input);
    const value = () => {
      if (rule.type === "boolean") return input.checked;
      return input.type === "number" ? Number(input.value) : input.value;
    };
    return { name, label, value, has: () => rule.type === "boolean" || input.value !== "" };
  });
}

function describe(packet) {
  const input = packet.rawInput ?? {};
  const subject = input.command ?? input.filePath ?? input.file_path ?? input.path ?? input.pattern ?? input.url ?? input.description;
  return typeof subject === "string" && subject !== packet.title ? `${packet.title} · ${subject}` : packet.title;
}

function details(packet) {
  const shown = [];
  for (const item of packet.content ?? []) {
    if (item.type === "diff") shown.push(diffBlock(lineDiff(item.oldText ?? "", item.newText ?? "")));
    else if (item.content?.text) shown.push(node("pre", "", cut(item.content.text)));
  }
  if (!shown.length && packet.rawOutput?.output) shown.push(node("pre", "", cut(String(packet.rawOutput.output))));
  if (packet.rawOutput?.error) shown.push(node("pre", "error", cut(String(packet.rawOutput.error))));
  return shown;
}

const cut = (text, most = 20000) => (text.length > most ? `${text.slice(0, most)}\n… ${text.length - most} more characters` : text);

function lineDiff(before, after) {
  const old = before ? before.split("\n") : [];
  const fresh = after.split("\n");
  let head = 0;
  while (head < old.length && head < fresh.length && old[head] === fresh[head]) head += 1;
  let tail = 0;
  while (tail < old.length - head && tail < fresh.length - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail += 1;
  return [
    ...old.slice(Math.max(0, head - 2), head).map((line) => ` ${line}`),
    ...old.slice(head, old.length - tail).map((line) => `-${line}`),
    ...fresh.slice(head, fresh.length - tail).map((line) => `+${line}`),
    ...fresh.slice(fresh.length - tail).slice(0, 2).map((line) => ` ${line}`),
  ].join("\n");
}

function diffBlock(text) {
  const block = node("pre", "diff");
  for (const line of cut(text).split("\n")) {
    const kind = line.startsWith("+") ? "add" : line.startsWith("-") ? "del" : "";
    block.append(node("span", kind, `${line}\n`));
  }
  return block;
}

// ---- a little markdown: fences, headings, lists, inline code and bold

function paragraphs(text) {
  return text.split(/^```.*$/m).flatMap((part, index) => {
    if (index % 2) {
      const block = node("pre");
      block.append(node("code", "", part.replace(/^\n|\n$/g, "")));
      return [block];
    }
    return part.split(/\n{2,}/).filter((each) => each.trim()).map(paragraph);
  });
}

function paragraph(text) {
  const heading = /^#{1,6}\s+(.*)$/s.exec(text.trim());
  if (heading && !heading[1].includes("\n")) return inline(node("h3"), heading[1]);
  const lines = text.trim().split("\n");
  if (lines.every((line) => /^\s*([-*]|\d+\.)\s/.test(line))) {
    const list = node("ul");
    list.append(...lines.map((line) => inline(node("li"), line.replace(/^\s*([-*]|\d+\.)\s+/, ""))));
    return list;
  }
  const made = node("p");
  lines.forEach((line, index) => {
    if (index) made.append(node("br"));
    inline(made, line.replace(/^#{1,6}\s+/, ""));
  });
  return made;
}

function inline(into, text) {
  for (const piece of text.split(/(`[^`]+`|\*\*[^*]+\*\*)/)) {
    if (/^`[^`]+`$/.test(piece)) into.append(node("code", "", piece.slice(1, -1)));
    else if (/^\*\*[^*]+\*\*$/.test(piece)) into.append(node("strong", "", piece.slice(2, -2)));
    else if (piece) into.append(piece);
  }
  return into;
}

start();
