package web_test

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/metnos/vaglio/approval"
)

func TestBrowserPictures(t *testing.T) {
	t.Parallel()
	b := browser(t)
	in := newInbox(t, full())
	base := in.serve()
	b.enter(in, base)
	for _, look := range []string{"light", "dark"} {
		for _, width := range []int64{360, 1280} {
			b.scheme(look)
			b.do(chromedp.EmulateViewport(width, 800))
			for _, p := range []string{"", "?ask=rmbuild1", "?ask=plan4711", "/ask/plan4711", "/ask/worked01", "/history", "/turn/claude-code/t-81", "/try"} {
				b.do(chromedp.Navigate(base+"/inbox"+p), see("#main"))
				if over := get(b, chromedp.Evaluate[int](`document.documentElement.scrollWidth - document.documentElement.clientWidth`)); over > 0 {
					t.Errorf("%s is %d pixels too wide at width %d", p, over, width)
				}
				name := strings.NewReplacer("/", "-", "?", "-", "=", "-").Replace("inbox" + p)
				b.shoot(fmt.Sprintf("%s-%d-%s", name, width, look))
			}
		}
	}
}

// until waits for a condition on the page, without a limit of its own.
func until(js string) chromedp.Action[chromedp.Void] {
	return chromedp.Poll[chromedp.Void](js, chromedp.WithPollingTimeout(0))
}

// focus returns what has the focus: its id, or its accessible name.
func (b tab) focus() string {
	b.Helper()
	return get(b, chromedp.Evaluate[string](
		`document.activeElement.id || document.activeElement.getAttribute("aria-label") || document.activeElement.textContent.trim()`))
}

func (b tab) text(sel string) string {
	b.Helper()
	return strings.Join(strings.Fields(get(b, again(chromedp.TextContent(chromedp.CSS(sel))))), " ")
}

// A person signs in with the link, a card appears by itself, and the keyboard alone suffices to
// allow it.
func TestBrowserKeyboardAllows(t *testing.T) {
	t.Parallel()
	b, d, base := entered(t)
	b.do(see(".empty"), see(".live.on"))
	b.shoot("empty")
	d.open("rmbuild1", proposal("rm -rf ./build"))
	b.do(see("#ask-rmbuild1"), until(`document.title === "(1) Inbox · vaglio"`))
	b.do(until(`/^New: .*rm -rf \.\/build\.$/.test(document.querySelector("#say").textContent)`))
	if got := b.text("#nav-count"); got != "1 waiting" {
		t.Errorf("the menu counts %q", got)
	}
	b.do(chromedp.KeyEvent("j"), until(`document.activeElement.id === "row-rmbuild1"`))
	b.do(chromedp.KeyEvent(kb.Enter), until(`document.activeElement.id === "ask-rmbuild1"`))
	b.do(chromedp.KeyEvent("a"), until(`document.activeElement.dataset.choice === "allow"`))
	if got := b.focus(); got != "Allow once: Runs rm -rf ./build" {
		t.Fatalf("the focus is on %q", got)
	}
	b.shoot("focus")
	if len(d.tapped()) != 0 {
		t.Fatal("a single key decided")
	}
	b.do(chromedp.KeyEvent(kb.Enter), see("#notice .notice"), until(`!document.querySelector("#cards > .card")`))
	if len(d.tapped()) != 1 || d.state("rmbuild1-1") != approval.Allowed {
		t.Errorf("taps: %v", d.tapped())
	}
	if got := b.text("#notice"); !strings.HasPrefix(got, "Allowed once, ") || !strings.Contains(got, "The permit lapses in ") {
		t.Errorf("the notice says %q", got)
	}
	b.do(until(`document.title === "Inbox · vaglio"`), until(`document.activeElement.matches(".notice")`))
	b.shoot("allowed")
	b.do(chromedp.Navigate(base+"/inbox?ask=rmbuild1"), see("#ask-rmbuild1 .fate .stands"))
	if n := get(b, chromedp.Evaluate[int](`document.querySelectorAll("#ask-rmbuild1 button[data-choice]").length`)); n != 0 {
		t.Errorf("the final card holds %d buttons", n)
	}
	b.do(chromedp.Focus(chromedp.CSS("#ask-rmbuild1")), chromedp.KeyEvent(kb.Enter), see(".up:not(.back)"))
	if got := get(b, chromedp.Evaluate[string](`location.pathname`)); got != "/inbox/ask/rmbuild1" {
		t.Errorf("Enter on the card leads to %s", got)
	}
}

