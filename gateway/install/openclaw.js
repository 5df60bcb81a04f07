// Written by vaglio install; vaglio uninstall openclaw removes it.
// Before each tool call OpenClaw asks vaglio, and a call that it does not allow is
// blocked, with the reason for the model. Whatever fails here blocks, too.
import { spawn } from "node:child_process"

const hook = ["vaglio-hook", "openclaw"]

// tell runs the hook with one event and returns what it answers.
const tell = (event) =>
  new Promise((resolve, reject) => {
    const child = spawn(hook[0], hook.slice(1), { stdio: ["pipe", "pipe", "inherit"] })
    let out = ""
    child.on("error", reject)
    child.stdin.on("error", () => {})
    child.stdout.setEncoding("utf8").on("data", (data) => (out += data))
    child.on("close", (code) => {
      try {
        resolve(JSON.parse(out))
      } catch {
        reject(new Error(`its hook ended with code ${code} and no answer`))
      }
    })
    child.stdin.end(JSON.stringify(event))
  })

const about = (event, ctx) => ({
  session: ctx?.sessionKey ?? ctx?.sessionId ?? event.runId ?? "",
  agent: ctx?.agentId,
  call: event.toolCallId ?? ctx?.toolCallId ?? "",
  tool: event.toolName,
  args: event.params ?? {},
  cwd: ctx?.workspaceDir ?? process.cwd(),
})

const before = async (event, ctx) => {
  let answer
  try {
    answer = await tell({ event: "before", ...about(event, ctx) })
  } catch (error) {
    return { block: true, blockReason: `vaglio: this call did not run: ${error.message}` }
  }
  if (answer?.decision !== "allow") {
    return { block: true, blockReason: answer?.reason || "vaglio: this call did not run: its hook gave no reason" }
  }
}

const after = async (event, ctx) => {
  await tell({ event: "after", ...about(event, ctx), error: event.error ? String(event.error) : undefined }).catch(() => {})
}

export default {
  id: "vaglio",
  name: "vaglio",
  register(api) {
    api.on("before_tool_call", before)
    api.on("after_tool_call", after)
  },
}
