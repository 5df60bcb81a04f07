// Prints the tools of the OpenClaw in a folder, one a line, each with the names of its
// arguments: those that it makes for its owner's model, and by name alone those that it and
// the plugins that it comes with can make beside them.
import { readFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"

const root = process.argv[2]
const dist = join(root, "dist")

// find imports the module whose name begins so, in which a function of that name is.
const find = async (beginning, name) => {
  for (const file of readdirSync(dist).filter((f) => f.startsWith(beginning) && f.endsWith(".mjs"))) {
    const found = Object.values(await import(pathToFileURL(join(dist, file)))).find((v) => v?.name === name)
    if (found) return found
  }
  throw new Error(`OpenClaw has no ${name} any more`)
}

const tools = new Map()
const list = await find("core-tool-factory-descriptors-", "listCoreToolFactoryDescriptors")
for (const { name } of list()) tools.set(name, [])
for (const plugin of readdirSync(join(dist, "extensions"))) {
  let manifest
  try {
    manifest = JSON.parse(readFileSync(join(dist, "extensions", plugin, "openclaw.plugin.json")))
  } catch {
    continue
  }
  for (const name of manifest.contracts?.tools ?? []) tools.set(name, [])
}
const make = await find("agent-tools-", "createOpenClawCodingTools")
const folder = process.env.HOME
const made = make({ config: {}, sessionKey: "agent:main:main", agentDir: folder, workspaceDir: folder, senderIsOwner: true, modelProvider: "openai", modelId: "gpt" })
for (const { name, parameters } of made) tools.set(name, Object.keys(parameters?.properties ?? {}))
const lines = [...tools].map(([name, keys]) => [name, ...keys.sort()].join(" ")).sort()
console.log("OPENCLAW\n" + lines.join("\n"))
process.exit(0)
