package approval_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/visible"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
)

// TestLongArgumentsStandLast checks that the recipient and the amount precede a long text,
// whatever the tool calls it, and that no argument is missing.
func TestLongArgumentsStandLast(t *testing.T) {
	for name, tt := range map[string]struct {
		args vaglio.Args
		want []string
	}{
		"lines":  {vaglio.Args{"body": "Dear Ann,\nhello", "subject": "x", "to": "ann@example.com"}, []string{"to", "subject", "body"}},
		"length": {vaglio.Args{"amount": 1, "a": strings.Repeat("x", 121), "memo": "y"}, []string{"amount", "memo", "a"}},
		"both":   {vaglio.Args{"b": "1\n2", "a": strings.Repeat("x", 121), "c": "y"}, []string{"c", "a", "b"}},
		"weight": {
			vaglio.Args{"dry_run": true, "body": "Hi", "subject": "Rent", "note": "x", "amount": 5, "path": "/a", "to_account": "IT60", "query": "SELECT 1"},
			[]string{"query", "to_account", "amount", "path", "subject", "body", "note", "dry_run"},
		},
		"short": {vaglio.Args{"z": "1", "a": map[string]any{"k": "v"}, "m": nil}, []string{"a", "z", "m"}},
	} {
		text := approval.NewItem(approval.Approval{Proposal: vaglio.Proposal{Executor: "send", Args: tt.args}}, masker).Args
		var got []string
		for line := range strings.Lines(text) {
			if rest, ok := strings.CutPrefix(line, "  \""); ok {
				key, _, _ := strings.Cut(rest, "\"")
				got = append(got, key)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, not %q", name, got, tt.want)
		}
		var back vaglio.Args
		if err := strictjson.Unmarshal([]byte(brokenLine.ReplaceAllString(text, `$1`)), &back); err != nil || len(back) != len(tt.args) {
			t.Errorf("%s: %v %v", name, back, err)
		}
	}
}

// brokenLine is how the lines of a text are shown, which JSON writes on one.
var brokenLine = regexp.MustCompile(`(\\n)\n +`)

// TestTheLinesOfATextStandBelowEachOther checks that a person can read a program or a letter among the
// arguments, and that no text looks like another argument.
func TestTheLinesOfATextStandBelowEachOther(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		args vaglio.Args
		want string
	}{
		{vaglio.Args{"code": "import os\nif x:\n\tos.remove(\"a\")\n"}, "{\n  \"code\": \"import os\\n\n      if x:\\n\n      \\tos.remove(\\\"a\\\")\\n\"\n}"},
		{vaglio.Args{"a": `C:\new`}, "{\n  \"a\": \"C:\\\\new\"\n}"}, // no line break
		{vaglio.Args{"a": "x\n}\n  \"to\": \"b\""}, "{\n  \"a\": \"x\\n\n      }\\n\n        \\\"to\\\": \\\"b\\\"\"\n}"},
		{vaglio.Args{"a": []any{"1\n2"}}, "{\n  \"a\": [\n    \"1\\n\n        2\"\n  ]\n}"},
		{vaglio.Args{"a": "1\n\n\n2"}, "{\n  \"a\": \"1\\n\\n\\n\n      2\"\n}"},
		{vaglio.Args{"a": strings.Repeat("\n ", 3000)}, "{\n  \"a\": \"" + strings.Repeat("\\n ", 3000) + "\"\n}"}, // padding
	} {
		if got := approval.ArgsText(r.args); got != r.want {
			t.Errorf("%v:\n%s\nwant\n%s", r.args, got, r.want)
		}
	}
}

