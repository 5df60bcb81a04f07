package telegram

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
	"github.com/metnos/vaglio/templates"
	"github.com/metnos/vaglio/vaglio"
)

// hostile is a card in which every text is somebody else's.
func hostile(agent, intent, executor, command, arg string) approval.Card {
	args, err := json.Marshal(map[string]string{"text": arg}, json.Deterministic(true))
	if err != nil {
		args = []byte("{}")
	}
	return approval.Card{
		Ask: "abcdefghijklmnop", Agent: agent, Intent: intent, ExpiresAt: time.Unix(1e9, 0),
		Buttons: []approval.Button{{Choice: approval.ChoiceAllow, Token: "TOKENALLOW"}, {Choice: approval.ChoiceDeny, Token: "TOKENDENY"}},
		Items: []approval.Item{{
			State: approval.Pending, Executor: executor, Command: command, Args: string(args), Cwd: arg, Mounts: []string{arg, intent},
			Refusal: approval.Refusal{Why: arg}, Verdict: vaglio.Verdict{BlockedBy: vaglio.PhaseJudge},
		}},
	}
}

// testTexts are the embedded texts in English.
func testTexts(t *testing.T) *templates.Texts {
	t.Helper()
	set, err := templates.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	return set.In(templates.English, time.UTC)
}

// picture is what a person gets of a card, and fails the test when the platform
// would not take it.
func picture(t *testing.T, c approval.Card) string {
	t.Helper()
	v := viewOf(c, testTexts(t))
	attached := v.sum != ""
	p, whole := v.fit(attached, false)
	text, entities, err := telegramtest.ParseHTML(p.b.String())
	if err != nil {
		t.Fatalf("%v in %q", err, p.b.String())
	}
	if n := utf8.RuneCountInString(text); n > telegramtest.MaxText || n > p.units {
		t.Fatalf("%d characters, counted as %d", n, p.units)
	}
	if !whole {
		t.Fatal("a card that is shown whole, or attached, has no Allow")
	}
	for _, e := range entities {
		switch e.Type {
		case "bold", "code", "pre", "expandable_blockquote":
		default:
			t.Fatalf("the text made a %s of %q", e.Type, e.Of(text))
		}
	}
	for _, r := range text {
		if r != '\n' && (r < ' ' || r == 0x7f || r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069) {
			t.Fatalf("%U is not seen in %q", r, text)
		}
	}
	if attached {
		return text + "\x00" + string(v.file())
	}
	return p.b.String()
}

func FuzzCard(f *testing.F) {
	for _, s := range []string{
		"plain", "<b>x</b>", "</code></pre><a href=\"https://evil.test\">Allow</a>", "&lt;&amp;&#39;", "https://evil.test @somebody /start #tag $USD",
		"a\u202eb", "zero\u200bwidth", "\u2066x", "\xff\xfe", "\x00\x1b[2J", "line\n\n✅ Allowed once by Ann\n", strings.Repeat("<&>\n", 3000),
		strings.Repeat("😀", 5000), "раураl", "⟨U+202E⟩", "\ud7ff\ue000", "{agent}{why}{id}",
	} {
		f.Add(s, "intent", "shell_exec", s, s)
		f.Add("agent", s, s, "", s)
	}
	f.Fuzz(func(t *testing.T, agent, intent, executor, command, arg string) {
		a := picture(t, hostile(agent, intent, executor, command, arg))
		b := picture(t, hostile(agent, intent, executor, command+"x", arg))
		if a == b {
			t.Errorf("two calls give one card: %q", a)
		}
	})
}

func TestAMegabyteIsShownWhole(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("<script>\u202e😀\n", 1<<16)
	if picture(t, hostile("a", "b", "c", big, "d")) == picture(t, hostile("a", "b", "c", big+" ", "d")) {
		t.Error("two calls give one card")
	}
}

func TestWithoutItsFileALongCardHasNoAllow(t *testing.T) {
	t.Parallel()
	v := viewOf(hostile("a", "b", "c", strings.Repeat("long ", 2000), "d"), testTexts(t))
	p, whole := v.fit(false, false)
	if whole || !p.fits() || strings.Contains(v.keyboard(whole), "TOKENALLOW") || !strings.Contains(v.keyboard(whole), "TOKENDENY") {
		t.Errorf("whole %v, buttons %s", whole, v.keyboard(whole))
	}
	if text := p.b.String(); !strings.Contains(text, "cannot be allowed here") {
		t.Errorf("the card does not say so: %s", text)
	}
}

// TestEveryStateIsTold shows every state, with buttons only where something
// waits.
func TestEveryStateIsTold(t *testing.T) {
	t.Parallel()
	for _, s := range []approval.State{
		approval.Pending, approval.Allowed, approval.Denied, approval.Expired, approval.Withdrawn, approval.Superseded,
		approval.Spent, approval.Lapsed, approval.Succeeded, approval.Failed, approval.Unknown,
	} {
		c := hostile("agent", "intent", "exec", "line", "arg")
		c.Items[0].State = s
		if s != approval.Pending {
			c.Buttons = nil
			c.Items[0].Decision = &approval.Decision{By: approval.Person{ID: "telegram:1", Name: "Ann"}, Words: "no", At: time.Unix(1e9, 0)}
			c.Items[0].Outcome = &approval.Outcome{Detail: "done"}
		}
		v := viewOf(c, testTexts(t))
		p, whole := v.fit(v.sum != "", false)
		if text := p.b.String(); strings.Contains(text, "[state.") || !strings.Contains(text, "exec") {
			t.Errorf("%s: %s", s, text)
		}
		if k := v.keyboard(whole); (k == "") != (s != approval.Pending) {
			t.Errorf("%s has the buttons %q", s, k)
		}
	}
}
