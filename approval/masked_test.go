package approval_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/wording"
)

var masker = approval.NewMasker(secret)

func TestMaskCall(t *testing.T) {
	p := vaglio.Proposal{
		Agent: "local", Executor: "http_post", Intent: "log in with password=hunter2",
		Args: vaglio.Args{
			"url": "https://u:hunter2@h/", "password": "correct horse battery", "pin_token": strictjson.Number("123456"),
			"max_tokens": strictjson.Number("4096"), "token": "$TOKEN", "secret": "$(rm -rf ~)",
			"nested": map[string]any{"api_key": []any{"abcd", "efgh"}, "PASSWORD=hunter2": true},
			"env":    map[string]any{"PASSWORD": "rm -rf /home/u/photos", "Authorization": "Basic dTpodW50ZXIy/w==", "DB_PASS": "p;w|d>2"},
			"heroku": "fedcba98-89ab-cdef-8123-678901abcdef", "id": "fedcba98-89ab-cdef-8123-678901abcd00",
			"argv": []any{"mysql", "--password", "correct horse", "-e", "select 1"},
		},
		Context: vaglio.Context{Cwd: "/home/u", Mounts: []string{"/mnt/token=abcd1234"}},
	}
	before, err := secret.Fingerprint(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := masker.Proposal(p)
	form, err := strictjson.Canonical(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{"hunter2", "correct horse", "123456", "abcd\"", "efgh", "dTpodW50ZXIy", "p;w|d>2", "678901abcdef"} {
		if strings.Contains(string(form), gone) {
			t.Errorf("%q is left in %s", gone, form)
		}
	}
	for _, left := range []string{"4096", "$TOKEN", "$(rm -rf ~)", "select 1", "/home/u", "rm -rf /home/u/photos", "678901abcd00"} {
		if !strings.Contains(string(form), left) {
			t.Errorf("%q is gone from %s", left, form)
		}
	}
	if after, err := secret.Fingerprint(p, nil); err != nil || after != before {
		t.Error("masking changed the proposal itself")
	}
	if cmp.Equal(m, masker.Proposal(m)) {
		t.Error("the call that has the masks themselves looks like the one that has the secrets")
	}
}

// TestCopiedMasks lets an agent write a mask that a card showed it. The call must look like
// no other, and a person must be told that a value is masked.
func TestCopiedMasks(t *testing.T) {
	t.Parallel()
	secret, other := "psql postgres://ann:hunter2@h/db", "psql postgres://ann:hunter3@h/db"
	copied := masker.Mask(secret)
	again := masker.Proposal(shell(copied)).Args["command"].(string)
	cards := map[string]string{}
	for _, command := range []string{secret, other, copied, again, strings.ReplaceAll(copied, "masked", "Masked"), copied + " # " + copied} {
		shown := seen(t, shell(command))
		if was, ok := cards[shown]; ok {
			t.Errorf("%q and %q give one card", was, command)
		}
		cards[shown] = command
	}
	if strings.Count(again, "‹masked ") != 1 || strings.Contains(again, copied[strings.Index(copied, "‹"):strings.Index(copied, "›")]) {
		t.Errorf("%q is shown as %q", copied, again)
	}
	nested := vaglio.Proposal{Args: vaglio.Args{"list": []any{copied, true}, copied: nil}}
	for _, text := range []string{masker.Proposal(nested).Args["list"].([]any)[0].(string), masker.Proposal(vaglio.Proposal{Context: vaglio.Context{Mounts: []string{copied}}}).Context.Mounts[0]} {
		if text != again {
			t.Errorf("a copied mask is shown as %q in one place and as %q in another", again, text)
		}
	}
	if _, stays := masker.Proposal(nested).Args[copied]; stays {
		t.Error("a key is a copied mask")
	}
}

// TestFirstLinesAreForPeople checks that a card shows the first lines of what runs, without
// secrets, and that an agent is told none of them.
func TestFirstLinesAreForPeople(t *testing.T) {
	t.Parallel()
	const secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"
	verdict := vaglio.Verdict{
		Reason: "asks", JudgeKind: "effects", BlockedBy: vaglio.PhaseJudge,
		Sources: []vaglio.Source{
			{Path: "/w", Kind: vaglio.SourceFolder, SHA256: "00"},
			{Path: "/w/a.sh", SHA256: "ab", Head: "set -e\nexport GITHUB_TOKEN=" + secret},
			{Path: "/w/large.sh", SHA256: "cd", Head: strings.Repeat("x", 1<<15)},
			{Path: "/w/b.sh", SHA256: "ef", Head: "ls"},
		},
	}
	denial, err := approval.JudgeDenial(verdict)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 1, 8, 0, 0, 0, time.UTC)
	ask, err := approval.Open(approval.Opening{
		Agent: "coder", Channels: []string{"web"}, At: at, ExpiresAt: at.Add(time.Hour),
		Calls: []approval.Call{{Proposal: vaglio.Proposal{Agent: "coder", Executor: "Bash"}, Denial: denial, Fingerprint: "f"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	body, err := approval.EncodeAsk(ask)
	if err != nil {
		t.Fatal(err)
	}
	if ask, err = approval.DecodeAsk(body); err != nil {
		t.Fatal(err)
	}
	shown := approval.NewCard(ask, "web", masker).Items[0].Verdict.Sources
	if got := shown[1].Head; !strings.HasPrefix(got, "set -e\nexport GITHUB_TOKEN=") || strings.Contains(got, secret) {
		t.Errorf("first lines on the card: %q", got)
	}
	if shown[0].Head != "" || shown[2].Head != "" || shown[3].Head != "" {
		t.Errorf("first lines that should not be there: %+v", shown)
	}
	told, err := strictjson.Marshal(approval.AnswerFor(ask.Approvals[0], ""))
	if err != nil || strings.Contains(string(told), "set -e") {
		t.Errorf("the agent is told %s, %v", told, err)
	}
}

func TestMaskEntry(t *testing.T) {
	a := open(t, "PGPASSWORD=hunter2 psql").Approvals[0]
	v := judgeDenies(0.2)
	v.Reason, v.Results[0].Reasoning = "password=hunter2", "password=hunter2"
	v.Results[0].Signals[0].Message = "password=hunter2"
	v.Results[0].Metadata = map[string]any{"password": "hunter2"}
	a.Verdict = v
	a.Decision = &approval.Decision{Choice: approval.ChoiceDeny, Words: "password=hunter2"}
	a.Outcome = &approval.Outcome{Detail: "password=hunter2"}
	r := approval.Refuse(a.Proposal, v)
	e := approval.Entry{Approval: &a, Step: approval.Step{Proposal: a.Proposal, Verdict: &v, Refusal: &r, Error: "password=hunter2"}}
	form, err := strictjson.Canonical(masker.Entry(e))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(form), "hunter2") {
		t.Errorf("a secret is left in %s", form)
	}
	if a.Decision.Words != "password=hunter2" || v.Results[0].Metadata["password"] != "hunter2" || e.Step.Refusal.Why == "" {
		t.Error("masking changed the entry itself")
	}
}

// TestSentencesAreMasked checks a judge's message and the same message as data.
func TestSentencesAreMasked(t *testing.T) {
	t.Parallel()
	token := "ghp_" + strings.Repeat("aB3", 12)
	for _, said := range []wording.Sentence{
		{wording.Say("sends the file %s along with a request", "Authorization: Bearer "+token)},
		{{Phrase: "sets password=%s"}, {Text: "hunter2hunter2"}},
		{{Phrase: "sets password=%s", Args: []wording.Clause{{Text: "correct-horse-battery"}}}},
	} {
		message, _ := said.In(wording.English)
		v := vaglio.Verdict{Results: []vaglio.GradientResult{{Signals: []vaglio.Signal{{Message: message, Said: said}}}}}
		s := masker.Verdict(v).Results[0].Signals[0]
		english, _ := s.Said.In(wording.English)
		if s.Said != nil && english != s.Message || strings.Contains(english, token) || strings.Contains(english, "correct-horse") {
			t.Errorf("%q is masked as %q, and as data as %q", message, s.Message, english)
		}
		if v.Results[0].Signals[0].Said.String() != said.String() {
			t.Error("the verdict was changed in place")
		}
	}
}

// TestWhatWasWantedIsToldAnew checks that what a call wanted is derived from the masked
// call, because a text that was cut may end within a secret. Once the call's values are
// dropped, only the stored text is left.
func TestWhatWasWantedIsToldAnew(t *testing.T) {
	m := approval.NewMasker(secret)
	kept := open(t, "make a").Approvals[0]
	kept.Refusal.Wanted = "what was kept"
	if got := m.Approval(kept).Refusal.Wanted; got != approval.Wanted(kept.Proposal) {
		t.Errorf("with its values: %q", got)
	}
	kept.ValuesDropped = start
	if got := m.Approval(kept).Refusal.Wanted; got != "what was kept" {
		t.Errorf("without its values: %q", got)
	}
}

// A masked value of several lines shortens the command: no line is named then, rather than another one.
func TestMaskKeepsLines(t *testing.T) {
	for _, tt := range []struct {
		command string
		want    []int
	}{
		{"echo 1\ngit push --force", []int{2}},
		{"export PASSWORD='hunter2 and\nmore'\ngit push --force", nil},
	} {
		a := approval.Approval{
			Proposal: vaglio.Proposal{Executor: "Bash", Args: vaglio.Args{"command": tt.command}},
			Verdict: vaglio.Verdict{Results: []vaglio.GradientResult{{MinScore: 0.5, Signals: []vaglio.Signal{
				{Score: 0.1, Lines: []int{strings.Count(tt.command, "\n") + 1}}, {Score: 0.9, Lines: []int{1}},
			}}}},
		}
		if it := approval.NewItem(a, masker); !cmp.Equal(it.Lines, tt.want) || it.Unplaced != (tt.want == nil) {
			t.Errorf("%q: lines %d, unplaced %t, want %d", it.Command, it.Lines, it.Unplaced, tt.want)
		}
	}
}

// TestASecretOfACallIsOneInWhatIsSaidOfIt checks that a value which only its place in the call
// shows to be a secret is masked in the judges' sentences, the refusal and the steps, too.
func TestASecretOfACallIsOneInWhatIsSaidOfIt(t *testing.T) {
	m := approval.NewMasker(approval.Secret{1})
	for command, said := range map[string]string{
		"fly secrets set FOO=hunter2":                 "sets the secret FOO=hunter2",
		"redis-cli CONFIG SET requirepass hunter2":    "sets the key store's requirepass hunter2",
		"mysql -phunter2 -e 'DROP TABLE x'":           "signs in with hunter2, not hunter22 or xhunter2",
		"vault kv put secret/prod a=hunter2 b=masked": "writes hunter2 and the masked ‹masked 7 chars #000000000000›",
	} {
		p := vaglio.Proposal{Executor: "Bash", Args: vaglio.Args{"command": command}}
		v := vaglio.Verdict{Reason: said, Results: []vaglio.GradientResult{{Reasoning: said, Signals: []vaglio.Signal{{Message: said, Said: wording.Sentence{wording.Say("says %s", said)}}}}}}
		a := m.Approval(approval.Approval{Proposal: p, Verdict: v, Refusal: approval.Refusal{Why: said}})
		s := m.Step(approval.Step{Proposal: p, Verdict: &v, Refusal: &approval.Refusal{Why: said}})
		_, judged := m.Judged(p, v)
		for _, text := range []string{
			a.Verdict.Reason, a.Verdict.Results[0].Reasoning, a.Verdict.Results[0].Signals[0].Message, a.Refusal.Why,
			s.Verdict.Reason, s.Refusal.Why, judged.Reason,
		} {
			if strings.Contains(strings.NewReplacer("hunter22", "", "xhunter2", "").Replace(text), "hunter2") || !strings.Contains(text, "‹masked 7 chars #") {
				t.Errorf("%s: %q", command, text)
			}
			if again := m.Knowing(p.Args).Mask(text); again != text && !strings.Contains(said, "‹") {
				t.Errorf("%s: masked twice: %q, %q", command, text, again)
			}
		}
	}
	p := vaglio.Proposal{Executor: "Bash", Args: vaglio.Args{"command": "mysql -pabc"}}
	if _, v := m.Judged(p, vaglio.Verdict{Reason: "abc is too short to be one everywhere"}); v.Reason[:3] != "abc" {
		t.Errorf("a short one: %q", v.Reason)
	}
}