func TestNewCard(t *testing.T) {
	o := opening(t, "make a", "make b")
	p := shell("PGPASSWORD=hunter2 psql")
	p.Args["n"], p.Args["a"] = strictjson.Number("9007199254740993"), []any{"x", map[string]any{}}
	p.Context.Mounts = []string{"/home/u/app"}
	o.Calls[0] = call(t, p)
	a, err := approval.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	c := approval.NewCard(a, "web", masker)
	if c.Ask != a.ID || c.Agent != "local" || c.Intent != o.Intent || c.TurnID != "t-81" || c.View != a.View() ||
		!c.OpenedAt.Equal(start) || !c.ExpiresAt.Equal(start.Add(askFor)) || len(c.Items) != 2 {
		t.Errorf("card is %+v", c)
	}
	it := c.Items[0]
	args := `{
  "command": "` + it.Command + `",
  "a": [
    "x",
    {}
  ],
  "n": 9007199254740993
}`
	if diff := cmp.Diff(args, it.Args); diff != "" {
		t.Errorf("args (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(it.Command, "PGPASSWORD=‹masked 7 chars #") || !strings.HasSuffix(it.Command, "› psql") {
		t.Errorf("command is %q", it.Command)
	}
	if it.Approval != a.Approvals[0].ID || it.State != approval.Pending || it.Executor != "shell_exec" || it.Cwd != "/home/u/app" ||
		!slices.Equal(it.Mounts, []string{"/home/u/app"}) || !strings.Contains(it.Refusal.Wanted, "‹masked") {
		t.Errorf("item is %+v", it)
	}
	if a.Approvals[0].Proposal.Args["command"] != "PGPASSWORD=hunter2 psql" {
		t.Error("the card changed the ask")
	}
}

func TestCardButtons(t *testing.T) {
	a := open(t, "make a", "make b")
	first, second := a.Approvals[0].ID, a.Approvals[1].ID
	meaning := func(buttons []approval.Button) []approval.Callback {
		var m []approval.Callback
		for _, b := range buttons {
			c := a.On("web").Callbacks[b.Token]
			if c.Choice != b.Choice {
				t.Errorf("the button %s means %+v", b.Choice, c)
			}
			m = append(m, c)
		}
		return m
	}
	both := func(id approval.ID) []approval.Callback {
		calls := 0
		if id == "" {
			calls = 2
		}
		return []approval.Callback{
			{Approval: id, Choice: approval.ChoiceAllow, Calls: calls}, {Approval: id, Choice: approval.ChoiceDeny, Calls: calls},
		}
	}
	check := func(step string, all, one, two []approval.Callback) {
		t.Helper()
		c := approval.NewCard(a, "web", masker)
		got := [][]approval.Callback{meaning(c.Buttons), meaning(c.Items[0].Buttons), meaning(c.Items[1].Buttons)}
		if diff := cmp.Diff([][]approval.Callback{all, one, two}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step, diff)
		}
	}
	check("open", both(""), both(first), both(second))
	decide(t, &a, approval.Tap{Approval: first, Choice: approval.ChoiceDeny, By: owner}, start)
	check("one decided", both(""), nil, both(second))
	decide(t, &a, approval.Tap{Approval: second, Choice: approval.ChoiceAllow, By: owner}, start)
	check("both decided", nil, nil, nil)

	single := open(t, "make a")
	c := approval.NewCard(single, "web", masker)
	if len(c.Buttons) != 2 || c.Buttons[0].Choice != approval.ChoiceAllow || c.Buttons[1].Choice != approval.ChoiceDeny || len(c.Items[0].Buttons) != 0 {
		t.Errorf("a card of one has %+v and %+v", c.Buttons, c.Items[0].Buttons)
	}
	if got := single.On("web").Callbacks[c.Buttons[0].Token]; got.Approval != single.Approvals[0].ID {
		t.Errorf("the button of a card of one means %+v", got)
	}
	if c := approval.NewCard(single, "elsewhere", masker); len(c.Buttons) != 0 {
		t.Errorf("a place where the ask is not shown has %+v", c.Buttons)
	}
	single.Lapse(start.Add(askFor))
	if c := approval.NewCard(single, "web", masker); len(c.Buttons) != 0 || c.Items[0].State != approval.Expired {
		t.Errorf("an expired card has %+v", c.Buttons)
	}
}

