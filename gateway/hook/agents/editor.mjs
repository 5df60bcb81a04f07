// An editor that speaks the Agent Client Protocol to a coding agent: one session, one
// prompt. It answers no question of the agent's, and tells of each on stdout.
//
//	node editor.mjs COMMAND... -- PROMPT
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { PROTOCOL_VERSION, client, ndJsonStream } from "@agentclientprotocol/sdk";

const words = process.argv.slice(2);
const prompt = words.splice(words.lastIndexOf("--"))[1];
const agent = spawn(words[0], words.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
const say = (what) => console.log(JSON.stringify(what));
const ended = new Promise((resolve) => agent.once("exit", resolve));
const editor = client({ name: "editor" })
  .onRequest("session/request_permission", ({ params }) => {
    say({ "asked the editor": params });
    return { outcome: { outcome: "cancelled" } };
  })
  .onNotification("session/update", () => {});
await editor.connectWith(ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout)), async (to) => {
  const { agentInfo } = await to.request("initialize", { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} });
  say({ agent: agentInfo });
  const { sessionId } = await to.request("session/new", { cwd: process.cwd(), mcpServers: [] });
  say(await to.request("session/prompt", { sessionId, prompt: [{ type: "text", text: prompt }] }));
});
agent.stdin.end();
setTimeout(() => agent.kill(), 5000).unref(); // Some do not end when their editor does.
await ended;
process.exit();
