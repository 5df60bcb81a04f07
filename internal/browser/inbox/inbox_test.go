package web_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio"
)

// script returns a shell script of 300 lines.
func script() string {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "cp /srv/app/part-%03d /backup/part-%03d\n", i+1, i+1)
	}
	return strings.TrimSpace(b.String())
}

// busyDesk returns a desk with 29 asks: single calls, plans of five, long scripts, and other tools.
func busyDesk() *desk {
	d := newDesk()
	for i := range 29 {
		id := approval.AskID(fmt.Sprintf("ask%04d", i))
		switch i % 9 {
		case 3:
			d.open(id, proposal(script()))
		case 5:
			var plan []vaglio.Proposal
			for n := range 5 {
				plan = append(plan, proposal(fmt.Sprintf("git tag -d v1.%d", n)))
			}
			d.open(id, plan...)
		case 7:
			p := proposal("")
			p.Executor, p.Args = "send_mail", vaglio.Args{"to": "boss@example.com", "subject": "I quit", "body": strings.Repeat("Effective today.\n", 90)}
			d.open(id, p)
		default:
			d.open(id, proposal(fmt.Sprintf("rm -rf ./build-%d", i)))
		}
	}
	return d
}

// screens returns the height of the page in screens.
func (b tab) screens() float64 {
	b.Helper()
	return get(b, chromedp.Evaluate[float64](`document.documentElement.scrollHeight / innerHeight`))
}

// TestBrowserHeights limits how much of a screen each part takes, on a phone and on a desktop.
func TestBrowserHeights(t *testing.T) {
	t.Parallel()
	b := browser(t)
	var five []vaglio.Proposal
	for n := range 5 {
		five = append(five, proposal(fmt.Sprintf("git tag -d v1.%d", n)))
	}
	for _, tt := range []struct {
		name string
		desk *desk
		most float64
	}{
		{"one plain call", with(proposal("rm -rf ./build")), 1},
		{"a plan of 5", with(five...), 2.5},
		{"a script of 300 lines", with(proposal(script())), 3},
		{"29 asks", busyDesk(), 6},
	} {
		in := newInbox(t, tt.desk)
		base := in.serve()
		b.enter(in, base)
		for _, size := range [][2]int64{{390, 844}, {1280, 900}} {
			b.do(chromedp.EmulateViewport(size[0], size[1]), chromedp.Navigate(base+"/inbox"), see("#live.on"))
			got := b.screens()
			t.Logf("%s at %d×%d: %.2f screens", tt.name, size[0], size[1], got)
			if got > tt.most {
				t.Errorf("%s takes %.2f screens at %d×%d, at most %.1f", tt.name, got, size[0], size[1], tt.most)
			}
			tall := get(b, chromedp.Evaluate[float64](`Math.max(0, ...[...document.querySelectorAll("#list > .row")].map((r) => r.getBoundingClientRect().height))`))
			if tall > 72 {
				t.Errorf("%s: a row is %.0f pixels high", tt.name, tall)
			}
			if small := get(b, chromedp.Evaluate[string](`[...document.querySelectorAll("#cards button, #cards summary.button, #cards .say > summary")].filter((e) => e.checkVisibility())
				.filter((e) => { const r = e.getBoundingClientRect(); return r.height < 44 || r.width < 44; }).map((e) => e.textContent.trim()).join()`)); small != "" {
				t.Errorf("%s at %d×%d: too small to press: %s", tt.name, size[0], size[1], small)
			}
			if tt.name == "29 asks" && size[0] < 768 {
				continue // There the list is alone.
			}
			reach := get(b, chromedp.Evaluate[string](`[...document.querySelectorAll(".dock button[data-choice]")].filter((e) => e.checkVisibility())
				.filter((e) => { const r = e.getBoundingClientRect(); return r.top < 0 || r.bottom > innerHeight; }).map((e) => e.textContent).join()`))
			if reach != "" || get(b, chromedp.Evaluate[int](`document.querySelectorAll(".dock button[data-choice=deny]").length`)) == 0 {
				t.Errorf("%s at %d×%d: out of reach: %q", tt.name, size[0], size[1], reach)
			}
			if tt.name != "one plain call" {
				continue
			}
			if out := get(b, chromedp.Evaluate[float64](`document.querySelector("#cards > .card").getBoundingClientRect().bottom - innerHeight`)); out > 0 {
				t.Errorf("%.0f pixels of a plain call are below the fold at %d×%d", out, size[0], size[1])
			}
			b.shoot(fmt.Sprintf("plain-%d", size[0]))
		}
	}
}