func TestCardFollowsTheLife(t *testing.T) {
	a := open(t, "make a")
	id := a.Approvals[0].ID
	at := start.Add(time.Minute)
	decide(t, &a, approval.Tap{Choice: approval.ChoiceAllow, By: owner, Words: "password=hunter2"}, at)
	if err := a.Redeem(id, a.Approvals[0].Fingerprint, at); err != nil {
		t.Fatal(err)
	}
	if err := a.Report(id, approval.Outcome{Detail: "password=hunter2", At: at}); err != nil {
		t.Fatal(err)
	}
	it := approval.NewCard(a, "web", masker).Items[0]
	if it.State != approval.Failed || it.Decision.By != owner || !it.Permit.SpentAt.Equal(at) || it.Outcome == nil || !it.EndedAt.Equal(at) {
		t.Errorf("item is %+v", it)
	}
	if strings.Contains(it.Decision.Words+it.Outcome.Detail, "hunter2") {
		t.Errorf("a secret is left in %q or %q", it.Decision.Words, it.Outcome.Detail)
	}
	it.Decision.Words, it.Permit.SpentAt = "changed", time.Time{}
	if a.Approvals[0].Decision.Words == "changed" || a.Approvals[0].Permit.SpentAt.IsZero() {
		t.Error("a channel can change the ask through its card")
	}
}

