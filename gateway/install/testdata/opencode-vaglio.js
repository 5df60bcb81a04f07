// Written by vaglio install; vaglio uninstall opencode removes it.
// Before each tool call OpenCode asks vaglio, and a call that it does not allow
// throws, with the reason for the model. Whatever fails here throws, too.
import { spawn } from "node:child_process"

const hook = ["/opt/vaglio/bin/vaglio-hook","opencode","--limit","1h0m0s"]

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

export const Vaglio = async ({ directory }) => ({
  "tool.execute.before": async ({ tool, sessionID, callID }, { args }) => {
    let answer
    try {
      answer = await tell({ event: "before", session: sessionID, call: callID, tool, args, cwd: directory })
    } catch (error) {
      throw new Error(`vaglio: this call did not run: ${error.message}`)
    }
    if (answer?.decision !== "allow") {
      throw new Error(answer?.reason || "vaglio: this call did not run: its hook gave no reason")
    }
  },
  "tool.execute.after": async ({ tool, sessionID, callID, args }, { metadata }) => {
    const exit = Number.isInteger(metadata?.exit) ? metadata.exit : undefined
    await tell({ event: "after", session: sessionID, call: callID, tool, args, cwd: directory, exit }).catch(() => {})
  },
  event: async ({ event }) => {
    if (event.type === "session.idle") {
      await tell({ event: "ended", session: event.properties?.sessionID }).catch(() => {})
    }
  },
})