// A row of the list cuts no recipient, account or name that an everyday call has, in either
// language.
func TestBrowserRowsAreWhole(t *testing.T) {
	t.Parallel()
	b := browser(t)
	in := newInbox(t, everyday(t))
	base := in.serve()
	for _, lang := range []string{"en", "it"} {
		b.speak(lang)
		b.enter(in, base)
		for _, size := range [][2]int64{{390, 844}, {1280, 900}} {
			b.do(chromedp.EmulateViewport(size[0], size[1]), chromedp.Navigate(base+"/inbox"), see("#live.on"))
			cut := get(b, chromedp.Evaluate[string](`[...document.querySelectorAll(".head-text")].filter((e) => e.scrollHeight > e.clientHeight + 1 || e.scrollWidth > e.clientWidth).map((e) => e.textContent).join("; ")`))
			tall := get(b, chromedp.Evaluate[float64](`Math.max(...[...document.querySelectorAll("#list > .row")].map((r) => r.getBoundingClientRect().height))`))
			inside := get(b, chromedp.Evaluate[bool](`[...document.querySelectorAll("#list > .row > a")].every((a) => a.scrollHeight <= a.clientHeight)`))
			if cut != "" || tall > 72 || !inside {
				t.Errorf("%s at %d: cut are %q; a row is %.0f pixels high, and holds its lines: %t", lang, size[0], cut, tall, inside)
			}
		}
	}
}

// with returns a desk with one ask.
func with(ps ...vaglio.Proposal) *desk {
	d := newDesk()
	d.open("theone", ps...)
	return d
}