func TestCommandLine(t *testing.T) {
	exec := vaglio.Context{Capability: vaglio.Capabilities{"fs:read", "code:exec"}}
	for name, tt := range map[string]struct {
		p    vaglio.Proposal
		want string
	}{
		"ShellExec":      {vaglio.Proposal{Executor: "shell_exec", Args: vaglio.Args{"command": "ls -l"}}, "ls -l"},
		"Bash":           {vaglio.Proposal{Executor: "Bash", Args: vaglio.Args{"command": "ls\n-l"}}, "ls\n-l"},
		"Cmd":            {vaglio.Proposal{Executor: "run_command", Args: vaglio.Args{"cmd": "ls"}}, "ls"},
		"Capability":     {vaglio.Proposal{Executor: "anything", Args: vaglio.Args{"command": "ls"}, Context: exec}, "ls"},
		"MCPTool":        {vaglio.Proposal{Executor: "mcp__box__exec", Args: vaglio.Args{"command": "ls"}}, "ls"},
		"List":           {vaglio.Proposal{Executor: "bash", Args: vaglio.Args{"command": []any{"bash", "-lc", "rm -rf 'a b'", ""}}}, `bash -lc 'rm -rf '\''a b'\''' ''`},
		"ListOfOther":    {vaglio.Proposal{Executor: "bash", Args: vaglio.Args{"command": []any{"ls", true}}}, "ls True"},
		"Both":           {vaglio.Proposal{Executor: "bash", Args: vaglio.Args{"command": "ls", "cmd": "rm"}}, ""},
		"NoShell":        {vaglio.Proposal{Executor: "fs_read", Args: vaglio.Args{"command": "ls"}}, ""},
		"Script":         {vaglio.Proposal{Executor: "bash", Args: vaglio.Args{"script": "ls"}}, "ls"},
		"Number":         {vaglio.Proposal{Executor: "bash", Args: vaglio.Args{"command": strictjson.Number("1")}}, "1"},
		"ByShape":        {vaglio.Proposal{Executor: "Monitor", Args: vaglio.Args{"command": "tail -f app.log"}}, "tail -f app.log"},
		"Words":          {vaglio.Proposal{Executor: "start_process", Args: vaglio.Args{"command": "rm", "args": []any{"-r", "a b"}}}, "rm -r 'a b'"},
		"Program":        {vaglio.Proposal{Executor: "run_code", Args: vaglio.Args{"language": "python", "code": "print(1)"}}, ""},
		"NameIsNoSuffix": {vaglio.Proposal{Executor: "notbash", Args: vaglio.Args{"command": "ls"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := opening(t, "x")
			o.Calls[0] = call(t, tt.p)
			a, err := approval.Open(o)
			if err != nil {
				t.Fatal(err)
			}
			if got := approval.NewCard(a, "web", masker).Items[0].Command; got != tt.want {
				t.Errorf("command is %q, want %q", got, tt.want)
			}
		})
	}
}

// seen returns everything about a call that a card shows to a person.
func seen(t *testing.T, p vaglio.Proposal) string {
	t.Helper()
	o := opening(t, "x")
	o.Calls[0] = call(t, p)
	a, err := approval.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	it := approval.NewCard(a, "web", masker).Items[0]
	shown := []string{it.Executor, it.Args, it.Cwd, strings.Join(it.Mounts, "\x00")}
	for i := range shown {
		shown[i] = visible.Text(shown[i])
	}
	return strings.Join(shown, "\n\n\n\n\n")
}

// P5: two different calls never give the same card.
func TestDifferentCallsGiveDifferentCards(t *testing.T) {
	texts := append(hostileTexts(),
		"", " ", "a", "a ", " a", "a\n", "a\t", "a\u00a0", "a\u200b", "\u0430", "a\u202e", "é", "e\u0301", "ａ", "𝐚", "a\u0000", `a\u0000`,
		"⟨U+200B⟩", "\u200b", "\u200b\u200b\u200b\u200b", "⟨U+200B ×4⟩", "password=hunter2", "password=hunter3", "‹masked 7 chars #000000000000›",
		strings.Repeat("x", 5000)+"a", strings.Repeat("x", 5000)+"b", "1", "true", "null", "{}", "\"", "\\", "\\\"", "K", "\u212a",
		"line\n\n\n\n\nline", "line\n\n\n\n\n\nline", "rm -rf", "rm \u2010rf", "\u0441\u0440 x", "cp x",
	)
	var calls []vaglio.Proposal
	for _, s := range texts {
		if strings.ToValidUTF8(s, "") != s {
			continue // It has no fingerprint, so nobody is asked.
		}
		calls = append(calls,
			vaglio.Proposal{Executor: "x", Args: vaglio.Args{"a": s}},
			vaglio.Proposal{Executor: "x", Args: vaglio.Args{s + "a": "v"}},
			vaglio.Proposal{Executor: "x", Args: vaglio.Args{"a": []any{s}}},
			vaglio.Proposal{Executor: "e" + s, Args: vaglio.Args{}},
			vaglio.Proposal{Executor: "x", Context: vaglio.Context{Cwd: "/" + s}},
			vaglio.Proposal{Executor: "x", Context: vaglio.Context{Mounts: []string{"/m" + s}}},
		)
	}
	for _, v := range []any{
		nil, true, false, strictjson.Number("1"), strictjson.Number("9007199254740992"), strictjson.Number("9007199254740993"), []any{}, map[string]any{}, []any{nil},
	} {
		calls = append(calls, vaglio.Proposal{Executor: "x", Args: vaglio.Args{"a": v}})
	}
	cards := map[string]approval.Fingerprint{}
	for _, p := range calls {
		f, err := secret.Fingerprint(p, nil)
		if err != nil {
			t.Fatal(err)
		}
		card := seen(t, p)
		if other, ok := cards[card]; ok && other != f {
			t.Errorf("two calls give one card:\n%s", card)
		}
		cards[card] = f
	}
}

func FuzzCard(f *testing.F) {
	f.Add("rm -rf a", "rm -rf \u0430")
	f.Add("password=a1b2", "password=a1b3")
	f.Add("a\nb", `a\nb`)
	f.Add("password=a1b2", masker.Mask("password=a1b2"))
	f.Add("a‹b", "a⟨U+2039 ‹⟩b")
	f.Fuzz(func(t *testing.T, one, other string) {
		if one == other || strings.ToValidUTF8(one, "") != one || strings.ToValidUTF8(other, "") != other {
			return
		}
		if seen(t, shell(one)) == seen(t, shell(other)) {
			t.Errorf("%q and %q give one card", one, other)
		}
	})
}
