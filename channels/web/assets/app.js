// The inbox's script. The pages work without it. It keeps them live, counts
// down, and adds keys. It never makes markup of its own out of text: what it
// puts into the page comes from the same server, as a whole page that was
// rendered there.
"use strict";

(() => {
  const $ = (id) => document.getElementById(id);
  const say = (text) => { $("say").textContent = ""; requestAnimationFrame(() => { $("say").textContent = text; }); };

  // What this script says comes with the page, in its language.
  const words = Object.fromEntries([...$("texts").children].map((el) => [el.dataset.key, el.textContent]));

  // A page that stands still shows what took long to read: it is not read again
  // with every change.
  const still = document.body.hasAttribute("data-still");

  // --- Time -------------------------------------------------------------

  const lang = document.documentElement.lang;
  const zone = lang === "en" ? "en-GB" : lang;
  const clock = new Intl.DateTimeFormat(zone, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
  const day = new Intl.DateTimeFormat(zone, { day: "numeric", month: "short", year: "numeric" });
  const far = new Intl.RelativeTimeFormat(lang, { numeric: "always" });

  function ago(at, now) {
    const s = Math.round((now - at) / 1000);
    if (s < 5) return words["now.past"];
    if (s < 60) return far.format(-s, "second");
    if (s < 3600) return far.format(-Math.floor(s / 60), "minute");
    if (s < 86400) return far.format(-Math.floor(s / 3600), "hour");
    return far.format(-Math.floor(s / 86400), "day");
  }

  function until(at, now) {
    const s = Math.ceil((at - now) / 1000);
    if (s <= 0) return words["left.now"];
    if (s < 120) return far.format(s, "second");
    if (s < 7200) return far.format(Math.floor(s / 60), "minute");
    return far.format(Math.floor(s / 3600), "hour");
  }

  function write(el, text) { if (el.textContent !== text) el.textContent = text; }

  function tellTime() {
    const now = Date.now();
    for (const el of document.querySelectorAll("time[data-when]")) {
      const at = new Date(el.dateTime);
      const today = day.format(at) === day.format(now);
      write(el, `${today ? "" : day.format(at) + ", "}${clock.format(at)} (${ago(at.getTime(), now)})`);
    }
    for (const el of document.querySelectorAll("time[data-until]")) {
      const at = new Date(el.dateTime).getTime();
      write(el, until(at, now));
      el.classList.toggle("soon", at - now < 120000);
      if (at <= now && !el.dataset.past) { el.dataset.past = "1"; soon(); }
    }
  }

  // --- Live: fetch the page again, and put in what differs ----------------

  // What the server sent for a child, without its clocks: those tick by themselves.
  const sent = new WeakMap();
  function form(el) {
    const copy = el.cloneNode(true);
    for (const t of copy.querySelectorAll("time")) { t.textContent = ""; t.removeAttribute("class"); }
    return copy.outerHTML;
  }
  for (const list of document.querySelectorAll("[data-live]")) for (const el of list.children) sent.set(el, form(el));

  let moved = 0; // when something on the page last changed its place

  function carry(from, to) {
    for (const t of from.querySelectorAll("textarea[id]")) {
      const twin = to.querySelector(`#${CSS.escape(t.id)}`);
      if (twin) { twin.value = t.value; if (t.style.height) twin.style.height = t.style.height; }
    }
    for (const d of from.querySelectorAll("details[id]")) {
      const twin = to.querySelector(`#${CSS.escape(d.id)}`);
      if (twin) twin.open = d.open;
    }
  }

  function spot(el) {
    const at = document.activeElement;
    if (!at || !el.contains(at)) return null;
    return { id: at.id, token: at.name === "token" ? at.value : "", from: at.selectionStart, to: at.selectionEnd };
  }

  function refocus(s, el) {
    if (!s) return;
    let at = null;
    if (s.id) at = el.id === s.id ? el : el.querySelector(`#${CSS.escape(s.id)}`);
    if (!at && s.token) at = [...el.querySelectorAll("button[name=token]")].find((b) => b.value === s.token);
    at ||= el.hasAttribute("tabindex") ? el : el.querySelector("a, button, summary");
    at?.focus({ preventScroll: true });
    if (at?.setSelectionRange && s.from !== undefined && s.from !== null) at.setSelectionRange(s.from, s.to);
  }

  // merge makes the list's children those of its fresh twin, and leaves alone
  // every child that did not change.
  function merge(list, fresh) {
    const old = new Map([...list.children].map((el) => [el.dataset.key, el]));
    const put = { added: [], changed: [], gone: [] };
    let before = list.firstElementChild;
    for (const next of [...fresh.children]) {
      const is = old.get(next.dataset.key);
      old.delete(next.dataset.key);
      if (is && sent.get(is) === form(next)) {
        if (is !== before) list.insertBefore(is, before); else before = before.nextElementSibling;
        continue;
      }
      const el = document.importNode(next, true);
      sent.set(el, form(next));
      if (is) {
        const s = spot(is);
        carry(is, el);
        if (is === before) before = before.nextElementSibling;
        is.replaceWith(el);
        refocus(s, el);
        put.changed.push(el);
      } else {
        list.insertBefore(el, before);
        put.added.push(el);
      }
    }
    for (const el of old.values()) {
      const held = el.contains(document.activeElement);
      el.remove();
      put.gone.push(el);
      if (held) (list.closest("section")?.querySelector("h2, h1") ?? $("main")).focus?.();
    }
    return put;
  }

  function title(card) { return card.querySelector("h3")?.textContent.trim() ?? ""; }

  function wants(card) {
    const line = card.querySelector("pre.command")?.textContent.trim();
    return line && line.length < 160 ? `${title(card)}: ${line}` : title(card);
  }

  // take puts a page that was fetched into this one.
  function take(doc) {
    if (!doc.body.hasAttribute("data-signed")) { location.reload(); return; }
    // Of a frame only the count of what waits is taken.
    const count = (title) => /^\(\d+\+?\) /.exec(title)?.[0] ?? "";
    document.title = still ? count(doc.title) + document.title.slice(count(document.title).length) : doc.title;
    for (const el of document.querySelectorAll("[data-text]")) {
      const twin = doc.getElementById(el.id);
      if (twin && el.innerHTML !== twin.innerHTML) el.replaceChildren(...document.importNode(twin, true).childNodes);
    }
    const news = [];
    for (const list of document.querySelectorAll("[data-live]")) {
      const fresh = doc.getElementById(list.id);
      if (!fresh) continue;
      const put = merge(list, fresh);
      if (put.added.length + put.changed.length + put.gone.length > 0) moved = performance.now();
      if (!list.hasAttribute("data-cards")) continue;
      for (const el of put.added) {
        if (el.hasAttribute("data-waiting")) { el.classList.add("fresh"); news.push(`${words.new}: ${wants(el)}.`); }
      }
      for (const el of put.changed) {
        if (el.matches(".card")) news.push(`${el.querySelector(".badge")?.textContent.trim()}: ${title(el)}.`);
      }
    }
    tellTime();
    if (news.length) say(news.join(" "));
  }

  // here is this page's address, with the cards that are in sight: one that is
  // decided elsewhere turns final in its place instead of vanishing.
  function here() {
    if (still) return new URL("/inbox/frame", location.href);
    const to = new URL(location.href);
    to.hash = "";
    if (to.pathname !== "/inbox") return to;
    to.searchParams.delete("keep");
    const cards = [...document.querySelectorAll("#cards > [data-ask]")];
    for (const c of cards.slice(-20)) to.searchParams.append("keep", c.dataset.ask);
    return to;
  }

  async function read(answer) {
    return new DOMParser().parseFromString(await answer.text(), "text/html");
  }

  let busy = false, again = false, timer = 0;

  async function refresh() {
    if (busy) { again = true; return; }
    busy = true;
    try {
      const answer = await fetch(here(), { headers: { Accept: "text/html" } });
      if (answer.ok) take(await read(answer));
      else if (answer.status === 401) location.reload();
    } catch { /* The stream tells that the server is away, and calls again. */ }
    busy = false;
    if (again) { again = false; soon(); }
  }

  // soon lets a burst of changes become one look.
  function soon() { clearTimeout(timer); timer = setTimeout(refresh, 120); }

  function live(on) {
    $("live").classList.toggle("on", on);
    $("live").classList.toggle("off", !on);
    if (!still) write($("live-text"), on ? words["live.on"] : words["live.off"]);
  }

  // One page holds the stream for all pages of this browser, which has few
  // connections to spare; the others hear of changes from it.
  const others = "BroadcastChannel" in window ? new BroadcastChannel("vaglio-inbox") : null;
  let holds = false;
  others?.addEventListener("message", ({ data }) => {
    if (holds) { if (data === "who") others.postMessage("on"); return; }
    if (data === "tick") soon();
    if (data === "on" || data === "off") { live(data === "on"); if (data === "on") soon(); }
  });

  function listen() {
    let wait = 1000;
    const start = () => {
      const source = new EventSource("/inbox/events");
      source.addEventListener("tick", () => {
        wait = 1000;
        live(true);
        soon();
        others?.postMessage("on");
        others?.postMessage("tick");
      });
      source.addEventListener("error", () => {
        live(false);
        others?.postMessage("off");
        if (source.readyState !== EventSource.CLOSED) return;
        setTimeout(start, wait);
        wait = Math.min(wait * 2, 30000);
        refresh();
      });
      addEventListener("pagehide", () => source.close(), { once: true });
    };
    start();
  }

  if (others && navigator.locks) {
    navigator.locks.request("vaglio-inbox", () => { holds = true; listen(); return new Promise(() => {}); });
    others.postMessage("who");
  } else {
    listen();
  }
  addEventListener("pageshow", (e) => { if (e.persisted) location.reload(); });
  document.addEventListener("visibilitychange", () => { if (!document.hidden) soon(); });

  // --- Answers ------------------------------------------------------------

  function fault(text) {
    const p = document.createElement("p");
    p.textContent = text;
    const box = document.createElement("div");
    box.className = "notice fault";
    box.tabIndex = -1;
    box.append(p);
    $("notice")?.replaceChildren(box);
    box.focus();
    say(text);
  }

  let sending = false;

  async function send(form, button) {
    if (sending) return;
    sending = true;
    button.setAttribute("aria-disabled", "true");
    const card = form.closest("[data-ask]");
    try {
      const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form, button)) });
      const doc = await read(answer);
      const failed = doc.getElementById("failure");
      if (answer.status === 401) location.reload();
      else if (failed) { fault(failed.querySelector("h1").textContent + ". " + failed.querySelector("p").textContent); soon(); }
      else {
        // The answer's page knows this ask only; what else is in sight comes
        // with the next look. Its note is what to read now.
        const note = doc.getElementById("notice");
        if (note) $("notice")?.replaceChildren(...document.importNode(note, true).childNodes);
        await refresh();
        const now = card && $(card.id);
        now?.focus({ preventScroll: true });
        say($("notice")?.textContent.replace(/\s+/g, " ").trim() ?? "");
      }
    } catch {
      fault(words.lost);
    }
    sending = false;
    if (button.isConnected) button.removeAttribute("aria-disabled");
  }

  document.addEventListener("submit", (e) => {
    const form = e.target;
    if (!form.matches('[action="/inbox/decide"]') || !e.submitter) return;
    e.preventDefault();
    send(form, e.submitter);
  });

  // A press that comes right after the page moved may have been meant for what
  // was there before.
  document.addEventListener("click", (e) => {
    const allow = e.target.closest?.("[data-choice=allow]");
    if (!allow || e.detail === 0 || performance.now() - moved > 700) return;
    e.preventDefault();
    say(words.moved);
  }, true);

  // --- Keys ---------------------------------------------------------------

  const rows = () => [...document.querySelectorAll("#cards > .card, .entries > .entry")];

  function current() {
    const at = document.activeElement?.closest(".card, .entry");
    return at ?? null;
  }

  function step(by) {
    const all = rows();
    if (!all.length) return;
    const i = all.indexOf(current());
    const el = all[i < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(i + by, 0), all.length - 1)];
    el.tabIndex = -1;
    el.focus({ preventScroll: true });
    el.scrollIntoView({ block: "nearest" });
  }

  // within finds a control of the call in focus, or else of the first card. The
  // item of a plan that holds the focus comes before the whole plan.
  function within(what) {
    const item = document.activeElement?.closest(".item");
    const card = current() ?? document.querySelector("#cards > [data-waiting]");
    return item?.querySelector(what) ?? card?.querySelector(`:scope > .actions ${what}`) ?? null;
  }

  const keys = {
    j: () => step(1),
    k: () => step(-1),
    a: () => { const b = within("[data-choice=allow]"); if (b) { b.focus(); say(words["enter.allow"]); } },
    d: () => { const b = within("[data-choice=deny]"); if (b) { b.focus(); say(words["enter.deny"]); } },
    w: () => { const d = within("details.say"); if (d) { d.open = true; d.querySelector("textarea").focus(); } },
    Enter: () => { const c = document.activeElement; if (c?.matches(".card")) c.querySelector(".open-ask")?.click(); },
    "?": () => $("help").showModal(),
  };

  const KEYS = "vaglio-keys";
  const stored = (() => { try { return localStorage; } catch { return null; } })();
  $("keys-on").checked = stored?.getItem(KEYS) !== "off";
  $("keys-on").addEventListener("change", (e) => stored?.setItem(KEYS, e.target.checked ? "on" : "off"));
  $("help-open").hidden = false;
  $("help-open").addEventListener("click", () => $("help").showModal());

  document.addEventListener("keydown", (e) => {
    if (e.key === "Enter" && (e.ctrlKey || e.metaKey) && e.target.matches("textarea[name=words]")) {
      e.preventDefault();
      e.target.form.requestSubmit(e.target.form.querySelector("button"));
      return;
    }
    if (e.ctrlKey || e.metaKey || e.altKey || e.repeat && !"jk".includes(e.key)) return;
    if (!$("keys-on").checked || $("help").open) return;
    if (e.target.matches("input, textarea, select, [contenteditable]")) return;
    if (e.key === "Enter" && !e.target.matches(".card")) return;
    const act = Object.hasOwn(keys, e.key) ? keys[e.key] : null;
    if (!act) return;
    e.preventDefault();
    act();
  });

  tellTime();
  setInterval(tellTime, 1000);
})();
