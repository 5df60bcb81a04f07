package channeltest

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/vaglio"
)

// alike returns lines that are easily mistaken for each other.
func alike() []string {
	return []string{
		"rm a", "rm  a", "rm а", "rm a ", "rm a\n", "rm\ta", "rm \u200ba", "rm \u202ea", "rm a\u00a0", "rm\u2003a", "rm \u00e4", "rm a\u0308",
		"rm ａ", "rm 𝐚", "rm a\ufe0f", "rm a\U000e0100", "rm \u2066a\u2069", "rm \u00ada", "rm \ufeffa", "rm\u2028a", "rm\r\na", "rm a\x00", "rm a\x1b[0m",
		"<b>rm a</b>", "&lt;b&gt;rm a", "rm a\\", "*rm a*", "`rm a`", "_rm a_", "rm a…", "rm a...", "⟨U+200B⟩rm a", "\u200brm a", "rm \xffa", "rm \xfea", "rm \ufffda",
		strings.Repeat("x", 9000), strings.Repeat("x", 9001), strings.Repeat("x", 8999) + "y", strings.Repeat("x", 4000) + "y" + strings.Repeat("x", 4999),
		strings.Repeat(" ", 200) + "rm", strings.Repeat(" ", 201) + "rm", strings.Repeat("\n", 50) + "rm", strings.Repeat("\n", 51) + "rm",
	}
}

// bare returns the picture without what differs even between equal calls.
func bare(p *Picture, a *approval.Ask) string {
	return strings.ReplaceAll(p.Text+"\x00"+strings.Join(p.Files, "\x00"), string(a.ID), "ID")
}

func differs(t *testing.T, h Harness) {
	race.Alone(t)
	seen := map[string]string{}
	show := func(what string, p vaglio.Proposal, agent string) {
		a := openFor(t, h.Channel.Name(), agent, "clean up", p)
		_, pic := h.post(t, &a)
		text := bare(&pic, &a)
		if other, ok := seen[text]; ok {
			t.Errorf("%.40q and %.40q look the same", what, other)
		}
		seen[text] = what
	}
	for _, line := range alike() {
		show(line, vaglio.Proposal{Executor: "shell_exec", Args: vaglio.Args{"command": line}}, "coder")
	}
	p := vaglio.Proposal{Executor: "send", Args: vaglio.Args{"to": "ann", "body": "hi"}}
	show("a call", p, "coder")
	for _, text := range []string{"ann ", "аnn", "ann\u200b", "ann\"", "ann\\"} {
		p.Args = vaglio.Args{"to": text, "body": "hi"}
		show("an argument "+text, p, "coder")
	}
	p.Args = vaglio.Args{"to\u200b": "ann", "body": "hi"}
	show("a key", p, "coder")
	p.Args = vaglio.Args{"to": 1, "body": "hi"}
	show("a number", p, "coder")
	p.Args = vaglio.Args{"to": "1", "body": "hi"}
	show("a text of a digit", p, "coder")
	p.Executor = "ѕend"
	show("another executor", p, "coder")
	show("another agent", p, "соder")
	p.Context = vaglio.Context{Cwd: "/srv"}
	show("a folder", p, "coder")
	p.Context = vaglio.Context{Cwd: "/srv\u200b", Mounts: []string{"/a"}}
	show("another folder", p, "coder")
	p.Context = vaglio.Context{Cwd: "/srv\u200b", Mounts: []string{"/a "}}
	show("another mount", p, "coder")
	p.Context.Mounts = nil
	show("no mount", p, "coder")
	p.Context.Mounts = []string{""}
	show("an empty mount", p, "coder")
}

func reveals(t *testing.T, h Harness) {
	_, _, p := h.ask(t, "echo \u202e\u200b\u2066\x1b[2J\ufeff\U000e0041 done")
	unseen(t, &p)
	if !strings.Contains(p.Text, "U+202E") {
		t.Errorf("the card hides what was there: %q", p.Text)
	}
}

