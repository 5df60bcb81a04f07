// Written by vaglio install; vaglio uninstall openclaw removes it.
// Before each tool call OpenClaw asks vaglio, and a call that it does not allow is
// blocked, with the reason for the model. Whatever fails here blocks, too.
import { spawn } from "node:child_process"

const hook = ["vaglio-hook", "openclaw"]

// tell runs the hook with one event and returns what it answers.
const tell = (event, signal) =>
  new Promise((resolve, reject) => {
    const child = spawn(hook[0], hook.slice(1), { stdio: ["pipe", "pipe", "inherit"], signal })
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

// running are the calls that were allowed, by their ids, until their end is told.
const running = new Map()

const ended = (run, data) => {
  const call = running.get(run + data.toolCallId)
  if (call === undefined) return
  running.delete(run + data.toolCallId)
  const details = data.result?.details
  const error = data.isError ? String(details?.error ?? "the tool failed") : undefined
  tell({ event: "after", ...call, error, exit: typeof details?.exitCode === "number" ? details.exitCode : undefined }).catch(() => {})
}

export default {
  id: "vaglio",
  name: "vaglio",
  register(api) {
    const folder = (agent) => {
      const settings = api.runtime?.config?.current?.() ?? api.config
      return api.runtime?.agent?.resolveAgentWorkspaceDir?.(settings, agent) ?? process.cwd()
    }
    // A policy is asked in every run. Hooks by the name of before_tool_call are not where
    // OpenClaw runs without its Gateway.
    api.registerTrustedToolPolicy({
      id: "vaglio",
      description: "asks vaglio before each tool call",
      evaluate: async (event, ctx) => {
        try {
          const call = {
            session: ctx?.sessionKey ?? ctx?.sessionId ?? event.runId ?? "",
            agent: ctx?.agentId,
            sub_agent: ctx?.sessionKey?.includes(":subagent:") ? ctx.agentId : undefined,
            call: event.toolCallId ?? "",
            // A program for OpenClaw's own code mode is another thing than a command line.
            tool: event.toolKind ?? event.toolName,
            args: event.params ?? {},
            cwd: folder(ctx?.agentId),
          }
          const answer = await tell({ event: "before", ...call }, ctx?.abortSignal)
          if (answer?.decision !== "allow") {
            return { block: true, blockReason: answer?.reason || "vaglio: this call did not run: its hook gave no reason" }
          }
          running.set((event.runId ?? "") + call.call, call)
        } catch (error) {
          return { block: true, blockReason: `vaglio: this call did not run: ${error.message}` }
        }
      },
    })
    api.runtime?.events?.onAgentEvent?.((event) => {
      if (event.stream === "tool" && event.data?.phase === "result") ended(event.runId ?? "", event.data)
    })
  },
}
