// As client/main.go, with the SDKs for TypeScript: `node client.mjs v1|v2 STEPS -- SERVER`.
const [version, ...rest] = process.argv.slice(2);
const cut = rest.indexOf("--");
const steps = rest.slice(0, cut);
const [program, ...args] = rest.slice(cut + 1);

const load = {
  v1: async () => ({
    ...(await import("@modelcontextprotocol/sdk/client/index.js")),
    ...(await import("@modelcontextprotocol/sdk/client/stdio.js")),
    ...(await import("@modelcontextprotocol/sdk/client/streamableHttp.js")),
  }),
  v2: async () => ({
    ...(await import("@modelcontextprotocol/client")),
    ...(await import("@modelcontextprotocol/client/stdio")),
  }),
};
const { Client, StdioClientTransport, StreamableHTTPClientTransport } = await load[version]();
const tell = async (step) => {
  try {
    console.log(JSON.stringify(await step()));
  } catch (e) {
    console.log(JSON.stringify({ error: e.message }));
  }
};

const client = new Client({ name: "sdk", version: "1" });
await client.connect(
  program.startsWith("http")
    ? new StreamableHTTPClientTransport(new URL(program))
    : new StdioClientTransport({ command: program, args, stderr: "inherit", env: process.env }),
);
await tell(() => client.listTools());
await tell(() => client.readResource({ uri: "note://readme" }));
await tell(() => client.getPrompt({ name: "sum-up" }));
for (let i = 0; i + 1 < steps.length; i += 2) {
  await tell(() => client.callTool({ name: steps[i], arguments: JSON.parse(steps[i + 1]) }));
}
await client.close();
