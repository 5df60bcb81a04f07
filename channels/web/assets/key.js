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

  // prove returns the headers that show where a form comes from: none where the
  // session has no key, and null where it has one that is not here.
  async function prove(path, body) {
    const answer = await fetch("/inbox/nonce");
    if (!answer.ok) return {}; // The form is told why.
    const { session, key, nonce } = await answer.json();
    if (!key) return {};
    const own = await kept("readonly", (keys) => keys.get(key)).catch(() => null);
    if (!own) return null;
    const act = new TextEncoder().encode(["vaglio/inbox/answer/v1", session, nonce, path, body].join("\n"));
    const signature = await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, own.sign, act);
    return { "Vaglio-Nonce": nonce, "Vaglio-Signature": text(signature) };
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

  return { prove };
})();
