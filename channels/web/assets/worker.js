// The inbox's worker: it shows what the page asks it to show, and brings the page to
// the front when a person presses that. It keeps nothing and fetches nothing.
"use strict";

addEventListener("notificationclick", (e) => {
  e.notification.close();
  const to = new URL(e.notification.data ?? "/inbox", location.origin);
  e.waitUntil((async () => {
    const pages = await clients.matchAll({ type: "window", includeUncontrolled: true });
    const page = pages.find((p) => new URL(p.url).pathname.startsWith("/inbox"));
    if (!page) { await clients.openWindow(to.href); return; }
    await page.focus();
    page.postMessage({ open: to.pathname + to.search });
  })());
});
