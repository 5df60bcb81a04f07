// What lets this browser decide: a key that signs each answer. It is made when the
// browser signs in, no script can read it out, and it stays with this address, port
// included, where cookies do not. The session knows its public half.
"use strict";

const vaglioKey = (() => {
  const KIND = { name: "ECDSA", namedCurve: "P-256" };
  const MOST = 4; // sign-ins whose keys are kept; those before are of sessions that ended

  const text = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

  // kept does something with the kept keys, and is done when that is kept.
  async function kept(mode, act) {
    const db = await new Promise((done, failed) => {
      const open = indexedDB.open("vaglio", 1);
      open.onupgradeneeded = () => open.result.createObjectStore("keys", { keyPath: "key" });
      open.onsuccess = () => done(open.result);
      open.onerror = () => failed(open.error);
    });
    try {
      return await new Promise((done, failed) => {
        const all = db.transaction("keys", mode);
        const asked = act(all.objectStore("keys"));
        all.oncomplete = () => done(asked.result);
        all.onabort = () => failed(all.error);
      });
    } finally { db.close(); }
  }

  // make makes a key, keeps it, and returns its public half.
  async function make() {
    const pair = await crypto.subtle.generateKey(KIND, false, ["sign"]);
    const key = text(await crypto.subtle.exportKey("raw", pair.publicKey));
    const before = await kept("readonly", (keys) => keys.getAll());
    before.sort((a, b) => b.made - a.made);
    await kept("readwrite", (keys) => {
      for (const old of before.slice(MOST - 1)) keys.delete(old.key);
      return keys.put({ key, made: Date.now(), sign: pair.privateKey });
    });
    return key;
  }

  const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));

  // Unused says that an authenticator gave no answer: its user did not want to, or there
  // is none.
  class Unused extends Error {}

  // header is what an authenticator said, as the server reads it.
  const header = (said, response) => text(new TextEncoder().encode(JSON.stringify({
    id: said.id, rawId: text(said.rawId), type: said.type, clientExtensionResults: {}, response,
  })));

  // passkey returns what authenticators say of a challenge: an assertion where there is
  // a passkey, and a new one where one is to be made.
  async function passkey(make, name, host, own, challenge) {
    const known = own.map((id) => ({ type: "public-key", id: bytes(id) })), headers = {};
    const ask = async (what) => {
      try { return await what(); } catch (e) { throw new Unused(e.message); }
    };
    if (known.length) {
      const said = await ask(() => navigator.credentials.get({ publicKey: { challenge, rpId: host, allowCredentials: known, userVerification: "required", timeout: 100000 } }));
      const r = said.response;
      headers["Vaglio-Passkey"] = header(said, {
        clientDataJSON: text(r.clientDataJSON), authenticatorData: text(r.authenticatorData), signature: text(r.signature), userHandle: r.userHandle ? text(r.userHandle) : undefined,
      });
    }
    if (make) {
      const said = await ask(() => navigator.credentials.create({ publicKey: {
        challenge, rp: { id: host, name: "vaglio" }, user: { id: challenge, name, displayName: name }, excludeCredentials: known, attestation: "none",
        authenticatorSelection: { userVerification: "required", residentKey: "discouraged" }, timeout: 100000,
        pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: "public-key", alg })),
      } }));
      headers["Vaglio-New-Passkey"] = header(said, { clientDataJSON: text(said.response.clientDataJSON), attestationObject: text(said.response.attestationObject) });
    }
    return headers;
  }

  // prove returns the headers that show where a form comes from: none where the
  // session has no key, and null where it has one that is not here. It comes with a
  // passkey's word where it is to "use" or to "make" one.
  async function prove(path, body, passkeys) {
    const answer = await fetch("/inbox/nonce");
    if (!answer.ok) return {}; // The form is told why.
    const { session, key, nonce, host, passkeys: known } = await answer.json();
    if (!key) return {};
    const own = await kept("readonly", (keys) => keys.get(key)).catch(() => null);
    if (!own) return null;
    const act = (purpose) => new TextEncoder().encode([purpose, session, nonce, path, body].join("\n"));
    const signature = await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, own.sign, act("vaglio/inbox/answer/v1"));
    const proof = { "Vaglio-Nonce": nonce, "Vaglio-Signature": text(signature) };
    if (!passkeys || !host) return proof;
    const challenge = new Uint8Array(await crypto.subtle.digest("SHA-256", act("vaglio/inbox/passkey/v1")));
    return { ...proof, ...await passkey(passkeys === "make", new URLSearchParams(body).get("name"), host, known, challenge) };
  }

  // renew has the server make the cookie anew, which reads for an hour, and says whether
  // it did.
  async function renew() {
    const proof = await prove("/inbox/renew", "");
    if (!proof?.["Vaglio-Signature"]) return false;
    const answer = await fetch("/inbox/renew", { method: "POST", headers: { "Content-Type": "application/x-www-form-urlencoded", ...proof }, body: "" });
    return answer.ok;
  }

  // A page that was asked for by a cookie too old for it comes up by the key. A browser
  // that keeps no cookies is not sent round and round.
  if (document.body.hasAttribute("data-renews")) {
    const last = Number(sessionStorage.getItem("vaglio-renewed"));
    const known = Date.now() - last > 10000 ? renew().catch(() => false) : Promise.resolve(false);
    known.then((ok) => {
      if (!ok) { document.body.removeAttribute("data-renews"); return; }
      sessionStorage.setItem("vaglio-renewed", String(Date.now()));
      location.reload();
    });
  }

  // A browser that keeps no key signs in all the same: it looks and denies.
  const door = document.querySelector('form[action="/inbox/login"]');
  let signing = false;
  door?.addEventListener("submit", async (e) => {
    e.preventDefault();
    if (signing) return;
    signing = true;
    const field = document.createElement("input");
    field.type = "hidden";
    field.name = "key";
    field.value = await make().catch(() => "");
    door.append(field);
    door.submit();
  });

  return { prove, renew, Unused };
})();