// What a person types is preserved, with the focus, while the page changes around it; what somebody
// else decides turns final in place.
func TestBrowserKeepsTypedWords(t *testing.T) {
	t.Parallel()
	b := browser(t)
	d := newDesk()
	d.open("firstone", proposal("make one"))
	d.open("plan4711", proposal("make two"), proposal("make three"))
	in := newInbox(t, d)
	base := in.serve()
	b.enter(in, base)
	b.do(chromedp.Navigate(base+"/inbox?ask=plan4711"), see(".live.on"))
	b.do(chromedp.Focus(chromedp.CSS("#item-plan4711-2 .deny")), chromedp.KeyEvent("w"))
	b.do(until(`document.activeElement.id === "words-plan4711-2"`))
	// The driver sends a key's letter even if the page handled the key.
	b.do(chromedp.Evaluate[chromedp.Void](`document.activeElement.value = ""`), chromedp.KeyEvent("Not ja, please"))
	d.open("lastone1", proposal("make four"))
	b.do(until(`document.querySelector("#row-lastone1")`))
	person := approval.Person{ID: "telegram:1", Name: "Ada"}
	for _, tap := range []approval.Tap{
		{Token: token("plan4711-1", "plan4711", approval.ChoiceAllow), By: person, Channel: "telegram"},
		{Token: token("firstone-1", "firstone", approval.ChoiceDeny), By: person, Channel: "telegram"},
	} {
		if _, err := d.Decide(t.Context(), tap); err != nil {
			t.Fatal(err)
		}
	}
	b.do(until(`!document.querySelector("#row-firstone")`), see("#item-plan4711-1 .badge.yes"))
	if got := get(b, chromedp.Evaluate[string](`document.querySelector("#words-plan4711-2").value`)); got != "Not ja, please" {
		t.Errorf("the words are %q", got)
	}
	b.do(chromedp.KeyEvent("!"), chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(kb.ModifierCtrl)))
	b.do(see("#notice .notice"))
	if got := d.lastTap(); got.Words != "Not ja, please!" {
		t.Errorf("tap: %+v", got)
	}
	// The plan is over, so the next card appears with the note at its buttons. When somebody else
	// decides that one, it stays and says so.
	b.do(see("#ask-lastone1 .dock #notice .notice"))
	tap := approval.Tap{Token: token("lastone1-1", "lastone1", approval.ChoiceDeny), By: person, Channel: "telegram"}
	if _, err := d.Decide(t.Context(), tap); err != nil {
		t.Fatal(err)
	}
	b.do(see("#ask-lastone1 .badge.no"), until(`document.querySelector("#say").textContent.startsWith("Denied: ")`))
}

// Two pages in one browser share one stream, and both are live.
func TestBrowserTwoPagesAreLive(t *testing.T) {
	t.Parallel()
	b, d, base := entered(t)
	b.do(see(".live.on"))
	ctx, cancel := chromedp.NewContext(b.ctx)
	defer cancel()
	second := tab{t, ctx}
	second.do(chromedp.Navigate(base+"/inbox/history"), see(".live.on"))
	d.open("rmbuild1", proposal("rm -rf ./build"))
	second.do(see("#step-step-rmbuild1-1"))
	b.do(see("#row-rmbuild1"))
	d.mu.Lock()
	n := len(d.watchers)
	d.mu.Unlock()
	if n != 1 {
		t.Errorf("%d streams for two pages", n)
	}
	b.do(chromedp.Navigate("about:blank"))
	d.open("rmbuild2", proposal("rm -rf ./dist"))
	second.do(see("#step-step-rmbuild2-1"))
}

// A click that arrives right after the page moved does not count as an answer.
func TestBrowserPressAfterAMoveIsAskedAgain(t *testing.T) {
	t.Parallel()
	b := browser(t)
	d := newDesk()
	d.open("firstone", proposal("make one"))
	in := newInbox(t, d)
	b.enter(in, in.serve())
	b.do(see(".live.on"))
	// The click comes from inside the page, at the moment of the change.
	b.do(chromedp.Evaluate[chromedp.Void](`new MutationObserver(() => {
		const allow = document.querySelector("#ask-firstone .allow");
		if (document.querySelector("#row-secondone") && !window.pressed) { window.pressed = true; setTimeout(() => allow.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, detail: 1 }))); }
	}).observe(document.querySelector("#list"), { childList: true })`))
	d.open("secondone", proposal("make two"))
	b.do(until(`window.pressed && document.querySelector("#say").textContent.includes("has just changed")`))
	if len(d.tapped()) != 0 {
		t.Errorf("it decided: %v", d.tapped())
	}
}

