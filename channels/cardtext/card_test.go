package cardtext_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/cardtext"
	"github.com/metnos/vaglio/templates"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/wording"
)

var ends = time.Date(2026, 11, 21, 12, 30, 0, 0, time.UTC)

// textsIn returns the texts in a language.
func textsIn(t testing.TB, lang templates.Lang) *templates.Texts {
	t.Helper()
	return textSet(t).In(lang, time.UTC)
}

func textSet(t testing.TB) *templates.Set {
	t.Helper()
	set, err := templates.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// plan returns a card of the agent coder, with one call in each of the states.
func plan(states ...approval.State) approval.Card {
	c := approval.Card{Ask: "abcdefghijklmnop", Agent: "coder", Intent: "clean up", TurnID: "t-1", ExpiresAt: ends}
	for _, s := range states {
		it := approval.Item{State: s, Executor: "shell_exec", Command: "rm -rf ../other", Args: "{\n  \"command\": \"rm -rf ../other\"\n}", Cwd: "/home/ann", EndedAt: ends}
		if s != approval.Pending {
			it.Decision = &approval.Decision{By: approval.Person{ID: "telegram:4711", Name: "Ann"}, At: ends}
		}
		c.Items = append(c.Items, it)
	}
	return c
}

// all returns everything that a card says if nothing is cut.
func all(c *cardtext.Card) cardtext.Text {
	text := append(c.Title(), c.Opening(cardtext.Everything)...)
	for i := range c.Calls {
		text = append(text, c.Call(i, cardtext.Everything, cardtext.Everything)...)
	}
	return append(text, c.Foot()...)
}

func TestACardInPieces(t *testing.T) {
	t.Parallel()
	card := plan(approval.Pending, approval.Pending)
	card.Items[1].Command, card.Items[1].Args = "", "{\n  \"to\": \"ann\"\n}"
	c := cardtext.Read(card, textsIn(t, templates.English))
	const (
		ours, strong, theirs, command, block, end = cardtext.Ours, cardtext.Strong, cardtext.Theirs, cardtext.Command, cardtext.Block, cardtext.End
	)
	for _, tt := range []struct {
		name      string
		got, want cardtext.Text
	}{
		{"title", c.Title(), cardtext.Text{{ours, "🔸 "}, {ours, "Runs "}, {theirs, "rm -rf ../other"}, {ours, ", and 1 other call"}}},
		{"opening", c.Opening(cardtext.Everything), cardtext.Text{
			{strong, "No judge said whether it can be undone"},
			{end, ""},
			{ours, "You asked: "},
			{theirs, "clean up"},
			{end, ""},
			{ours, "From "},
			{theirs, "coder"},
			{end, ""},
			{ours, "In"},
			{ours, " "},
			{theirs, "/home/ann"},
			{end, ""},
		}},
		{"a command", c.Call(0, cardtext.Everything, cardtext.Everything), cardtext.Text{
			{strong, "1. "}, {ours, "Runs "}, {theirs, "rm -rf ../other"}, {end, ""}, {theirs, "shell_exec"}, {end, ""}, {command, "rm -rf ../other"}, {end, ""},
		}},
		{"arguments", c.Call(1, cardtext.Everything, cardtext.Everything), cardtext.Text{
			{strong, "2. "},
			{ours, "Calls "},
			{theirs, "shell_exec"},
			{end, ""},
			{theirs, "shell_exec"},
			{end, ""},
			{cardtext.Named, "Arguments:"},
			{end, ""},
			{block, "{\n  \"to\": \"ann\"\n}"},
			{end, ""},
		}},
		{"a short one", c.Call(0, 6, 0), cardtext.Text{
			{strong, "1. "},
			{theirs, ""},
			{ours, " "},
			{ours, "… 10 more characters"},
			{end, ""},
			{command, "rm -rf"},
			{ours, " "},
			{ours, "… 9 more characters"},
			{end, ""},
		}},
	} {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestWhatACardNeedsDoesNotHangOnHowItStands checks that a card is measured the same before
// and after its calls end.
func TestWhatACardNeedsDoesNotHangOnHowItStands(t *testing.T) {
	t.Parallel()
	texts := textsIn(t, templates.English)
	want := all(cardtext.Read(plan(approval.Pending, approval.Pending), texts).Unanswered())
	card := plan(approval.Denied, approval.Failed)
	card.Items[0].Decision.Words = "use make clean"
	card.Items[1].Outcome = &approval.Outcome{Detail: "exit status 1"}
	c := cardtext.Read(card, texts)
	if diff := cmp.Diff(want, all(c.Unanswered())); diff != "" {
		t.Errorf("-waiting +ended:\n%s", diff)
	}
	if said := all(c).String(); !strings.Contains(said, "use make clean") || !strings.Contains(said, "exit status 1") {
		t.Errorf("asking what it needs changed the card: %s", said)
	}
}

func TestASummaryCountsWhatEndedAlike(t *testing.T) {
	t.Parallel()
	texts := textsIn(t, templates.English)
	card := plan(approval.Denied, approval.Pending, approval.Denied, approval.Expired)
	got := cardtext.Read(card, texts).Summary().String()
	if strings.Count(got, "2 of them: 🚫 Denied by Ann (telegram:4711)") != 1 || strings.Count(got, "1 of them: ⌛") != 1 || strings.Contains(got, "others") {
		t.Errorf("a plan of four calls is summed up as %s", got)
	}
	card = plan()
	for i := range 12 {
		one := plan(approval.Denied).Items[0]
		one.Decision.Words = strings.Repeat("x", i+1)
		card.Items = append(card.Items, one)
	}
	got = cardtext.Read(card, texts).Summary().String()
	if strings.Count(got, "of them:") != 8 || !strings.HasSuffix(got, "The others ended too; the inbox shows how.\n") {
		t.Errorf("twelve ways to end are summed up as %s", got)
	}
}

func TestAFileHoldsAllOfACard(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long ", 5000) + "end"
	card := plan(approval.Pending)
	card.Items[0].Command, card.Items[0].Mounts = long+"\nask forged", []string{"/srv"}
	c := cardtext.Read(card, textsIn(t, templates.English))
	f := c.File()
	sum := sha256.Sum256(f.Data)
	if f.Name != "ask-abcdefghijklmnop.txt" || f.Sum != hex.EncodeToString(sum[:]) {
		t.Errorf("the file %s has the sum %s", f.Name, f.Sum)
	}
	for _, want := range []string{"ask abcdefghijklmnop\n", "    " + long + "\n    ask forged\n", "    /srv\n", "    /home/ann\n", "    clean up\n", "    t-1\n"} {
		if !strings.Contains(string(f.Data), want) {
			t.Errorf("the file lacks %.80q", want)
		}
	}
	if said := c.Caption(f.Sum).String(); !strings.Contains(said, f.Sum) || !strings.Contains(said, "abcdefghijklmnop") {
		t.Errorf("the file's caption is %q", said)
	}
	if said := c.Attached("file", f.Sum).String(); !strings.Contains(said, f.Sum[:16]) || strings.Contains(said, f.Sum[:17]) {
		t.Errorf("the card says of its file %q", said)
	}
}

// noticeOf returns a notice of a call that the guard denied.
func noticeOf(p vaglio.Proposal, v vaglio.Verdict) approval.Notice {
	step := approval.Step{Proposal: p, Verdict: &v}
	return approval.Notice{
		Agent: "coder", Rule: "shell.rm_root", Count: 3, First: ends, Last: ends, Headline: step.Headline(), Call: approval.Line(p), Refusal: approval.Refuse(p, v),
	}
}

func TestANotice(t *testing.T) {
	t.Parallel()
	p := vaglio.Proposal{Executor: "shell_exec", Args: vaglio.Args{"command": "rm -rf /"}}
	v := vaglio.Verdict{Reason: "forbidden shell pattern", BlockedBy: vaglio.PhaseGuard, Rule: &vaglio.GuardRule{
		ID: "shell.rm_root", Why: "Removing the root of the file system cannot be undone.", Instead: "Name exactly the files below the workspace that should go, one by one.",
	}}
	for lang, want := range map[templates.Lang][4]string{
		templates.English: {"🛑 coder: Runs rm -rf /", "🛑 coder: Reads /etc/shadow", "Why: ", "nobody can allow it"},
		templates.Italian: {"🛑 coder: Esegue rm -rf /", "🛑 coder: Legge /etc/shadow", "Perché: ", "nessuno la può consentire"},
	} {
		for i, p := range []vaglio.Proposal{p, {Executor: "read_file", Args: vaglio.Args{"path": "/etc/shadow"}}} {
			n := noticeOf(p, v)
			head, rest := cardtext.Notice(textsIn(t, lang), &n)
			if said := rest.String(); head.String() != want[i] || !strings.Contains(said, want[2]) || !strings.Contains(said, want[3]) || !strings.Contains(said, "shell.rm_root") {
				t.Errorf("%s: %q and %q", lang, head, rest)
			}
			last := rest[len(rest)-2]
			if shown := last.Kind == cardtext.Block && strings.Contains(last.Text, `{"path":"/etc/shadow"}`); shown != (i == 1) {
				t.Errorf("%s: the call itself is shown: %v, of %q", lang, shown, rest)
			}
		}
	}
	n := noticeOf(p, v)
	n.Rule, n.Refusal.Why, n.Refusal.Alternatives = "later.rule", "<b>because</b>\nso", []string{"Ask\u202eagain"}
	_, rest := cardtext.Notice(textsIn(t, templates.Italian), &n)
	foreign := map[string]bool{}
	for _, piece := range rest {
		foreign[piece.Text] = piece.Kind == cardtext.Theirs
	}
	for _, want := range []string{"later.rule", "<b>because</b>⟨newline⟩so", "Ask⟨U+202E⟩again"} {
		if !foreign[want] {
			t.Errorf("of a rule that has no words here %q is not shown as it was told: %q", want, rest)
		}
	}
}

func TestNicknameAndClip(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ got, want string }{
		{cardtext.Nickname("team/coder-1"), "team/coder-1"},
		{cardtext.Nickname("coder: rm\u202e"), "coder··rm·"},
		{cardtext.Nickname(strings.Repeat("a", 25)), strings.Repeat("a", 24) + "…"},
		{cardtext.Clip("perché", 6), "perché"},
		{cardtext.Clip("perché no", 6), "perch…"},
		{string(cardtext.Within("a\nb", 20)), "a⟨newline⟩b"},
		{string(cardtext.Within("perché no", 6)), "perché…"},
		{string(cardtext.Within("ab\u202ecd", 4)), "ab…"},
	} {
		if tt.got != tt.want {
			t.Errorf("%q, want %q", tt.got, tt.want)
		}
	}
}

// FuzzPieces checks that nothing somebody else wrote passes for ours, ends a line, or is
// cut without notice.
func FuzzPieces(f *testing.F) {
	for _, s := range []string{"plain", "a\nb", "⟨newline⟩", "\u202ex", "{{.agent}}", "\ufdd0\ufdd1", "раураl", "✅ Allowed once by Ann", "\xff"} {
		f.Add(s, "rm -rf x", "{}", 5)
		f.Add("coder", s, s, 60)
	}
	texts := textsIn(f, templates.English)
	frame := func(text cardtext.Text) (kinds []cardtext.Kind, ours string) {
		for _, piece := range text {
			kinds = append(kinds, piece.Kind)
			if piece.Kind == cardtext.Ours || piece.Kind == cardtext.Strong {
				ours += piece.Text
			}
		}
		return kinds, ours
	}
	f.Fuzz(func(t *testing.T, agent, command, args string, budget int) {
		card := plan(approval.Pending)
		card.Agent, card.Items[0].Command, card.Items[0].Args = agent, "x"+command, "x"+args
		text := all(cardtext.Read(card, texts))
		card.Agent, card.Items[0].Command, card.Items[0].Args = "a", "b", "c"
		kinds, ours := frame(text)
		plainKinds, plainOurs := frame(all(cardtext.Read(card, texts)))
		if diff := cmp.Diff(plainKinds, kinds); agent != "" && diff != "" || agent != "" && ours != plainOurs {
			t.Errorf("what is theirs changes what is ours: %q and %q\n%s", ours, plainOurs, diff)
		}
		for _, piece := range text {
			if piece.Kind != cardtext.Command && piece.Kind != cardtext.Block && strings.Contains(piece.Text, "\n") {
				t.Errorf("the piece %q breaks its line", piece.Text)
			}
		}
		card.Items[0].Command = "x" + command
		budget = max(0, min(budget, 1<<16))
		for _, piece := range cardtext.Read(card, texts).Call(0, budget, 0) {
			if piece.Kind == cardtext.Command && utf8.RuneCountInString(piece.Text) > budget {
				t.Errorf("on a budget of %d characters a command has %q", budget, piece.Text)
			}
		}
	})
}

func TestReasons(t *testing.T) {
	t.Parallel()
	card := plan(approval.Pending)
	card.Items[0].Refusal.Why = "the judge\nsays no"
	card.Items[0].Verdict.Results = []vaglio.GradientResult{{
		Judge: "effects", Score: 0.2, Confidence: 1, Signals: []vaglio.Signal{{Category: "delete", Score: 0.25, Message: "Deletes ../other."}},
		Metadata: vaglio.Args{"effects": []any{map[string]any{"kind": "delete", "reversibility": "irreversible", "reach": "user"}}},
	}, {
		Judge: "rules", Score: 0.8, Confidence: 1, Signals: []vaglio.Signal{{Category: "intent", Score: 1, Message: "intent matches executor"}},
	}}
	for lang, want := range map[templates.Lang][]string{
		templates.English: {
			"Why abcdefghijklmnop was stopped", "Why it asks: the judge⟨newline⟩says no", "effects: score 0.2, confidence 1", "• Deletes ../other. (0.25)",
			"rules: score 0.8, confidence 1", "• the request names what the call uses (1)",
		},
		templates.Italian: {
			"Perché abcdefghijklmnop è stata fermata", "Perché te lo chiedo: the judge⟨newline⟩says no", "effects: punteggio 0,2, certezza 1", "• non si può annullare, esce dalla cartella di lavoro. Deletes ../other. (0,25)",
			"rules: punteggio 0,8, certezza 1", "• la richiesta nomina ciò che l’azione usa (1)",
		},
	} {
		title, lines := cardtext.Reasons(textsIn(t, lang), &card)
		got := []string{title.String()}
		for _, l := range lines {
			got = append(got, l.String())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", lang, diff)
		}
	}
}

func TestACardSaysThatItsValuesAreGone(t *testing.T) {
	t.Parallel()
	card := plan(approval.Denied)
	it := &card.Items[0]
	it.Command, it.Args, it.Cwd, it.ValuesDropped = "", "", "", ends
	card.Questions = []approval.Question{{By: approval.Person{Name: "Ann"}, Words: "why?", AnsweredAt: ends}}
	for lang, want := range map[templates.Lang]string{
		templates.English: "The values of this call are no longer kept.",
		templates.Italian: "I valori di quest’azione non sono più conservati.",
	} {
		c := cardtext.Read(card, textsIn(t, lang))
		for name, text := range map[string]string{"card": all(c).String(), "talk": c.Talk().String()} {
			if strings.Count(text, want) != 1 {
				t.Errorf("%s, %s: %s", lang, name, text)
			}
		}
	}
}

// TestAJudgeThatReachesANetwork checks that the card, the file and the reasons say if the
// commands of a call's judge reach a network, and where to read what the judge did.
func TestAJudgeThatReachesANetwork(t *testing.T) {
	t.Parallel()
	card := plan(approval.Pending)
	judge := vaglio.GradientResult{Judge: "semantic:qa", Score: 0.2, Confidence: 1, Reasoning: "no"}
	for lang, want := range map[templates.Lang][2]string{
		templates.English: {"Its judge’s commands, which may run the agent’s files, reach the network: semantic:qa", "The inbox shows what a judge saw and did; so does vaglio why abcdefghijklmnop"},
		templates.Italian: {"I comandi del giudice, che possono eseguire i file dell’agente, raggiungono la rete: semantic:qa", "Che cosa un giudice ha visto e fatto è nella posta di vaglio, e lo dice vaglio why abcdefghijklmnop"},
	} {
		for _, network := range []string{"", "open"} {
			judge.Network, judge.Judgement = network, network
			card.Items[0].Verdict.Results = []vaglio.GradientResult{judge, judge}
			texts := textsIn(t, lang)
			c := cardtext.Read(card, texts)
			_, lines := cardtext.Reasons(texts, &card)
			reasons := ""
			for _, l := range lines {
				reasons += l.String() + "\n"
			}
			for name, text := range map[string]string{
				"card": c.Call(0, cardtext.Everything, cardtext.Everything).String(), "small card": c.Call(0, 400, 400).String(), "file": string(c.File().Data), "reasons": reasons,
			} {
				if strings.Contains(text, want[0]) != (network != "") {
					t.Errorf("%s, %s, network %q: %s", lang, name, network, text)
				}
			}
			if strings.Contains(reasons, want[1]) != (network != "") {
				t.Errorf("%s: the reasons: %s", lang, reasons)
			}
		}
	}
}

// several returns a card about a call with several effects, whose sentences the judge gives
// as data.
func several() approval.Card {
	tail := func(undone, touched wording.Phrase) wording.Sentence {
		return wording.Sentence{{Phrase: undone}, {Phrase: touched}, {Phrase: "."}}
	}
	files := wording.Say("%s files below %s", "297", "/backup")
	said := []wording.Sentence{
		append(wording.Sentence{{Phrase: "deletes"}, files, {Phrase: "outside the workspace"}}, tail("; it cannot be undone,", "and touches more than the workspace")...),
		append(wording.Sentence{wording.Say("pushes %s to %s", "main", "origin")}, tail("; it can be undone only in part,", "and others are affected")...),
		{wording.Say("and %s more like these.", "12")},
		{wording.Say("it runs a script file that was not read: %s.", "./clean.sh")},
	}
	g := vaglio.GradientResult{Judge: "effects", Score: 0.2, Confidence: 0.6}
	for i, category := range []string{"delete", "publish", "publish", "unread"} {
		message, _ := said[i].In(wording.English)
		g.Signals = append(g.Signals, vaglio.Signal{Category: category, Score: 0.2 + float64(i)/10, Message: message, Said: said[i]})
	}
	g.Reasoning = g.Signals[0].Message
	card := plan(approval.Pending)
	card.Items[0].Verdict = vaglio.Verdict{JudgeKind: "effects", Reason: "judge: score 0.20 < threshold 0.50", Results: []vaglio.GradientResult{g}}
	return card
}

func TestSentencesAreSaidInTheReadersLanguage(t *testing.T) {
	t.Parallel()
	card := several()
	for lang, want := range map[templates.Lang][]string{
		templates.English: {
			"effects: score 0.2, confidence 0.6",
			"• Deletes 297 files below /backup outside the workspace; it cannot be undone, and touches more than the workspace. (0.2)",
			"• Pushes main to origin; it can be undone only in part, and others are affected. (0.3)",
			"• And 12 more like these. (0.4)", "• It runs a script file that was not read: ./clean.sh. (0.5)",
		},
		templates.Italian: {
			"effects: punteggio 0,2, certezza 0,6",
			"• Cancella 297 file sotto /backup fuori dalla cartella di lavoro; non si può annullare, ed esce dalla cartella di lavoro. (0,2)",
			"• Pubblica main su origin; si può annullare solo in parte, e tocca ciò che usano anche altri. (0,3)",
			"• E altri 12 come questi. (0,4)", "• Esegue un file di script che non è stato letto: ./clean.sh. (0,5)",
		},
	} {
		_, lines := cardtext.Reasons(textsIn(t, lang), &card)
		got := make([]string, 0, len(lines))
		for _, l := range lines {
			got = append(got, l.String())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", lang, diff)
		}
	}
}

// TestACardSaysWhereItsDigitsGo checks that the foot of a card on a chat says what to do
// with its digits.
func TestACardSaysWhereItsDigitsGo(t *testing.T) {
	t.Parallel()
	card := plan(approval.Pending)
	card.Digits = "44"
	for lang, want := range map[templates.Lang]string{
		templates.English: "To allow it in the inbox, type these two digits there: 44. Answer by",
		templates.Italian: "Per consentirla nella posta, scrivi lì queste due cifre: 44. Decidi entro",
	} {
		if foot := cardtext.Read(card, textsIn(t, lang)).Foot().String(); !strings.HasPrefix(foot, want) {
			t.Errorf("%s: %q, want %q", lang, foot, want)
		}
	}
}

func TestACardNamesTheSubAgent(t *testing.T) {
	t.Parallel()
	card := plan(approval.Pending)
	card.Items[0].SubAgent = "Explore\nnow"
	for lang, want := range map[templates.Lang]string{templates.English: "Sub-agent Explore⟨newline⟩now", templates.Italian: "Subagente Explore⟨newline⟩now"} {
		c := cardtext.Read(card, textsIn(t, lang))
		if got := all(c).String(); !strings.Contains(got, want) {
			t.Errorf("%s: %q is missing in\n%s", lang, want, got)
		}
		if file := string(c.File().Data); !strings.Contains(file, "Explore⟨newline⟩now") {
			t.Errorf("the file leaves the sub-agent out:\n%s", file)
		}
	}
}

// TestACardNamesTheFilesThatRun checks that people can see what a permit is bound to.
func TestACardNamesTheFilesThatRun(t *testing.T) {
	t.Parallel()
	card := plan(approval.Pending)
	for i := range 8 {
		card.Items[0].Verdict.Sources = append(card.Items[0].Verdict.Sources, vaglio.Source{
			Path: "/w/" + strconv.Itoa(i) + ".sh", SHA256: strings.Repeat(strconv.Itoa(i), 64), Lines: 3, Bytes: 40, Head: "set -e\nrun " + strconv.Itoa(i),
		})
	}
	card.Items[0].Verdict.Sources = append(card.Items[0].Verdict.Sources, vaglio.Source{Path: "/w/fifo", Unread: "is not a regular file"})
	for lang, want := range map[templates.Lang][]string{
		templates.English: {"Runs or sends /w/0.sh, SHA-256 0000000000000000\n", "Runs or sends /w/5.sh", "Runs or sends, not bound to the yes /w/fifo", "and 2 more files that it runs"},
		templates.Italian: {"Esegue o invia /w/0.sh, SHA-256 0000000000000000\n", "Esegue o invia, non vincolato al sì /w/fifo", "e 2 altri file che esegue"},
	} {
		c := cardtext.Read(card, textsIn(t, lang))
		got := all(c).String()
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: %q is missing in\n%s", lang, w, got)
			}
		}
		first := map[templates.Lang]string{templates.English: "its first lines", templates.Italian: "le sue prime righe"}[lang]
		if file := string(c.File().Data); !strings.Contains(file, "/w/7.sh, SHA-256 7777777777777777\n"+first+":\n    set -e\n    run 7\n") {
			t.Errorf("the file leaves a source out:\n%s", file)
		}
	}
}

