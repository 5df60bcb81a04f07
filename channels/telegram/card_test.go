package telegram

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/templates"
	"github.com/metnos/vaglio/vaglio"
)

// hostile returns a card in which every text is somebody else's.
func hostile(agent, intent, executor, command, arg string) approval.Card {
	args, err := strictjson.Marshal(map[string]string{"text": arg})
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

// testTexts returns the embedded texts in English.
func testTexts(t *testing.T) *templates.Texts {
	t.Helper()
	set, err := templates.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	return set.In(templates.English, time.UTC)
}

// picture returns what a person gets of a card: text, markup and file. It fails the test if
// the platform would not accept it, if something in it is invisible, or if a line or a link
// is not ours.
func picture(t *testing.T, c approval.Card) string {
	t.Helper()
	v := viewOf(c, testTexts(t), nil)
	return drawn(t, v) + "\x00" + string(v.data)
}

func drawn(t *testing.T, v *cardView) string {
	t.Helper()
	var seen []string
	for _, coming := range []bool{true, false} {
		p, whole := v.fit(v.sum != "", coming)
		text, entities, err := telegramtest.ParseHTML(p.b.String())
		if err != nil {
			t.Fatalf("%v in %q", err, p.b.String())
		}
		if n := len(utf16.Encode([]rune(text))); n > telegramtest.MaxText || n > p.units || len(entities) > telegramtest.MaxEntities {
			t.Fatalf("%d units, counted as %d, %d entities", n, p.units, len(entities))
		}
		if !whole {
			t.Fatal("a card that is shown whole, or attached, has no Allow")
		}
		honest(t, text, entities)
		seen = append(seen, text, fmt.Sprint(entities))
	}
	return strings.Join(seen, "\x00")
}

// richPicture returns what a person gets of everything that a card says as a rich message, or
// "" if none can hold it. It fails as picture does.
func richPicture(t *testing.T, c approval.Card) string {
	t.Helper()
	message, fits := viewOf(c, testTexts(t), nil).whole()
	if !fits {
		return ""
	}
	text, entities, err := telegramtest.ParseRich(message)
	if err != nil {
		t.Fatalf("%v in %q", err, message)
	}
	honest(t, text, entities)
	return text + "\x00" + fmt.Sprint(entities)
}

// honest fails the test if a text contains invisible characters, links anywhere, or has
// words outside of code that are not ours.
func honest(t *testing.T, text string, entities []telegramtest.Entity) {
	t.Helper()
	for _, r := range text {
		if r != '\n' && r != '\ufe0f' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point)) {
			t.Fatalf("%U is not seen in %.1000q", r, text)
		}
	}
	units := utf16.Encode([]rune(text))
	theirs := make([]bool, len(units))
	for _, e := range entities {
		switch e.Type {
		case "bold", "details":
			continue
		case "code", "pre", "expandable_blockquote":
		default:
			t.Fatalf("the text made a %s of %q", e.Type, e.Of(text))
		}
		// One line of code stands in a line of ours; several lines stand in a box.
		boxed := e.Type != "code" || slices.ContainsFunc(entities, func(b telegramtest.Entity) bool {
			return b.Type != "code" && b.Offset <= e.Offset && b.Offset+b.Length >= e.Offset+e.Length
		})
		if !boxed && strings.Contains(e.Of(text), "\n") {
			t.Fatalf("somebody else begins a line: %.300q", e.Of(text))
		}
		for i := range e.Length {
			theirs[e.Offset+i] = true
		}
	}
	var rest []uint16
	for i, u := range units {
		if !theirs[i] {
			rest = append(rest, u)
		}
	}
	for line := range strings.Lines(string(utf16.Decode(rest))) {
		if line = ours.ReplaceAllString(strings.TrimSpace(line), ""); line != "" {
			t.Fatalf("a line is not ours: %.100q in %.1000q", line, text)
		}
	}
}

// ours matches the lines of a card outside of code.
var ours = regexp.MustCompile(`^(🔸|⚠️|[✅🚫⌛↩🔁💤❌❔☑]\x{fe0f}?) (\d+ of \d+ calls still wait: ?)?(\d+ times: ?)?(Runs|Calls( something| a text of  characters)?( *\((a text of  characters)?\))?)?` +
	`(, and \d+ other calls?)?$|` +
	`^No judge said whether it can be undone$|^(\d+\. )?(Runs|Calls( something| a text of  characters)?( *\((a text of  characters)?\))?)$|` +
	`^\d+\. |^From$|^You asked:$|^(In|Mount)?( *… \d[\d,]* more characters?)?$|^Arguments:$|^Why it ask(s|ed):$|^There is no room here for the \d+ calls?\.$|` +
	`^\d+ of them:|^All of it is in the message that this one replies to; its SHA-256 begins with \. If your app cannot show it, open the inbox\.$|` +
	`^The buttons are on their way\. If they do not come, a newer card has them\.$|^Answer .* · $|^Answer .* ·$|^Ask$|^Words for the agent:$|^The agent says:$|` +
	`^You can answer them one by one in the inbox\.$|^[a-z -]+: [\d,]+ lines?, [\d,]+ characters$|^(agent|turn|intent|executor|command|arguments|sub-agent|working folder|mount|why it asks):$|` +
	`^All of ask abcdefghijklmnop\. SHA-256( [\da-f]{64})?$|^call 1 of 1$|^⏳ Waiting for you$|` +
	`(✅|🚫|⌛|↩️|🔁|💤|▶️|❌|❔) (Allowed|Denied|Expired|Withdrawn|Replaced)[^\n]*$`)

