// The inbox's script. Without it the pages show, and deny where the browser signed in
// without a key. It signs what is pressed, keeps the pages live, counts down, and adds
// keys. It never makes markup of its own out of text: what it
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

  const long = (n, unit) => far.format(n, unit);
  const short = (n, unit) => new Intl.NumberFormat(lang, { style: "unit", unit, unitDisplay: "short" }).format(n);
  function until(at, now, say) {
    const s = Math.ceil((at - now) / 1000);
    if (s <= 0) return words["left.now"];
    if (s < 120) return say(s, "second");
    if (s < 7200) return say(Math.floor(s / 60), "minute");
    return say(Math.floor(s / 3600), "hour");
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
      write(el, until(at, now, el.dataset.until === "short" ? short : long));
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

  let holds = false; // whether this page has the stream, for all of this browser

  // --- Notices ------------------------------------------------------------

  // What waits is counted on the app's icon. A new card shows a notification where its
  // reader looks elsewhere, and makes a sound, if this browser is to. Nothing leaves
  // this machine for it.
  const stored = (() => { try { return localStorage; } catch { return null; } })();
  const wants = (what) => stored?.getItem(`vaglio-alert-${what}`) === "on";

  function badge() {
    const n = parseInt($("waiting-count")?.textContent ?? $("nav-count")?.textContent ?? "", 10) || 0;
    (n ? navigator.setAppBadge?.(n) : navigator.clearAppBadge?.())?.catch(() => {});
  }

  async function alertTo(row) {
    if (!holds) return; // One page of a browser is enough.
    if (wants("sound")) chime();
    if (!wants("show") || !document.hidden || !("Notification" in window) || Notification.permission !== "granted") return;
    const link = row.querySelector("a");
    try {
      const worker = await navigator.serviceWorker.ready;
      await worker.showNotification(rowTitle(row), {
        body: row.querySelector(".row-facts").textContent.replace(/\s+/g, " ").trim(), tag: row.dataset.row, data: link.getAttribute("href"), lang,
      });
    } catch { /* The page and its count tell of the card all the same. */ }
  }

  let audio = null;
  function chime() {
    try {
      audio ??= new AudioContext();
      const tone = audio.createOscillator(), loud = audio.createGain(), now = audio.currentTime;
      tone.frequency.setValueAtTime(660, now);
      tone.frequency.setValueAtTime(880, now + 0.12);
      loud.gain.setValueAtTime(0.12, now);
      loud.gain.exponentialRampToValueAtTime(0.001, now + 0.35);
      tone.connect(loud).connect(audio.destination);
      tone.start(now);
      tone.stop(now + 0.36);
    } catch { /* A browser without sound is silent. */ }
  }

  $("alert-open").hidden = false;
  $("alert-open").addEventListener("click", () => $("alert").showModal());
  $("alert-sound").checked = wants("sound");
  $("alert-sound").addEventListener("change", (e) => { stored?.setItem("vaglio-alert-sound", e.target.checked ? "on" : "off"); if (e.target.checked) chime(); });
  $("alert-show").checked = wants("show") && "Notification" in window && Notification.permission === "granted";
  $("alert-show").addEventListener("change", async (e) => {
    const on = e.target.checked && "Notification" in window && await Notification.requestPermission() === "granted";
    $("alert-refused").hidden = on || !e.target.checked;
    e.target.checked = on;
    stored?.setItem("vaglio-alert-show", on ? "on" : "off");
  });
  navigator.serviceWorker?.register("/inbox/worker.js", { scope: "/inbox" }).catch(() => { /* Then there are no notifications. */ });
  navigator.serviceWorker?.addEventListener("message", ({ data }) => { if (data?.open) location.href = data.open; });

  let moved = 0; // when something on the page last changed its place

  // --- What was seen ------------------------------------------------------

  // A call may be allowed once its end was in sight: of a long one in its own box,
  // and of each call of a plan. What was seen stays so while its text does.
  const ends = new Map(); // the text of each end that was in sight, by its place
  const mine = (end) => `${end.dataset.end}/${[...document.querySelectorAll(`[data-end="${CSS.escape(end.dataset.end)}"]`)].indexOf(end)}`;
  const text = (end) => end?.closest("pre").textContent;
  const seen = (end) => ends.get(mine(end)) === text(end) || led(end);
  // The lines that a person is asked about stand for the whole call once each was opened.
  const opened = new Map(); // the text in which a line was opened, by the line
  const line = (link) => document.getElementById(link.hash.slice(1));
  const unopened = (id) => [...document.querySelectorAll(`[data-lines="${CSS.escape(id)}"] a`)].filter((a) => !opened.has(a.hash) || opened.get(a.hash) !== text(line(a)));
  const led = (end) => document.querySelector(`[data-lines="${CSS.escape(end.dataset.end)}"]`) !== null && unopened(end.dataset.end).length === 0;
  let eye = null;

  function unseen(act) {
    const of = act.dataset.of.split(" ").filter(Boolean);
    return of.flatMap((id) => [...document.querySelectorAll(`[data-end="${CSS.escape(id)}"]`)]).filter((end) => !seen(end));
  }

  // gate says at each row of buttons whether Allow works yet.
  function gate() {
    for (const act of document.querySelectorAll("[data-of]")) {
      const left = unseen(act).length > 0, note = act.querySelector(".unread") ?? act.closest(".card, .item")?.querySelector(".unread");
      if (!note) continue;
      // A short call of a plan is seen on the way to its button.
      const box = act.closest(".item")?.querySelector("pre[data-call]");
      if (act.contains(note)) note.hidden = !left || Boolean(box) && box.scrollHeight <= box.clientHeight + 1;
      for (const b of act.querySelectorAll("button.allow[name=token]")) {
        b.toggleAttribute("data-unread", left);
        if (left) { b.setAttribute("aria-disabled", "true"); b.setAttribute("aria-describedby", note.id); }
        else { b.removeAttribute("aria-disabled"); b.removeAttribute("aria-describedby"); }
      }
    }
  }

  // watch looks out for the ends of the calls on the page. What the buttons cover is
  // not in sight.
  function watch() {
    eye?.disconnect();
    // What scrolls in a box of its own is reached by keyboard.
    for (const box of document.querySelectorAll("pre, blockquote, .asker, .sources, .dock")) {
      if (box.scrollHeight <= box.clientHeight + 1) continue;
      const label = box.matches(".sources, .dock") ? "" : box.previousElementSibling?.textContent.trim();
      box.tabIndex = 0;
      if (label) { box.setAttribute("role", "group"); box.setAttribute("aria-label", label); }
    }
    const bar = document.querySelector("#cards > .card > .dock"), floats = bar && getComputedStyle(bar).position === "sticky";
    eye = new IntersectionObserver((all) => {
      for (const e of all) if (e.intersectionRatio >= 0.5) ends.set(mine(e.target), text(e.target));
      gate();
    }, { root: scroller(), threshold: 0.5, rootMargin: `0px 0px -${floats ? bar.offsetHeight : 0}px 0px` });
    for (const end of document.querySelectorAll("[data-end]")) eye.observe(end);
    gate();
  }

  // scroller is what scrolls the card: the pane beside the list, or the page.
  function scroller() {
    const pane = $("detail");
    return pane && getComputedStyle(pane).overflowY === "auto" ? pane : null;
  }

  // readOn brings the next unseen end of a row's calls into sight, one screen at a time,
  // and the focus to its box.
  function readOn(act) {
    const end = unseen(act)[0];
    if (!end) return;
    const pre = end.closest("pre"), link = unopened(end.dataset.end)[0];
    // From all calls of a plan the focus stays on the plan: on one of its calls it
    // would mean that call alone.
    if (act.classList.contains("all")) shown().focus({ preventScroll: true });
    else { pre.tabIndex = 0; pre.focus({ preventScroll: true }); }
    if (link) { lead(link); return; }
    const bar = document.querySelector("#cards > .card > .dock");
    pre.style.scrollMarginBottom = `${(bar?.offsetHeight ?? 0) + 16}px`;
    if (pre.scrollHeight - pre.clientHeight - pre.scrollTop > 2) {
      pre.scrollIntoView({ block: "nearest" });
      pre.scrollBy({ top: pre.clientHeight * 0.9 });
    } else pre.scrollIntoView({ block: "end" });
  }

  // lead brings a line that a person is asked about into sight.
  function lead(link) {
    const at = line(link);
    at.scrollIntoView({ block: "center" });
    opened.set(link.hash, text(at));
    gate();
  }

  // keep leaves words that were being typed where their writer can still copy them, once
  // another page or person has answered and there is nothing left to send them with.
  function keep(f, to) {
    const box = document.createElement("textarea"), label = document.createElement("label"), p = document.createElement("p");
    box.id = f.id;
    box.value = f.value;
    box.readOnly = true;
    label.htmlFor = f.id;
    label.textContent = words.unsent;
    p.className = "unsent";
    p.append(label, box);
    to.append(p);
  }

  function carry(from, to) {
    for (const f of from.querySelectorAll("textarea[id], select[id], input[id]:not([type=hidden])")) {
      const twin = to.querySelector(`#${CSS.escape(f.id)}`);
      if (!twin) { if (f.matches("textarea") && f.value.trim()) keep(f, to); continue; }
      if (f.type === "checkbox" || f.type === "radio") twin.checked = f.checked;
      else twin.value = f.value;
      if (f.style.height) twin.style.height = f.style.height;
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

  function title(card) { return card.querySelector("h2")?.textContent.replace(/\s+/g, " ").trim() ?? ""; }

  // take puts a page that was fetched into this one.
  function take(doc) {
    if (!doc.body.hasAttribute("data-signed")) { location.reload(); return; }
    // Of a frame only the count of what waits is taken.
    const count = (title) => /^\(\d+\) /.exec(title)?.[0] ?? "";
    document.title = still ? count(doc.title) + document.title.slice(count(document.title).length) : doc.title;
    for (const el of document.querySelectorAll("[data-text]")) {
      const twin = doc.getElementById(el.id);
      if (twin && el.innerHTML !== twin.innerHTML) el.replaceChildren(...document.importNode(twin, true).childNodes);
    }
    const note = $("notice"), news = [];
    if (note && $("cards")?.contains(note)) $("cards").before(note); // It outlives the card that it stands on.
    $("split")?.toggleAttribute("data-card", Boolean(doc.querySelector("#cards > .card")));
    for (const list of document.querySelectorAll("[data-live]")) {
      const fresh = doc.getElementById(list.id);
      if (!fresh) continue;
      const put = merge(list, fresh);
      if (put.added.length + put.changed.length + put.gone.length > 0) moved = performance.now();
      for (const el of put.added) if (el.dataset.row) { el.classList.add("fresh"); news.push(`${words.new}: ${rowTitle(el)}.`); alertTo(el); }
      if (!list.hasAttribute("data-cards")) continue;
      for (const el of put.changed) {
        if (el.matches(".card") && !el.hasAttribute("data-waiting")) news.push(`${el.querySelector(".badge")?.textContent.trim()}: ${title(el)}.`);
      }
    }
    dock();
    watch();
    tellTime();
    badge();
    if (news.length) say(news.join(" "));
  }

  function rowTitle(row) { return row.querySelector(".row-head").textContent.replace(/\s+/g, " ").trim(); }

  // dock puts the note of the last answer where the finger is: at the buttons of the
  // card that came up.
  function dock() {
    const at = document.querySelector("#cards > .card > .dock:has(.actions)"), note = $("notice");
    if (at && note?.childElementCount) at.prepend(note);
  }

  function shown() { return document.querySelector("#cards > [data-ask]"); }

  // here is this page's address, with the card that is in sight: another one that is
  // worse, or its own end, does not take it away from its reader.
  function here() {
    if (still) return new URL("/inbox/frame", location.href);
    const to = new URL(location.href);
    to.hash = "";
    if (to.pathname !== "/inbox") return to;
    to.searchParams.delete("told");
    if (shown()) to.searchParams.set("ask", shown().dataset.ask);
    return to;
  }

  async function read(answer) {
    return new DOMParser().parseFromString(await answer.text(), "text/html");
  }

  // The cookie reads for an hour. A page that is open has it made anew long before, and
  // one that slept when it wakes up.
  const RENEW = 20 * 60 * 1000;
  let renewed = 0;

  async function renew(every) {
    if (Date.now() - renewed < every) return false;
    renewed = Date.now();
    return vaglioKey.renew().catch(() => false);
  }
  setInterval(() => renew(RENEW), 60 * 1000);

  let busy = false, sending = false, again = false, timer = 0;
  let place = 0; // counts the cards that came up; what was fetched before is of another

  async function refresh() {
    // What an answer under way changes is not to be taken for somebody else's.
    if (busy || sending) { again = true; return; }
    busy = true;
    const at = place;
    try {
      const answer = await fetch(here(), { headers: { Accept: "text/html" } });
      const doc = answer.ok ? await read(answer) : null;
      if (at !== place || sending) again = true;
      else if (doc) take(doc);
      else if (answer.status === 401) { if (await renew(10000)) again = true; else location.reload(); }
    } catch { /* The stream tells that the server is away, and calls again. */ }
    busy = false;
    if (again && !sending) { again = false; soon(); }
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
    holds = true;
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
    if ($("notice")) $("notice").replaceChildren(box);
    else { document.querySelector("#main > .notice.fault")?.remove(); $("main").prepend(box); }
    box.focus();
    say(text);
  }

  async function send(form, button) {
    if (sending) return;
    sending = true;
    button.setAttribute("aria-disabled", "true");
    try {
      const to = form.getAttribute("action"), body = new URLSearchParams(new FormData(form, button)).toString();
      const post = async (passkey) => {
        const proof = await vaglioKey.prove(to, body, passkey);
        return proof && fetch(to, { method: "POST", headers: { "Content-Type": "application/x-www-form-urlencoded", ...proof }, body });
      };
      let answer = await post(form.hasAttribute("data-makes-passkey") ? "make" : "");
      // That it takes a passkey is the server's to say.
      if (answer?.headers.get("Vaglio-Passkey") === "wanted") answer = await post("use");
      const doc = answer && await read(answer);
      const failed = doc?.getElementById("failure");
      if (!answer) fault(words.keyless);
      else if (answer.status === 401) location.reload();
      else if (failed) { fault(failed.querySelector("h1").textContent + ". " + failed.querySelector("p").textContent); soon(); }
      else if (to === "/inbox/order" || to === "/inbox/reveal" || to === "/inbox/passkeys") { location.href = answer.url; return; }
      else if (to === "/inbox/edit" && answer.redirected) { location.href = answer.url; return; }
      else if (to === "/inbox/try" || to === "/inbox/edit") swap(doc);
      else {
        // What came back is the page with the next card on it, and with a note of what
        // the answer did. A note that is made on the page of one ask stays there.
        const note = doc.getElementById("notice");
        if (note) $("notice")?.replaceChildren(...document.importNode(note, true).childNodes);
        if (!$("notice")?.querySelector(".notice.late")) for (const f of form.querySelectorAll("textarea")) f.value = ""; // they were sent
        go(answer.url);
        take(doc);
        arrive();
        say([$("notice")?.textContent, shown()?.hasAttribute("data-waiting") ? title(shown()) : ""].join(" ").replace(/\s+/g, " ").trim());
      }
    } catch (e) {
      fault(e instanceof vaglioKey.Unused ? words.passkey : words.lost);
    }
    sending = false;
    if (again) { again = false; soon(); }
    if (button.isConnected) { button.removeAttribute("aria-disabled"); gate(); }
  }

  // swap shows what a page says that was made of this one's form.
  function swap(doc) {
    $("main").replaceChildren(...document.importNode(doc.getElementById("main"), true).childNodes);
    watch();
    tellTime();
    ($("result") ?? document.querySelector("[aria-invalid]") ?? $("main")).focus();
  }

  // go makes an address that was fetched this page's, without the note that it carried.
  function go(address, push) {
    place++;
    const to = new URL(address);
    if (to.pathname !== location.pathname) return;
    to.searchParams.delete("told");
    if (to.href !== location.href) history[push ? "pushState" : "replaceState"](null, "", to);
    $("split")?.classList.toggle("chosen", to.searchParams.has("ask"));
  }

  // arrive puts the reader at the top of the card that came up, or on the note where
  // none did.
  function arrive() {
    const card = shown();
    scroller()?.scrollTo(0, 0);
    if (!scroller()) scrollTo(0, 0);
    (card ?? $("notice")?.firstElementChild ?? $("main")).focus({ preventScroll: true });
  }

  // open shows the ask of a row beside the list.
  async function open(link, keep) {
    $("notice")?.replaceChildren();
    const at = ++place;
    try {
      const answer = await fetch(link.href, { headers: { Accept: "text/html" } });
      if (!answer.ok) { location.href = link.href; return; }
      const doc = await read(answer);
      if (at !== place) return;
      go(link.href, !keep);
      take(doc);
      if (!keep) arrive();
    } catch { location.href = link.href; }
  }

  document.addEventListener("submit", (e) => {
    const form = e.target;
    if (!form.matches('[action="/inbox/decide"], [action="/inbox/order"], [action="/inbox/edit"], [action="/inbox/reveal"], [action="/inbox/try"], [action="/inbox/passkeys"]') || !e.submitter) return;
    e.preventDefault();
    if (e.submitter.hasAttribute("data-unread")) { readOn(form.closest("[data-of]")); say(words.unread); return; }
    send(form, e.submitter);
  });

  document.addEventListener("click", (e) => {
    if (e.ctrlKey || e.metaKey || e.shiftKey || e.button !== 0) return;
    const link = e.target.closest?.(".row > a, #next, .back > a");
    if (link && $("split")) {
      e.preventDefault();
      if (link.closest(".back")) back(); else open(link);
      return;
    }
    const act = e.target.closest?.("[data-read]")?.closest(".actions");
    if (act) readOn(act);
    const to = e.target.closest?.(".lines a");
    if (to) { e.preventDefault(); lead(to); }
  });

  // back leaves the card for the list, on a narrow screen.
  function back() {
    const was = shown()?.dataset.ask;
    $("split").classList.remove("chosen");
    const to = new URL(location.href);
    to.searchParams.delete("ask");
    history.pushState(null, "", to);
    $(`row-${was}`)?.focus();
  }

  addEventListener("popstate", () => {
    if (!$("split")) return;
    const to = new URL(location.href);
    $("split").classList.toggle("chosen", to.searchParams.has("ask"));
    place++;
    if (to.searchParams.has("ask")) { shown()?.remove(); refresh(); }
  });

  // The search works while it is typed.
  let typed = 0;
  document.addEventListener("input", (e) => {
    const form = e.target.closest?.("#search");
    if (!form) return;
    clearTimeout(typed);
    typed = setTimeout(() => {
      const to = new URL(location.href);
      for (const [key, value] of new FormData(form)) { if (value) to.searchParams.set(key, value); else to.searchParams.delete(key); }
      history.replaceState(null, "", to);
      refresh();
    }, 200);
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

  // Rows of the list of what waits, or of a history where there is none.
  const rows = () => {
    const waits = [...document.querySelectorAll("#list > .row > a")];
    return waits.length ? waits : [...document.querySelectorAll(".entries > .entry")];
  };

  function step(by) {
    const all = rows();
    if (!all.length) return;
    const at = document.activeElement?.closest(".entry, .row > a");
    let i = all.indexOf(at);
    // On a card one goes on to its neighbours in the list.
    if (i < 0 && shown()?.contains(document.activeElement)) i = all.findIndex((el) => el.hasAttribute("aria-current"));
    const el = all[i < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(i + by, 0), all.length - 1)];
    if (el.matches(".entry")) el.tabIndex = -1;
    el.focus({ preventScroll: true });
    el.scrollIntoView({ block: "nearest" });
    if (!el.matches("a")) return;
    // On a narrow screen the list is hidden behind the card.
    if (el.checkVisibility()) open(el, true); else open(el);
  }

  // within finds a control of the card in sight. The item of a plan that holds the
  // focus comes before the whole plan.
  function within(what) {
    const item = document.activeElement?.closest(".item");
    return item?.querySelector(what) ?? shown()?.querySelector(`:scope > .dock ${what}`) ?? null;
  }

  // allow leads to the button once the call was seen, and to what was not seen before.
  function allow() {
    const b = within("button.allow[data-choice=allow]");
    if (!b) return;
    if (b.hasAttribute("data-unread")) { readOn(b.closest(".actions")); say(words.unread); return; }
    b.focus();
    say(words["enter.allow"]);
  }

  const keys = {
    j: () => step(1),
    k: () => step(-1),
    a: allow,
    d: () => { const b = within("[data-choice=deny]"); if (b) { b.focus(); say(words["enter.deny"]); } },
    w: () => { const d = within("details.say"); if (d) { d.open = true; d.querySelector("textarea").focus(); } },
    Enter: () => document.activeElement.querySelector(".open-ask")?.click(),
    "/": () => $("s-q")?.focus(),
    "?": () => $("help").showModal(),
  };

  const KEYS = "vaglio-keys";
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
    if (!$("keys-on").checked || document.querySelector("dialog[open]")) return;
    if (e.target.matches("input, textarea, select, [contenteditable]")) return;
    if (e.key === "Enter" && !e.target.matches(".card")) return;
    const act = Object.hasOwn(keys, e.key) ? keys[e.key] : null;
    if (!act) return;
    e.preventDefault();
    act();
  });

  dock();
  watch();
  badge();
  addEventListener("resize", watch);
  document.addEventListener("toggle", watch, true);
  tellTime();
  setInterval(tellTime, 1000);
})();
