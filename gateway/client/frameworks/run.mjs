// Runs one framework's agent with a scripted model, the way docs/frameworks.md says:
//
//   node run.mjs FRAMEWORK MODEL_URL VAGLIO_URL FILE
//
// What its one tool runs is written into FILE, a line each.
import { appendFileSync } from "node:fs";
import { z } from "zod";
import { connect } from "../js/vaglio.mjs";

const [framework, model, url, file] = process.argv.slice(2);
const vaglio = connect({ url, token: process.env.VAGLIO_TOKEN });
const baseURL = `${model}/v1`;
const apiKey = "fake";
const prompt = "publish my work";
const name = "shell_exec";
const description = "Runs a command.";
const parameters = z.object({ command: z.string() });
const turn = `${framework}:${process.pid}`;

const shell = async ({ command }) => {
  appendFileSync(file, `${command}\n`);
  return `ran ${command}`;
};
const gated = (executor, tool) => async (args) => {
  const r = await vaglio.guard({ turn_id: turn, executor, args }, () => tool(args));
  return r.run ? r.value : r.text;
};

const frameworks = {
  async "ai-sdk"() {
    const { generateText, stepCountIs, tool } = await import("ai");
    const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
    const toolApproval = async ({ toolCall }) => {
      const r = await vaglio.ask({ executor: toolCall.toolName, args: toolCall.input }, { key: toolCall.toolCallId });
      return r.run ? "approved" : { type: "denied", reason: r.text };
    };
    await generateText({
      model: createOpenAICompatible({ name: "scripted", baseURL, apiKey })("scripted"), prompt, stopWhen: stepCountIs(10), toolApproval,
      tools: { [name]: tool({ description, inputSchema: parameters, execute: shell }) },
    });
  },

  async "openai-agents"() {
    const { Agent, OpenAIProvider, Runner, tool } = await import("@openai/agents");
    const agent = new Agent({
      name: "tester", instructions: "Work.", model: "scripted",
      tools: [tool({ name, description, parameters, execute: gated(name, shell) })],
    });
    const modelProvider = new OpenAIProvider({ baseURL, apiKey });
    await new Runner({ modelProvider, tracingDisabled: true }).run(agent, prompt, { maxTurns: 10 });
  },

  async langchain() {
    const { createAgent, createMiddleware, tool, ToolMessage } = await import("langchain");
    const { ChatOpenAI } = await import("@langchain/openai");
    const gate = createMiddleware({
      name: "vaglio",
      wrapToolCall: async (request, handler) => {
        const { id, name, args } = request.toolCall;
        const r = await vaglio.guard({ executor: name, args }, () => handler(request), { key: id });
        return r.run ? r.value : new ToolMessage({ content: r.text, tool_call_id: id, status: "error" });
      },
    });
    const agent = createAgent({
      model: new ChatOpenAI({ model: "scripted", apiKey, configuration: { baseURL } }),
      tools: [tool(shell, { name, description, schema: parameters })], middleware: [gate],
    });
    await agent.invoke({ messages: [{ role: "user", content: prompt }] });
  },

  async mastra() {
    const { Agent } = await import("@mastra/core/agent");
    const { createTool } = await import("@mastra/core/tools");
    const agent = new Agent({
      id: "tester", name: "tester", instructions: "Work.", model: { id: "scripted/scripted", url: baseURL, apiKey },
      tools: { [name]: createTool({ id: name, description, inputSchema: parameters, execute: gated(name, shell) }) },
    });
    await agent.generate(prompt, { maxSteps: 10 });
  },
};

await frameworks[framework]();
process.exit(0);