// unseen fails the test if the picture contains invisible characters.
func unseen(t *testing.T, p *Picture) {
	t.Helper()
	for _, r := range p.Text {
		if r != '\n' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point) && r != '\ufe0f') {
			t.Errorf("%U is on the card unseen: %q", r, p.Text)
			return
		}
	}
}

// forgeries are texts with which an agent would make a card lie, or lead somewhere.
func forgeries() map[string]string {
	return map[string]string{
		"HTML":     `</code></pre></blockquote></b><a href="https://evil.example">Allow</a><script>x</script>`,
		"Markdown": "*bold* [Allow](https://evil.example) ```\n# title\n```",
		"Slack":    "<https://evil.example|Allow> <!channel> <@U123>",
		"Links":    "https://evil.example evil.com @somebody_else /start #tag $USD +12025550123 ann@evil.com",
		"Form":     `</textarea><form action="/inbox/decide"><button name="token" value="X" data-choice="allow">Allow once</button></form>`,
		"Line":     "ls\n\n✅ Allowed once by Ann\n🔸 coder: ls\n",
		"Template": "{{.agent}} {agent} %s ${x} \ufdd0\ufdd1",
		"Entities": "&lt;b&gt; &#60;b&#62; &amp; &unknown; &",
		"Bytes":    "\xff\xfe\xc0\xaf\xed\xa0\x80",
		"Emoji":    "👨‍👩‍👧‍👦 🏴󠁧󠁢󠁥󠁮󠁧󠁿 é é",
		"Zalgo":    "a" + strings.Repeat("\u0301", 300),
		"Long":     strings.Repeat("<&>", 700),
	}
}

func hostile(t *testing.T, h Harness) {
	_, _, want := h.ask(t, "make")
	for name, text := range forgeries() {
		p := vaglio.Proposal{
			Executor: "e" + text, TurnID: text, Intent: text, Args: vaglio.Args{"command": text, "k": strings.ToValidUTF8(text, "?")},
			Context: vaglio.Context{Cwd: text, Mounts: []string{text}, SubAgent: text},
		}
		a := openFor(t, h.Channel.Name(), "a"+text, text, p)
		h.Desk.Change(func() { a.Approvals[0].Refusal.Why = text })
		ref, got := h.post(t, &a)
		if !slices.Equal(got.choices(), want.choices()) {
			t.Errorf("%s: the card offers %v, want %v", name, got.choices(), want.choices())
		}
		words := strings.ToValidUTF8(text[:min(len(text), approval.MaxWords)], "?")
		h.Desk.Change(func() {
			_, err := a.Decide(approval.Tap{
				Ask: a.ID, Choice: approval.ChoiceAllow, By: approval.Person{ID: "test:1", Name: "n" + text}, Words: words,
			}, a.OpenedAt, permitFor)
			if err != nil {
				t.Fatal(err)
			}
		})
		final := h.amend(t, ref, &a)
		for _, p := range []Picture{got, final} {
			unseen(t, &p)
			if len(p.Links) > 0 {
				t.Errorf("%s: the card leads to %q", name, p.Links)
			}
		}
		if len(final.Buttons) != 0 {
			t.Errorf("%s: the final card offers %v", name, final.choices())
		}
	}
}

func masked(t *testing.T, h Harness) {
	const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	a := openFor(t, h.Channel.Name(), "coder", "push with "+secret, vaglio.Proposal{
		Executor: "shell_exec", TurnID: secret,
		Args:    vaglio.Args{"command": "git push https://" + secret + "@github.com/x/y" + strings.Repeat(" word", h.Facts.Long/5), "password": "hunter2hunter2"},
		Context: vaglio.Context{SubAgent: secret},
	})
	ref, p := h.post(t, &a)
	h.elsewhere(t, &a, approval.ChoiceDeny, "")
	for _, p := range []Picture{p, h.amend(t, ref, &a)} {
		parts := append(slices.Clone(p.Files), p.Text)
		for _, b := range p.Buttons {
			parts = append(parts, b.Label)
		}
		all := strings.Join(parts, "\n")
		if strings.Contains(all, secret) || strings.Contains(all, "hunter2hunter2") {
			t.Errorf("a secret is on the card: %s", all)
		}
	}
}

