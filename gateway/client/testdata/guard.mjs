import { connect } from "../js/vaglio.mjs";
const [url, limit] = process.argv.slice(2);
const call = { turn_id: "t", executor: "x", args: { n: 1 } };
let ran = 0;
const r = await connect({ url, token: "the-token", patience: 3000 }).guard(call, () => ++ran, { limit: Number(limit) });
console.log(JSON.stringify({ ran, text: r.text ?? "", edited: r.edited ?? null }));