// TestACardLeadsToAnEdit checks when a card links to its edit, and to which address.
func TestACardLeadsToAnEdit(t *testing.T) {
	t.Parallel()
	at := func(ask approval.AskID, id approval.ID) string { return "https://v/" + string(ask) + "/" + string(id) }
	some := []approval.Editable{{Name: "command", Text: "make"}}
	for name, row := range map[string]struct {
		states   []approval.State
		editable []int
		at       cardtext.Edits
		want     string
	}{
		"one":                     {[]approval.State{approval.Pending}, []int{0}, at, "https://v/a/a-1"},
		"no address":              {[]approval.State{approval.Pending}, []int{0}, nil, ""},
		"nothing to edit":         {[]approval.State{approval.Pending}, nil, at, ""},
		"one that is over":        {[]approval.State{approval.Denied}, []int{0}, at, ""},
		"several":                 {[]approval.State{approval.Pending, approval.Pending}, []int{0, 1}, at, "https://v/a/"},
		"one of several can":      {[]approval.State{approval.Pending, approval.Pending}, []int{1}, at, "https://v/a/a-2"},
		"one of several waits on": {[]approval.State{approval.Allowed, approval.Pending}, []int{0, 1}, at, "https://v/a/a-2"},
	} {
		for lang, label := range map[templates.Lang]string{templates.English: "Edit, then allow…", templates.Italian: "Modifica, poi consenti…"} {
			card := approval.Card{Ask: "a"}
			for i, state := range row.states {
				card.Items = append(card.Items, approval.Item{Approval: approval.ID("a-" + strconv.Itoa(i+1)), State: state})
			}
			for _, i := range row.editable {
				card.Items[i].Editables = some
			}
			link, leads := cardtext.Read(card, textsIn(t, lang)).EditLink(row.at)
			if leads != (row.want != "") || link.Address != row.want || leads && link.Label != label {
				t.Errorf("%s, %s: %+v %v, want %q", name, lang, link, leads, row.want)
			}
		}
	}
}