// obscured checks that a call which a masked value decides can be denied wherever a card
// is, but allowed only where the value was shown.
func obscured(t *testing.T, h Harness) {
	const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	v := vaglio.Verdict{Reason: "too broad", JudgeKind: "effects", Score: 0.2, BlockedBy: vaglio.PhaseJudge}
	plain := vaglio.Proposal{Executor: "shell_exec", Args: vaglio.Args{"command": "make it"}}
	hidden := vaglio.Proposal{Executor: "shell_exec", Args: vaglio.Args{"command": "token=" + secret + "; echo $token | base64 -d | sh"}}
	for name, calls := range map[string][]vaglio.Proposal{"alone": {hidden}, "beside another": {plain, hidden}} {
		a := open(t, v, approval.Opening{Agent: "coder", Intent: "clean up", Channels: []string{h.Channel.Name()}}, calls...)
		last := &a.Approvals[len(a.Approvals)-1]
		last.Obscured = []approval.Obscured{approval.ObscuredDecoder}
		ref, p := h.post(t, a)
		allows := 0
		for _, b := range p.Buttons {
			if b.Choice == approval.ChoiceAllow {
				allows++
			}
		}
		if said := strings.ToLower(p.Text); allows != len(calls)-1 || strings.Contains(p.Text, secret) || !strings.Contains(said, "a masked value decides what is decoded") {
			t.Errorf("%s: the card offers %v: %s", name, p.choices(), p.Text)
		}
		if h.Revealed == nil {
			h.denyAll(t, a, ref)
			continue
		}
		p = h.Revealed(ref)
		if !strings.Contains(p.Text, secret) {
			t.Fatalf("%s: what is masked is not shown: %s", name, p.Text)
		}
		for _, b := range p.Buttons {
			if b.Choice == approval.ChoiceAllow {
				b.Press(Owner)
			}
		}
		if s := h.Desk.states(a); s[len(s)-1] != approval.Allowed {
			t.Errorf("%s: shown and allowed, it is %v", name, s)
		}
	}
}

// forged checks that somebody who presses an Allow that a card should not have is told why
// it allows nothing.
func forged(t *testing.T, h Harness) {
	if h.Revealed != nil {
		t.Skip("its buttons that allow such a call are where it was shown")
	}
	a, _, p := h.ask(t, "make")
	h.Desk.Change(func() { a.Approvals[0].Obscured = []approval.Obscured{approval.ObscuredCommand} })
	if told := p.button(t, approval.ChoiceAllow).Press(Owner); !strings.Contains(told, "masked value") || h.Desk.states(a)[0] != approval.Pending {
		t.Errorf("who pressed is told %q, and it is %s", told, h.Desk.states(a)[0])
	}
}

// keyed checks that a call which requires a passkey is not allowed on a chat: cards from
// before there was a passkey do not allow it, and newer ones say where it can be allowed.
func keyed(t *testing.T, h Harness) {
	if h.Revealed != nil {
		t.Skip("this is where passkeys are used")
	}
	before, _, old := h.ask(t, "make")
	h.Desk.Hand("web:owner")
	if told := old.button(t, approval.ChoiceAllow).Press(Owner); !strings.Contains(told, "your passkey") || h.Desk.states(before)[0] != approval.Pending {
		t.Errorf("who pressed is told %q, and it is %s", told, h.Desk.states(before)[0])
	}
	a, ref, p := h.ask(t, "make it", "make all")
	for _, c := range p.choices() {
		if c != approval.ChoiceDeny {
			t.Errorf("the card offers %v", p.choices())
		}
	}
	if grants := h.Grants(ref); len(grants) != 0 || !strings.Contains(p.Text, "Open the inbox to allow it: it needs your passkey.") {
		t.Errorf("the card offers %d grants: %s", len(grants), p.Text)
	}
	h.denyAll(t, a, ref)
	if got := h.Desk.states(a)[0]; got != approval.Denied {
		t.Errorf("denied, it is %s", got)
	}
}