// When vaglio goes away, the page says so and does not pretend that an answer arrived.
func TestBrowserSaysWhenVaglioIsAway(t *testing.T) {
	t.Parallel()
	b := browser(t)
	d := newDesk()
	d.open("firstone", proposal("make one"))
	in := newInbox(t, d)
	b.enter(in, in.serve())
	b.do(see(".live.on"))
	d.change(func() { d.fail = errors.New("disk full") })
	b.do(click("#ask-firstone .deny"), see(".notice.fault"))
	if got := b.text(".notice.fault"); !strings.Contains(got, "may not have been saved") {
		t.Errorf("got %q", got)
	}
	d.change(func() { d.fail = nil })
	in.web.Stop()
	b.do(see(".live.off"))
	if got := b.text("#live"); !strings.Contains(got, "Not live") {
		t.Errorf("got %q", got)
	}
}

// Without scripts a person sees everything and can deny, and reads why Allow is missing.
func TestBrowserWithoutScript(t *testing.T) {
	t.Parallel()
	b := browser(t)
	d := newDesk()
	d.open("firstone", proposal("make one"))
	d.open("secondone", proposal("make two"))
	d.answers["shell_exec"] = full().answers["shell_exec"]
	in := newInbox(t, d)
	base := in.serve()
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.do(chromedp.Navigate(in.web.LoginLink(base)))
	b.press(`form[action="/inbox/login"] button`)
	b.do(see("#ask-firstone .deny"))
	if got := b.text("#ask-firstone .limit"); !strings.Contains(got, "but not allow: this browser signed in without a signing key") {
		t.Errorf("the card says %q", got)
	}
	if n := get(b, chromedp.Evaluate[int](`document.querySelectorAll("button.allow, form [name=words], noscript").length`)); n != 0 {
		t.Errorf("%d things are offered that the session may not do", n)
	}
	b.press("#ask-firstone .deny")
	if got := b.text("#notice"); !strings.HasPrefix(got, "Denied, ") {
		t.Errorf("the notice says %q", got)
	}
	// The list and the next card also work without scripts.
	b.do(see("#ask-secondone"), chromedp.Navigate(base+"/inbox/try"), see(".cut"))
	b.do(chromedp.Navigate(base + "/inbox/history"))
	b.do(click(".filter summary"), see("#f-executor"), chromedp.SendKeys(chromedp.CSS("#f-executor"), "nothing"))
	b.press(".filter button")
	if got := b.text("#entries"); !strings.Contains(got, "Nothing matches") {
		t.Errorf("the filter shows %q", got)
	}
}

// press clicks and waits for the next page.
func (b tab) press(sel string) {
	b.Helper()
	if _, err := chromedp.RunResponse(b.ctx, click(sel)); err != nil {
		b.Fatalf("%s: %v", sel, err)
	}
}

// Screen readers find a name on everything that can be pressed, and everything is large enough for
// fingers.
func TestBrowserNamesAndRoom(t *testing.T) {
	t.Parallel()
	all := scenes(t)
	t.Run("it", func(t *testing.T) { // Its words are the shortest.
		t.Parallel()
		b := browser(t)
		b.speak("it")
		b.roomyScenes(all[:1])
	})
	b := browser(t)
	b.roomyScenes(all)
	in := newInbox(t, full())
	base := in.serve()
	b.enter(in, base)
	b.do(chromedp.Navigate(base+"/inbox"), see("#main"), chromedp.KeyEvent(kb.Tab))
	if got := b.focus(); got != "Skip to the page" {
		t.Errorf("the first stop is %q", got)
	}
}

// roomyScenes checks every page of the scenes on a small phone.
func (b tab) roomyScenes(all []scene) {
	b.Helper()
	b.do(chromedp.EmulateViewport(360, 740))
	for _, s := range all {
		in := newInbox(b.T, s.desk)
		base := in.serve()
		b.enter(in, base)
		for _, p := range append(s.pages, "/inbox/login?code=X") {
			b.do(chromedp.Navigate(base+p), see("#main"), unfold)
			b.roomy(s.name + " " + p)
		}
	}
}