// TestAClockThatWasSetBackIsTold checks that a card and the answer to a late press do not
// blame people for a deadline that was cut short because the clock was set back.
func TestAClockThatWasSetBackIsTold(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		at time.Time
		is map[templates.Lang][2]string
	}{
		"in time": {ends, map[templates.Lang][2]string{
			templates.English: {"no answer came in time. It did not run", "before your answer reached vaglio"},
			templates.Italian: {"nessuna risposta è arrivata in tempo. Non è stata eseguita", "prima che la tua risposta arrivasse a vaglio"},
		}},
		"set back": {ends.Add(-3 * time.Hour), map[templates.Lang][2]string{
			templates.English: {"this machine’s clock was set back. It did not run", "because vaglio’s clock was set back"},
			templates.Italian: {"l’orologio è stato messo indietro. Non è stata eseguita", "perché l’orologio è stato messo indietro"},
		}},
	} {
		a := approval.Ask{ID: "abcdefghijklmnop", Agent: "coder", OpenedAt: ends.Add(-time.Hour), ExpiresAt: ends, Approvals: []approval.Approval{{
			ID: "abcdefghijklmnop-1", State: approval.Pending, ExpiresAt: ends,
			Proposal: vaglio.Proposal{Agent: "coder", Executor: "shell_exec", Args: vaglio.Args{"command": "make"}},
		}}}
		if !a.Lapse(tt.at) || a.Approvals[0].State != approval.Expired {
			t.Fatalf("%s: it is %s", name, a.Approvals[0].State)
		}
		card := approval.Card{Ask: a.ID, Agent: a.Agent, OpenedAt: a.OpenedAt, ExpiresAt: a.ExpiresAt, Items: []approval.Item{approval.NewItem(a.Approvals[0], approval.NewMasker(approval.Secret{1}))}}
		for lang, want := range tt.is {
			texts := textsIn(t, lang)
			if got := all(cardtext.Read(card, texts)).String(); !strings.Contains(got, want[0]) {
				t.Errorf("%s: the card says\n%s", name, got)
			}
			r := approval.Receipt{Ask: a, Approvals: []approval.ID{a.Approvals[0].ID}}
			if got := cardtext.Answer(texts, &r, approval.Person{ID: "telegram:1"}); !strings.Contains(got, want[1]) {
				t.Errorf("%s: whoever pressed late is told %q", name, got)
			}
		}
	}
}