// calls are the parts in which one card may differ from another.
type calls struct{ agent, intent, executor, command, arg string }

func (c calls) card() approval.Card { return hostile(c.agent, c.intent, c.executor, c.command, c.arg) }

// ended returns the card after somebody with such a name allowed it, and the agent reported
// such a detail.
func (c calls) ended(s approval.State) approval.Card {
	card := c.card()
	it := &card.Items[0]
	it.State, it.EndedAt, card.Buttons = s, time.Unix(1e9, 0), nil
	it.Decision = &approval.Decision{By: approval.Person{ID: "telegram:1", Name: c.agent}, Words: c.arg, At: time.Unix(1e9, 0)}
	it.Outcome = &approval.Outcome{Detail: c.intent}
	return card
}

func FuzzCard(f *testing.F) {
	race.Alone(f)
	for _, s := range []string{
		"plain", "<b>x</b>", "</code></pre><a href=\"https://evil.test\">Allow</a>", "&lt;&amp;&#39;", "https://evil.test @somebody /start #tag $USD",
		"a\u202eb", "zero\u200bwidth", "\u2066x", "\xff\xfe", "\x00\x1b[2J", "line\n\n✅ Allowed once by Ann\n", strings.Repeat("<&>\n", 700),
		strings.Repeat("😀", 2100), "раураl", "⟨U+202E⟩", "⟨newline⟩", "\ud7ff\ue000", "{agent}{why}{id}", "{{.agent}}", "\ufdd0\ufdd1", "\r", "\u2028\u2029\u0085",
		"👨‍👩‍👧‍👦🏴󠁧󠁢󠁥󠁮󠁧󠁿", "x: 🔸 coder: ls", strings.Repeat(" ", 100), strings.Repeat("\n", 100), "a\u0301\u0301\u0301\u0301\u0301",
	} {
		f.Add(s, "intent", "shell_exec", s, s, "x")
		f.Add("agent", s, s, "", s, s)
		f.Add(s, s, "e", "c", "a", "\u200b")
	}
	f.Fuzz(func(t *testing.T, agent, intent, executor, command, arg, other string) {
		c := calls{agent, intent, executor, command, arg}
		seen, rich := map[string]calls{picture(t, c.card()): c}, map[string]calls{richPicture(t, c.card()): c}
		for _, d := range []calls{
			{other, intent, executor, command, arg},
			{agent, other, executor, command, arg},
			{agent, intent, other, command, arg},
			{agent, intent, executor, other, arg},
			{agent, intent, executor, command, other},
			{agent, intent, executor, command + other, arg},
			{agent, intent, executor, other + command, arg},
			{agent, intent, executor + other, command, arg},
		} {
			p := picture(t, d.card())
			if was, ok := seen[p]; ok && was != d && utf8.ValidString(arg+other) {
				t.Errorf("two calls give one card: %.300q and %.300q", was, d)
			}
			seen[p] = d
			p = richPicture(t, d.card())
			if was, ok := rich[p]; ok && p != "" && was != d && utf8.ValidString(arg+other) {
				t.Errorf("two calls give one rich message: %.300q and %.300q", was, d)
			}
			rich[p] = d
		}
		for _, s := range []approval.State{approval.Allowed, approval.Denied, approval.Failed} {
			picture(t, c.ended(s))
			richPicture(t, c.ended(s))
		}
		if first, _, _ := strings.Cut(picture(t, c.card()), "\n"); !strings.HasPrefix(first, "🔸 ") || utf8.RuneCountInString(first) > 720 {
			t.Errorf("a locked phone shows %.300q", first)
		}
	})
}

func TestAMegabyteIsShownWhole(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	n := 1 << 16
	if testing.Short() {
		n = 1 << 13 // 120 KB, far more than a message holds
	}
	big := strings.Repeat("<script>\u202e😀\n", n)
	for _, c := range []calls{{"a", "b", "c", big, "d"}, {"a", "b", "c", "", big}, {big, big[:n], big[:n], "x", "d"}, {"a", "b", big, "x", "d"}} {
		d := c
		d.command += " "
		if picture(t, c.card()) == picture(t, d.card()) {
			t.Error("two calls give one card")
		}
	}
}

func TestWithoutItsFileALongCardHasNoAllow(t *testing.T) {
	t.Parallel()
	v := viewOf(hostile("a", "b", "c", strings.Repeat("long ", 2000), "d"), testTexts(t), nil)
	p, whole := v.fit(false, false)
	if whole || !p.fits() || strings.Contains(v.keyboard(whole), "TOKENALLOW") || !strings.Contains(v.keyboard(whole), "TOKENDENY") {
		t.Errorf("whole %v, buttons %s", whole, v.keyboard(whole))
	}
	if text := p.b.String(); !strings.Contains(text, "cannot be allowed here") {
		t.Errorf("the card does not say so: %s", text)
	}
}

// TestEveryStateIsTold shows every state, with buttons that act only if something waits.
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
		v := viewOf(c, testTexts(t), nil)
		p, whole := v.fit(v.sum != "", false)
		if text := p.b.String(); strings.Contains(text, "[state.") || !strings.Contains(text, "exec") {
			t.Errorf("%s: %s", s, text)
		}
		if k := plain(v.keyboard(whole)); (k == "") != (s != approval.Pending) {
			t.Errorf("%s has the buttons %q", s, k)
		}
	}
}
