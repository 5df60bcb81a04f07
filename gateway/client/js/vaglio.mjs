// Asks vaglio before a call runs. One file, no dependencies: copy it.
//
//   const vaglio = connect({ url: "http://127.0.0.1:8787", token: process.env.VAGLIO_TOKEN });
//   const r = await vaglio.guard({ executor: "send_mail", args }, () => sendMail(args));
//   if (!r.run) return r.text; // why not, for the model to read
//
// Whatever fails is a refusal: only { run: true } means that the call may run, once.

const pause = (ms, signal) =>
  new Promise((done, fail) => {
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", () => (clearTimeout(timer), fail(signal.reason)), { once: true });
  });

class Problem extends Error {}

export function connect({ url = "http://127.0.0.1:8787", token, patience = 30_000 }) {
  const base = url.replace(/\/+$/, "");

  // One exchange. A Problem is the daemon's answer; any other error is none.
  async function send(method, path, { body, key, signal, wait = 0 } = {}) {
    const headers = { Authorization: `Bearer ${token}` };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    if (key) headers["Idempotency-Key"] = key;
    const signals = [AbortSignal.timeout(wait + 30_000), ...(signal ? [signal] : [])];
    const response = await fetch(base + path, {
      method, headers, redirect: "manual", signal: AbortSignal.any(signals),
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    if (response.ok) return text ? JSON.parse(text) : null;
    let said = {};
    try {
      said = JSON.parse(text);
    } catch {}
    throw Object.assign(new Problem(said?.detail || `vaglio answered with status ${response.status}`), {
      type: said?.type, status: response.status, after: Number(response.headers.get("Retry-After")) || 0,
    });
  }

  // Asks again while the daemon is away or asks for patience; the key makes that safe.
  async function persist(signal, exchange) {
    for (let since = Date.now(), next = 100; ; next = Math.min(2 * next, 1000)) {
      try {
        return await exchange();
      } catch (e) {
        const answered = e instanceof Problem;
        if (signal?.aborted || (answered && e.status !== 503) || e instanceof SyntaxError) throw e;
        const rest = Math.max(next, (e.after || 0) * 1000);
        if (Date.now() + rest - since > patience) throw e;
        await pause(rest, signal);
      }
    }
  }

  // Whether a person asks something first that the agent was not told of.
  const asked = (a) => Boolean(a?.question && !a.question.repeated);

  const approval = (id) => `/v1/approvals/${encodeURIComponent(id)}`;

  // Proposes the call and waits for the person, at most limit milliseconds.
  async function decide(call, key, until, signal, answer) {
    const slice = () => Math.max(0, Math.min(50_000, until - Date.now()));
    const query = (ms) => (ms > 0 ? `?wait=${Math.ceil(ms)}ms` : "");
    let wait = slice();
    let a = await persist(signal, () => send("POST", `/v1/proposals${query(wait)}`, { body: answer ? { ...call, answer } : call, key, signal, wait }));
    while (a?.decision === "pending" && a.approval?.id && !asked(a) && Date.now() < until) {
      const began = Date.now();
      wait = slice();
      a = await persist(signal, () => send("GET", approval(a.approval.id) + query(wait), { signal, wait }));
      // An answer that came early is a daemon that lets its waiters go.
      if (a?.decision === "pending" && !asked(a) && Date.now() - began < wait / 2) await pause(Math.min(1000, wait), signal);
    }
    return a;
  }

  const refuse = (text, id) => ({ run: false, text, id, report: async () => {} });
  const because = (why, id) => refuse(`vaglio: this call did not run: ${why}`, id);

  // Asks about one call. The answer is { run, text, id, words, question, edited, report }: a question is a person's,
  // and the same call with an answer tells them; edited is the executor and args that a person allowed instead, once,
  // and runs when it is asked about.
  async function ask(call, { key = crypto.randomUUID(), limit = 3_600_000, signal, answer } = {}) {
    const until = Date.now() + limit;
    const proposal = { ...call, args: call.args ?? {} };
    let id;
    try {
      for (let n = 0; n < 5; n++) {
        const a = await decide(proposal, n ? `${key}.${n}` : key, until, signal, answer);
        id = a?.approval?.id;
        if (a?.decision === "allow" && !a.permit && a.verdict?.approved === true) return { run: true, report: async () => {} };
        if (a?.decision === "deny") {
          const edited = a.edited ? { executor: a.edited.executor, args: a.edited.args } : undefined;
          return { ...refuse(a.text || "vaglio: this call did not run", id), edited };
        }
        if (a?.decision === "pending" && id && asked(a)) return { ...refuse(a.text || "vaglio: this call has not run yet", id), question: a.question.words };
        if (a?.decision === "pending" && id) {
          return because(`held as ${id}: nobody has answered yet. Repeat the same call after the answer, which then counts for it once`, id);
        }
        if (a?.decision !== "allow" || !a.permit?.permit || !id) return because("vaglio gave an answer that this client does not understand", id);
        try {
          await send("POST", `/v1/permits/${encodeURIComponent(a.permit.permit)}/redeem`, { body: proposal, signal });
        } catch (e) {
          if (e.type === "/problems/spent") continue; // An equal call used it: one yes serves one call.
          throw e;
        }
        const report = (succeeded, detail = "") => send("POST", `${approval(id)}/outcome`, { body: { succeeded, detail: String(detail).slice(0, 1000) } });
        return { run: true, id, words: a.approval.words, report };
      }
      return because("equal calls kept using up its permits; repeat the same call", id);
    } catch (e) {
      if (signal?.aborted) {
        if (id) await send("DELETE", approval(id)).catch(() => {});
        return because("it was stopped", id);
      }
      return because(e instanceof Problem ? e.message : "vaglio could not be asked", id);
    }
  }

  // Asks, runs the call if it may, and tells how it ended.
  async function guard(call, run, options) {
    const r = await ask(call, options);
    if (!r.run) return r;
    try {
      const value = await run();
      await r.report(true).catch(() => {});
      return { ...r, value };
    } catch (e) {
      await r.report(false, "it threw an error").catch(() => {});
      throw e;
    }
  }

  return { ask, guard };
}
