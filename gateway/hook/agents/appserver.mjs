// A front end of Codex: one thread, one turn, in which Codex's own gate asks its user about
// every command that it does not know. It says no to what it is asked, and tells of it on
// stdout.
//
//	node appserver.mjs COMMAND... -- PROMPT
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const words = process.argv.slice(2);
const prompt = words.splice(words.lastIndexOf("--"))[1];
const codex = spawn(words[0], words.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
const send = (message) => codex.stdin.write(JSON.stringify(message) + "\n");
const waiting = new Map();
const request = (method, params) =>
  new Promise((resolve) => {
    waiting.set(waiting.size + 1, resolve);
    send({ id: waiting.size, method, params });
  });
let ended;
const over = new Promise((resolve) => (ended = resolve));
createInterface({ input: codex.stdout }).on("line", (line) => {
  const m = JSON.parse(line);
  if (m.method && "id" in m) {
    console.log(JSON.stringify({ "asked the front end": m }));
    send({ id: m.id, result: { decision: "decline" } });
  } else if (m.method === "turn/completed") ended();
  else if ("id" in m) waiting.get(m.id)(m.result ?? console.log(line));
});
codex.once("exit", () => ended());
await request("initialize", { clientInfo: { name: "front", title: "front", version: "1" }, capabilities: {} });
send({ method: "initialized" });
const { thread } = await request("thread/start", { cwd: process.cwd(), approvalPolicy: "untrusted", sandbox: "danger-full-access" });
request("turn/start", { threadId: thread.id, input: [{ type: "text", text: prompt }] });
await over;
codex.kill();