// matched checks that one of the worst calls is allowed only with the digits shown on the
// other side, those of the inbox on a chat and those of a chat in the inbox, and denied
// without any. Wrong digits decide nothing, and the person is told.
func matched(t *testing.T, h Harness) {
	h.Desk.Reach()
	own, other, spent, next := h.Channel.Name(), inbox, "allow it in the inbox", "second digit"
	if own == inbox {
		other, spent, next = chat, "allow it on the chat", "two digits"
	}
	ask := func(reach string) (*approval.Ask, string, Picture) {
		v := Denial()
		v.Results[0].Metadata = vaglio.Args{"effects": []any{map[string]any{"kind": "delete", "reversibility": "irreversible", "reach": reach}}}
		a := open(t, v, approval.Opening{Agent: "coder", Channels: []string{own, other}}, Command("drop it"))
		ref, p := h.post(t, a)
		return a, ref, p
	}
	shown := func(a *approval.Ask) string { return h.Desk.Picture(a, other).Digits }
	try := func(a *approval.Ask, ref, digits, says string, want approval.State) {
		t.Helper()
		told := h.Match(ref, digits)
		if s := h.Desk.State(a); s != want || !strings.Contains(told, says) {
			t.Errorf("with %q it is %s, and who pressed is told %q", digits, s, told)
		}
	}
	wrong := func(a *approval.Ask) string {
		d := shown(a)
		return d[:1] + string('0'+(d[1]-'0'+1)%10)
	}
	a, ref, p := ask("shared")
	if mine := h.Desk.Picture(a, own).Digits; mine == "" || !strings.Contains(p.Text, mine) {
		t.Errorf("the card does not show %q: %s", mine, p.Text)
	}
	try(a, ref, "", "two digits", approval.Pending)
	try(a, ref, shown(a)[:1], next, approval.Pending)
	try(a, ref, wrong(a), "Tries left: 2.", approval.Pending)
	try(a, ref, shown(a), "Allowed once", approval.Allowed)

	a, ref, _ = ask("public")
	for _, says := range []string{"Tries left: 2.", "Tries left: 1.", spent} {
		try(a, ref, wrong(a), says, approval.Pending)
	}
	if d := shown(a); d != "" {
		t.Errorf("the other side still shows %q", d)
	}
	try(a, ref, "10", spent, approval.Pending)
	if p = h.amend(t, ref, a); !strings.Contains(p.Text, h.Desk.Picture(a, own).Digits) {
		t.Errorf("its own digits went with those: %s", p.Text)
	}
	h.denyAll(t, a, ref)

	a, ref, p = ask("workspace")
	if strings.Contains(p.Text, "two digits there: ") {
		t.Errorf("the card shows digits: %s", p.Text)
	}
	try(a, ref, "", "Allowed once", approval.Allowed)
}

// denyAll denies every call of the card with its own buttons.
func (h *Harness) denyAll(t *testing.T, a *approval.Ask, ref string) {
	t.Helper()
	p := h.Shown(ref)
	for _, b := range p.Buttons {
		if b.Choice == approval.ChoiceDeny {
			b.Press(Owner)
		}
	}
	if s := h.Desk.states(a); slices.Contains(s, approval.Pending) {
		t.Errorf("they cannot be denied: %v", s)
	}
}

func guarded(t *testing.T, h Harness) {
	// No such ask can be opened; a broken store would hold it.
	a := Ask(t, h.Channel.Name(), "rm -rf /")
	v := &a.Approvals[0].Verdict
	v.BlockedBy, v.Rule = vaglio.PhaseGuard, &vaglio.GuardRule{ID: "root.remove"}
	if _, p := h.post(t, &a); len(p.Buttons) != 0 {
		t.Errorf("the card offers %v", p.choices())
	}
}