// Allow does not work before the end of a long call has been seen, by mouse or keyboard, and says
// so.
func TestBrowserAllowWaitsForTheEnd(t *testing.T) {
	t.Parallel()
	b := browser(t)
	d := with(proposal(script()))
	in := newInbox(t, d)
	b.enter(in, in.serve())
	b.do(see("#live.on"), until(`document.querySelector(".dock .allow").hasAttribute("data-unread")`), see(".dock .unread"))
	b.do(until(`performance.now() > 1000`)) // The page asks again after a click right after loading.
	b.do(click(".dock .allow"))
	b.do(until(`document.querySelector("#say").textContent.startsWith("Not all of the call was seen yet.")`))
	if got := get(b, chromedp.Evaluate[string](`document.activeElement.className`)); !strings.HasPrefix(got, "command") {
		t.Errorf("the focus is on %q, not on what is to be read", got)
	}
	// Nor does a submission that bypasses the button's own check decide anything.
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector(".dock .allow").form.requestSubmit(document.querySelector(".dock .allow"))`))
	if got := d.tapped(); len(got) != 0 {
		t.Fatalf("it was allowed unseen: %v", got)
	}
	b.shoot("unread")
	b.do(chromedp.KeyEvent(kb.End), until(`!document.querySelector(".dock .allow").hasAttribute("data-unread")`))
	b.do(chromedp.KeyEvent("a"), until(`document.activeElement.dataset.choice === "allow"`), chromedp.KeyEvent(kb.Enter), see("#notice .notice"))
	if got := d.tapped(); len(got) != 1 {
		t.Errorf("taps: %v", got)
	}
}

// TestBrowserWalk answers 29 asks with the keyboard alone, on a phone and on a desktop, and allows
// none unseen: before each Allow, the end of each of its calls was visible, as the test itself
// measures at every step.
func TestBrowserWalk(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int64{{390, 844}, {1280, 900}} {
		t.Run(fmt.Sprint(size[0]), func(t *testing.T) {
			t.Parallel()
			b := browser(t)
			d := busyDesk()
			in := newInbox(t, d)
			b.do(chromedp.EmulateViewport(size[0], size[1]))
			b.enter(in, in.serve())
			b.do(see("#live.on"), chromedp.KeyEvent("j"), until(`document.activeElement.matches(".row > a, .card")`))
			b.do(chromedp.KeyEvent(kb.Enter), until(`document.activeElement.matches(".card[data-waiting]")`))
			keys := 0
			for n := range 29 {
				ask := get(b, chromedp.Evaluate[string](`document.activeElement.dataset.ask ?? ""`))
				if ask == "" {
					t.Fatalf("after %d answers the focus is on %q", n, b.focus())
				}
				keys += b.answer(ask, n%4 == 3)
			}
			b.do(until(`document.title === "Inbox · vaglio"`), see("#list .empty"))
			allowed := 0
			for _, tap := range d.tapped() {
				if strings.HasSuffix(string(tap.Token), "-allow") {
					allowed++
				}
			}
			if n := len(d.tapped()); n != 29 || allowed != 22 {
				t.Errorf("%d answers, %d of them allowed", n, allowed)
			}
			t.Logf("29 asks took %d keys", keys)
		})
	}
}

// sighted returns which ends of the card's calls are visible now, by index.
const sighted = `(() => {
  const dock = document.querySelector("#cards .dock").getBoundingClientRect(), pane = document.querySelector("#detail").getBoundingClientRect();
  return [...document.querySelectorAll("#cards [data-end]")].map((end) => {
    const r = end.getBoundingClientRect(), box = end.closest("pre").getBoundingClientRect();
    const inBox = r.bottom > box.top && r.top < box.bottom;
    return inBox && r.bottom > Math.max(0, pane.top) && r.top < Math.min(dock.top, innerHeight);
  });
})()`

// answer answers the focused card with the keyboard, waits for the next one, and returns the number
// of keys pressed.
func (b tab) answer(ask string, deny bool) (keys int) {
	b.Helper()
	b.do(until(`document.querySelector(".dock .actions")`))
	if deny {
		b.do(chromedp.KeyEvent("d"), until(`document.activeElement.dataset.choice === "deny"`), chromedp.KeyEvent(kb.Enter))
		b.gone(ask)
		return 2
	}
	seen := map[int]bool{}
	look := func() {
		for i, in := range get(b, chromedp.Evaluate[[]bool](sighted)) {
			seen[i] = seen[i] || in
		}
	}
	look()
	for keys = 1; keys < 80; keys++ {
		b.do(chromedp.KeyEvent("a"))
		look()
		if get(b, chromedp.Evaluate[bool](`document.activeElement.dataset.choice === "allow"`)) {
			break
		}
		// The page counts what became visible asynchronously.
		b.do(chromedp.Evaluate[chromedp.Void](`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`))
		look()
	}
	for i := range len(get(b, chromedp.Evaluate[[]bool](sighted))) {
		if !seen[i] {
			b.Errorf("%s: Allow is live though the end of call %d was never in sight", ask, i+1)
		}
	}
	b.do(chromedp.KeyEvent(kb.Enter))
	b.gone(ask)
	return keys + 1
}

// gone waits until the ask has been answered and another one is in its place.
func (b tab) gone(ask string) {
	b.Helper()
	js := fmt.Sprintf(`!document.querySelector("#ask-%s") && !document.querySelector("#row-%s") && (document.activeElement.matches(".card[data-waiting]") || !document.querySelector("#cards > .card"))`, ask, ask)
	if err := chromedp.Do(b.ctx, until(js)); err != nil {
		b.Fatalf("%s: %v; the page says %q", ask, err, b.text("#say"))
	}
}

// The inbox works as an app: it has a manifest, a count on its icon and, if the person wants that, a
// notification when a card arrives while nobody looks.
func TestBrowserNotices(t *testing.T) {
	t.Parallel()
	b, d, _ := entered(t)
	b.do(see("#live.on"))
	faults := call(b, page.GetAppManifest, page.GetAppManifestParams{})
	if len(faults.Errors) > 0 || !strings.HasSuffix(faults.URL, "/inbox/manifest.webmanifest") {
		t.Errorf("the manifest at %q: %v", faults.URL, faults.Errors)
	}
	// Record what the platform would show.
	b.do(chromedp.Evaluate[chromedp.Void](`(() => {
		window.shownTo = []; window.counts = [];
		navigator.setAppBadge = async (n) => { counts.push(n); };
		navigator.clearAppBadge = async () => { counts.push(0); };
		ServiceWorkerRegistration.prototype.showNotification = async (title, o) => { shownTo.push([title, o.tag, o.data].join(" | ")); };
		window.permits = "denied"; window.tones = 0;
		Notification.requestPermission = async () => permits;
		const start = OscillatorNode.prototype.start;
		OscillatorNode.prototype.start = function (...at) { tones++; return start.apply(this, at); };
		Object.defineProperty(Notification, "permission", { get: () => "granted" });
		Object.defineProperty(document, "hidden", { get: () => true });
	})()`))
	d.open("unwanted", proposal("make one"))
	b.do(until(`document.querySelector("#row-unwanted") && counts.at(-1) === 1`))
	b.do(click("#alert-open"), see("#alert-show"), click("#alert-show"))
	// If the browser refuses, the page says how to change that, and shows nothing.
	b.do(see("#alert-refused"), until(`!document.querySelector("#alert-show").checked && localStorage.getItem("vaglio-alert-show") !== "on"`))
	b.do(chromedp.Evaluate[chromedp.Void](`permits = "granted"`), click("#alert-show"))
	b.do(until(`localStorage.getItem("vaglio-alert-show") === "on" && document.querySelector("#alert-show").checked`))
	b.do(until(`document.querySelector("#alert-refused").hidden && tones === 0`), click("#alert-sound"), until(`tones === 1`)) // As a sample.
	d.open("rmbuild1", proposal("rm -rf ./build"))
	b.do(until(`counts.at(-1) === 2 && shownTo.length > 0 && tones === 2`))
	got := get(b, chromedp.Evaluate[string](`shownTo.join("\n")`))
	if !strings.Contains(got, "rm -rf ./build | rmbuild1 | /inbox?ask=rmbuild1") || strings.Contains(got, "\n") {
		t.Errorf("notifications: %s", got)
	}
}

// A person may allow a long call once they opened each line that they are asked about, by keyboard
// or by finger, and only then.
func TestBrowserAllowWaitsForTheLines(t *testing.T) {
	t.Parallel()
	b := browser(t)
	lines := strings.Split(strings.ReplaceAll(script(), "cp", "echo"), "\n")
	lines[250], lines[120] = "git push --force origin main", "aws s3 rm --recursive s3://backups\n\n\n\n"
	d := newDesk()
	d.judge(t, "theone", wanted(strings.Join(lines, "\n"), "move the backups"))
	in := newInbox(t, d)
	base := in.serve()
	for _, size := range [][2]int64{{390, 844}, {1280, 900}} {
		b.do(chromedp.EmulateViewport(size[0], size[1]))
		b.enter(in, base)
		b.do(see("#live.on"), until(`document.querySelector(".dock .allow").hasAttribute("data-unread")`), see(".lines a"))
		if got := get(b, chromedp.Evaluate[string](`[...document.querySelectorAll("mark.asked")].map((m) => m.dataset.n + " " + m.textContent.trim()).join("; ")`)); got != "121 aws s3 rm --recursive s3://backups; 255 git push --force origin main" {
			t.Errorf("marked are %q", got)
		}
		b.shoot(fmt.Sprintf("lines-%d", size[0]))
		inSight := func(n int) chromedp.Action[chromedp.Void] {
			return until(fmt.Sprintf(`(() => { const m = document.querySelector('mark.asked[data-n="%d"]').getBoundingClientRect(), p = document.querySelector("pre.command").getBoundingClientRect(),
				d = document.querySelector(".dock").getBoundingClientRect();
				return m.top >= p.top - 1 && m.bottom <= p.bottom + 1 && m.top >= 0 && m.bottom <= Math.min(innerHeight, d.top > p.top ? d.top : innerHeight); })()`, n))
		}
		b.do(click(".lines li:nth-child(1) a"), inSight(121))
		b.shoot(fmt.Sprintf("line-%d", size[0]))
		if !get(b, chromedp.Evaluate[bool](`document.querySelector(".dock .allow").hasAttribute("data-unread")`)) {
			t.Error("one of two lines was enough")
		}
		b.do(chromedp.KeyEvent("a"), inSight(255), until(`!document.querySelector(".dock .allow").hasAttribute("data-unread")`))
		b.shoot(fmt.Sprintf("line2-%d", size[0]))
	}
	b.do(chromedp.KeyEvent("a"), until(`document.activeElement.dataset.choice === "allow"`), chromedp.KeyEvent(kb.Enter), see("#notice .notice"))
	if got := d.tapped(); len(got) != 1 {
		t.Errorf("taps: %v", got)
	}
}