// roomy checks that everything on the page that can be pressed has a name and room for a finger, and
// that the page is no wider than the screen.
func (b tab) roomy(page string) {
	b.Helper()
	pressable := map[string]int{}
	for _, n := range call(b, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{}).Nodes {
		if n.Ignored || n.Role == nil {
			continue
		}
		role := strings.Trim(string(n.Role.Value), `"`)
		switch role {
		case "button", "link", "textbox", "combobox", "checkbox", "DisclosureTriangle":
			pressable[role]++
			if n.Name == nil || strings.Trim(string(n.Name.Value), `" `) == "" {
				b.Errorf("%s: a %s has no name", page, role)
			}
		}
	}
	if pressable["button"] == 0 || pressable["link"] == 0 {
		b.Errorf("%s: the tree holds %v", page, pressable)
	}
	small := get(b, chromedp.Evaluate[string](`[...document.querySelectorAll("button, summary, .button, nav a, input:not([type=hidden]), select, textarea")]
		.filter((e) => e.checkVisibility() && !e.closest("label.check"))
		.filter((e) => { const r = e.getBoundingClientRect(); return r.height < 44 || r.width < 44; })
		.map((e) => e.outerHTML.slice(0, 80)).join("\n")`))
	if small != "" {
		b.Errorf("%s: too small to press:\n%s", page, small)
	}
	if over := get(b, chromedp.Evaluate[int](`document.documentElement.scrollWidth - document.documentElement.clientWidth`)); over > 0 {
		b.Errorf("%s is %d pixels too wide", page, over)
	}
}

// Text from outside cannot make a page wider than a phone, or leave its block.
func TestBrowserHostileTextStaysInside(t *testing.T) {
	t.Parallel()
	b := browser(t)
	for _, name := range []string{"bidi", "lookalike", "padding", "zalgo", "long_word", "right_to_left"} {
		in := newInbox(t, everywhere(hostile()[name]))
		base := in.serve()
		b.do(chromedp.EmulateViewport(360, 740))
		b.enter(in, base)
		for _, p := range []string{"/inbox", "/inbox?ask=waiting1", "/inbox/ask/waiting1", "/inbox/history", turnOf("a"+hostile()[name], "t"+hostile()[name])} {
			b.do(chromedp.Navigate(base+p), see("#main"))
			if tall := get(b, chromedp.Evaluate[float64](`Math.max(0, ...[...document.querySelectorAll(".entry, #list > .row, .ids")].map((e) => e.getBoundingClientRect().height))`)); tall > 480 {
				t.Errorf("%s: %s has a closed entry of %.0f pixels", name, p, tall)
			}
			b.do(chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("details").forEach((d) => { d.open = true; })`))
			over := get(b, chromedp.Evaluate[int](`document.documentElement.scrollWidth - document.documentElement.clientWidth`))
			inner := get(b, chromedp.Evaluate[int](`[...document.querySelectorAll("pre")].filter((e) => e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1 && e.tabIndex !== 0).length`))
			if over > 0 || inner > 0 {
				t.Errorf("%s: %s is %d pixels too wide, and %d blocks hide a part", name, p, over, inner)
			}
		}
		if name == "bidi" || name == "lookalike" || name == "padding" {
			b.shoot("hostile-" + name)
		}
	}
}

// turnOf returns the address of a turn's page.
func turnOf(agent, turn string) string {
	return "/inbox/turn?" + url.Values{"agent": {agent}, "turn": {turn}}.Encode()
}

// A form that is too large is answered on the same page, in the person's language, with a way to go
// on, and has no effect.
func TestBrowserRefusesALargeForm(t *testing.T) {
	t.Parallel()
	for lang, want := range map[string]string{"en": "The form is too large", "it": "Il modulo è troppo grande"} {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
			b := browser(t)
			b.speak(lang)
			d := newDesk()
			d.open("firstone", proposal("make one"))
			in := newInbox(t, d)
			base := in.serve()
			b.enter(in, base)
			for _, size := range [][2]int64{{390, 844}, {1280, 900}} {
				b.do(chromedp.EmulateViewport(size[0], size[1]), chromedp.Navigate(base+"/inbox/try"), see("#proposal"))
				// That much in a text field would take the browser longer to draw than to send.
				b.do(chromedp.Evaluate[chromedp.Void](`(() => {
					const much = document.createElement("input");
					[much.type, much.name, much.value] = ["hidden", "more", "x".repeat(5 << 20)];
					document.querySelector(".own").append(much);
				})()`), click(".own button"))
				b.do(see(".notice.fault"))
				if got := b.text(".notice.fault"); !strings.Contains(got, want) {
					t.Errorf("at %d pixels the page says %q", size[0], got)
				}
				b.roomy(lang + " a form too large")
				b.shoot(fmt.Sprintf("large-%s-%d", lang, size[0]))
			}
			if len(d.tapped()) != 0 || len(d.asks) != 1 {
				t.Errorf("it did something: %v", d.tapped())
			}
		})
	}
}
