// The official TypeScript SDK's client, against the hub: the seed's minimal sequence, a permission, a cancel, a load with replay.
//   node editor.mjs stdio FOLDER COMMAND ARGS…
//   node editor.mjs ws|http FOLDER ADDRESS TOKEN
// Prints what it heard as one JSON object. The test copies it to where the SDK is installed: modules are looked for from there.

import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";
import { createHttpStream } from "@agentclientprotocol/sdk/experimental/http-client";
import { createWebSocketStream } from "@agentclientprotocol/sdk/experimental/ws-client";

const [way, folder, ...rest] = process.argv.slice(2);

class HeadedWebSocket extends WebSocket {
  constructor(url, protocols, options) {
    super(url, { protocols: protocols ?? [], headers: options?.headers ?? {} });
  }
}

function stream() {
  if (way === "stdio") {
    const child = spawn(rest[0], rest.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
    return [acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)), () => child.stdin.end()];
  }
  const headers = { Authorization: `Bearer ${rest[1]}` };
  if (way === "ws") return [createWebSocketStream(rest[0], { headers, WebSocket: HeadedWebSocket }), () => {}];
  return [createHttpStream(rest[0], { headers }), () => {}];
}

const updates = [];
let asks = 0;
let wake = () => {};
const text = (kind) => updates.filter((each) => each.sessionUpdate === kind).map((each) => each.content.text).join("");

async function until(found) {
  while (!found()) await new Promise((resolve) => (wake = resolve));
}

const app = acp
  .client({ name: "peer" })
  .onRequest(acp.methods.client.session.requestPermission, ({ params }) => {
    asks += 1;
    const option = params.options.find((each) => each.kind === "allow_once");
    return { outcome: { outcome: "selected", optionId: option.optionId } };
  })
  .onNotification(acp.methods.client.session.update, ({ params }) => {
    updates.push(params.update);
    wake();
  });

const [line, end] = stream();
const heard = await app.connectWith(line, async (hub) => {
  const hello = await hub.request(acp.methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
  const { sessionId } = await hub.request(acp.methods.agent.session.new, { cwd: folder, mcpServers: [] });
  const prompt = (words) =>
    hub.request(acp.methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text: words }] });
  const stops = [(await prompt("/echo say hello")).stopReason, (await prompt("/ask")).stopReason];
  const running = prompt("/slow 60");
  await until(() => text("agent_message_chunk").endsWith("1 "));
  await hub.notify(acp.methods.agent.session.cancel, { sessionId });
  stops.push((await running).stopReason);
  const said = text("agent_message_chunk");
  updates.length = 0;
  await hub.request(acp.methods.agent.session.load, { sessionId, cwd: folder, mcpServers: [] });
  await until(() => text("agent_message_chunk") === said);
  const replayed = text("user_message_chunk");
  stops.push((await prompt("/echo and after")).stopReason);
  return { version: hello.protocolVersion, stops, asks, said, replayed, after: text("agent_message_chunk").slice(said.length) };
});
console.log(JSON.stringify(heard));
end();
process.exit(0);
