package headline_test

import (
	"fmt"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/metnos/vaglio/approval/headline"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/wording"
)

// found is something that the effects judge found.
type found struct {
	said        wording.Sentence
	kind        operation.Kind
	undo, reach string
	score       float64
}

// verdict returns a verdict of the effects judge, with notes on what it could not read.
func verdict(notes int, list ...found) vaglio.Verdict {
	g := vaglio.GradientResult{Judge: "effects", Metadata: vaglio.Args{}}
	var effects []any
	for _, f := range list {
		g.Signals = append(g.Signals, vaglio.Signal{Category: string(f.kind), Score: f.score, Said: f.said})
		effects = append(effects, map[string]any{"kind": string(f.kind), "reversibility": f.undo, "reach": f.reach})
	}
	for range notes {
		g.Signals = append(g.Signals, vaglio.Signal{Category: "unread", Said: wording.Sentence{wording.Say("a loop of a form that is not read")}})
	}
	g.Metadata["effects"] = effects
	return vaglio.Verdict{JudgeKind: "effects", Results: []vaglio.GradientResult{g}}
}

func shell(command string) vaglio.Proposal {
	return vaglio.Proposal{Executor: "shell_exec", Args: vaglio.Args{"command": command}, Context: vaglio.Context{Cwd: "/srv/app"}}
}

var (
	deletes = found{
		wording.Sentence{{Phrase: "deletes"}, {Text: "/opt/a"}, {Phrase: wording.Outside}, {Phrase: "; it cannot be undone,"}, {Phrase: "."}},
		operation.KindDelete, "irreversible", "system", 0.13,
	}
	installs = found{wording.Sentence{wording.Say("installs %s", "nginx")}, operation.KindInstall, "partial", "system", 0.33}
	asRoot   = found{wording.Sentence{wording.Say("runs %s with the rights of the administrator", "apt")}, operation.KindPrivilege, "partial", "system", 0.3}
	reads    = found{wording.Sentence{{Phrase: "reads"}, {Phrase: "."}}, operation.KindRead, "reversible", "workspace", 0.95}
	unknown  = found{wording.Sentence{wording.Say("could not be read: %s", "x")}, operation.KindUnknown, "irreversible", "user", 0.15}
	rows     = found{wording.Sentence{wording.Say("updates rows of %s", "users")}, operation.KindDatabase, "irreversible", "public", 0.02}
	named    = found{wording.Sentence{{Phrase: "changes"}, wording.Say(wording.ByTheTool, "x")}, operation.KindOverwrite, "partial", "shared", 0.28}
	leaves   = found{wording.Sentence{wording.Say("moves %s to %s", "a", "/b")}, operation.KindMove, "partial", "user", 0.4}
	arrives  = found{wording.Sentence{wording.Say("moves %s to %s", "a", "/b"), {Phrase: wording.Outside}}, operation.KindOverwrite, "partial", "system", 0.33}
	away     = found{wording.Sentence{{Phrase: "deletes"}, {Text: "/srv/data/a"}}, operation.KindDelete, "irreversible", "system", 0.13}
	sibling  = found{wording.Sentence{{Phrase: "deletes"}, {Text: "../old/*.log"}}, operation.KindDelete, "irreversible", "system", 0.13}
	posts    = found{wording.Sentence{wording.Say("sends a request that changes something: %s %s", "POST", "https://a.example/x")}, operation.KindSend, "irreversible", "shared", 0.05}
	stores   = found{wording.Sentence{wording.Say("writes to shared storage: %s %s", "cp", "a s3://b")}, operation.KindSend, "irreversible", "shared", 0.05}
	seen     = found{wording.Sentence{wording.Say("creates %s", "x")}, operation.KindCreate, "reversible", "shared", 0.38}
	guessed  = found{wording.Sentence{{Phrase: "deletes"}, {Text: "$DIR/x"}, {Phrase: wording.AsFarAsRead}}, operation.KindDelete, "irreversible", "system", 0.13}
	searched = found{wording.Sentence{{Phrase: "deletes"}, {Text: "/srv/old/$(find)/*.log"}, {Phrase: wording.AsFarAsRead}}, operation.KindDelete, "irreversible", "user", 0.13}
	one      = found{wording.Sentence{{Phrase: "deletes"}, {Text: "/srv/old/*.log"}}, operation.KindDelete, "irreversible", "user", 0.13}
	climbs   = found{wording.Sentence{{Phrase: "deletes"}, {Text: "/srv/old/$(find)/../x"}, {Phrase: wording.AsFarAsRead}}, operation.KindDelete, "irreversible", "user", 0.13}
	foreign  = found{wording.Sentence{wording.Say("runs code downloaded from the network without review: %s", "")}, operation.KindForeignCode, "irreversible", "user", 0.1}
	fetches  = found{wording.Sentence{wording.Say("fetches %s", "https://a.example/x.sh"), {Phrase: "."}}, operation.KindRead, "reversible", "workspace", 0.95}
	fetches2 = found{wording.Sentence{wording.Say("fetches %s", "https://b.example/y"), {Phrase: "."}}, operation.KindRead, "reversible", "workspace", 0.95}
	atHome   = found{wording.Sentence{{Phrase: "deletes"}, {Text: "/home/ann/old"}}, operation.KindDelete, "irreversible", "user", 0.18}
	others   = found{wording.Sentence{wording.Say(wording.MoreLikeThese, "7")}, operation.KindDelete, "irreversible", "user", 0.4}
)

func TestOf(t *testing.T) {
	t.Parallel()
	final, partly := operation.Irreversible, operation.Partial
	for name, r := range map[string]struct {
		call vaglio.Proposal
		v    vaglio.Verdict
		says string
		more int
		c    headline.Consequence
	}{
		"the act alone":                     {shell("rm"), verdict(0, deletes), "deletes /opt/a", 0, headline.Consequence{Undo: final, Reach: "system"}},
		"what is done before how":           {shell("apt"), verdict(0, asRoot, installs), "installs nginx", 0, headline.Consequence{Undo: partly, Reach: "system"}},
		"how where nothing says what":       {shell("apt"), verdict(0, asRoot, reads), "runs apt with the rights of the administrator", 0, headline.Consequence{Undo: partly, Reach: "system"}},
		"the worst of several":              {shell("x"), verdict(0, installs, deletes, reads), "deletes /opt/a", 1, headline.Consequence{Undo: final, Reach: "system"}},
		"what is not listed is counted":     {shell("x"), verdict(0, deletes, others), "deletes /opt/a", 7, headline.Consequence{Undo: final, Reach: "system"}},
		"both ends of a move are one":       {shell("x"), verdict(0, leaves, arrives), "moves a to /b", 0, headline.Consequence{Undo: partly, Reach: "system"}},
		"it only reads":                     {shell("x"), verdict(0, reads), "reads", 0, headline.Consequence{Reads: true}},
		"reads, as far as it was read":      {shell("x"), verdict(1, reads), "reads", 0, headline.Consequence{Unread: true}},
		"nothing is known":                  {shell("x"), verdict(0, unknown), "x", 0, headline.Consequence{Unknown: true}},
		"a part is known":                   {shell("x"), verdict(0, unknown, installs), "x", 1, headline.Consequence{Undo: partly, Reach: "system", Unread: true}},
		"a note beside":                     {shell("x"), verdict(2, deletes), "deletes /opt/a", 0, headline.Consequence{Undo: final, Reach: "system", Unread: true}},
		"what is sent to an address":        {shell("x"), verdict(0, posts), "sends a request that changes something: POST https://a.example/x", 0, headline.Consequence{Undo: final, Reach: "public"}},
		"what is sent to one's own service": {shell("x"), verdict(0, stores), "writes to shared storage: cp a s3://b", 0, headline.Consequence{Undo: final, Reach: "shared"}},
		"what others see can be taken away": {shell("x"), verdict(0, seen), "creates x", 0, headline.Consequence{Undo: partly, Reach: "shared"}},
		"of equals what was read whole":     {shell("x"), verdict(0, guessed, deletes), "deletes /opt/a", 1, headline.Consequence{Undo: final, Reach: "system", Unread: true}},
		"what a search finds":               {shell("x"), verdict(0, searched, one), "deletes files named *.log below /srv/old", 0, headline.Consequence{Undo: final, Reach: "user"}},
		"what lies beside what it finds":    {shell("x"), verdict(0, climbs), "deletes /srv/old/$(find)/../x", 0, headline.Consequence{Undo: final, Reach: "user", Unread: true}},
		"files by the administrator":        {shell("x"), verdict(0, atHome, asRoot), "deletes /home/ann/old", 0, headline.Consequence{Undo: final, Reach: "user"}},
		"code by the administrator":         {shell("x"), verdict(0, foreign, asRoot), "runs code downloaded from the network without review", 0, headline.Consequence{Undo: final, Reach: "system"}},
		"a database keeps its rows":         {shell("x"), verdict(0, rows), "updates rows of users", 0, headline.Consequence{Undo: final, Reach: "shared"}},
		"equal ones together":               {shell("x"), verdict(0, away, sibling, installs), "deletes /srv/data/a and ../old/*.log", 1, headline.Consequence{Undo: final, Reach: "system"}},
		"unlike ones apart":                 {shell("x"), verdict(0, away, atHome), "deletes /srv/data/a", 1, headline.Consequence{Undo: final, Reach: "system"}},
		"code from one address":             {shell("x"), verdict(0, foreign, fetches), "runs code downloaded from https://a.example/x.sh", 0, headline.Consequence{Undo: final, Reach: "user"}},
		"code from one of two":              {shell("x"), verdict(0, foreign, fetches, fetches2), "runs code downloaded from the network without review", 0, headline.Consequence{Undo: final, Reach: "user"}},
		"a path as it is typed":             {shell("rm ~/old"), verdict(0, atHome), "deletes ~/old", 0, headline.Consequence{Undo: final, Reach: "user"}},
		"a path that is typed in full":      {shell("rm /home/ann/old; ls ~/old"), verdict(0, atHome), "deletes /home/ann/old", 0, headline.Consequence{Undo: final, Reach: "user"}},
		"no judge of effects":               {shell("make all\nmake more"), vaglio.Verdict{}, "runs make all", 0, headline.Consequence{}},
		"no judge of effects, and a tool":   {vaglio.Proposal{Executor: "frob"}, vaglio.Verdict{}, "calls frob", 0, headline.Consequence{}},
		"masks": {
			shell("a ‹masked 40 chars #3fa9c2d17be0› ‹masked x› ‹masked 4 chars #3fa9c2d17be1›"), verdict(0, deletes), "deletes /opt/a", 0,
			headline.Consequence{Undo: final, Reach: "system", Masked: 2},
		},
	} {
		h := headline.Of(r.call, r.v)
		if got := h.Said.String(); got != r.says || h.More != r.more || h.Consequence != r.c {
			t.Errorf("%s: %q, %d more, %+v; want %q, %d, %+v", name, got, h.More, h.Consequence, r.says, r.more, r.c)
		}
	}
}

func TestThingsAreWholeOrTold(t *testing.T) {
	t.Parallel()
	long := found{wording.Sentence{{Phrase: "deletes"}, {Text: strings.Repeat("/a", 200)}}, operation.KindDelete, "irreversible", "user", 0.1}
	list := []any{"a@example.com", "b@example.com", "c@example.com", "d@example.com", "e@example.com"}
	for name, r := range map[string]struct {
		call vaglio.Proposal
		v    vaglio.Verdict
		says string
	}{
		"a long path":   {shell("rm"), verdict(0, long), "deletes a path of 400 characters"},
		"a long list":   {vaglio.Proposal{Executor: "send_mail", Args: vaglio.Args{"to": list, "subject": "Hi"}}, verdict(0, unknown), "sends mail to a@example.com, b@example.com, c@example.com and 2 more: Hi"},
		"a long text":   {vaglio.Proposal{Executor: "send_mail", Args: vaglio.Args{"subject": strings.Repeat("word ", 30)}}, verdict(0, unknown), "sends mail: " + strings.TrimSpace(strings.Repeat("word ", 16)) + " …"},
		"several lines": {vaglio.Proposal{Executor: "send_mail", Args: vaglio.Args{"subject": "one\ntwo"}}, verdict(0, unknown), "sends mail: one …"},
		"a draft":       {vaglio.Proposal{Executor: "draft_send_mail", Args: vaglio.Args{"to": "a@example.com"}}, verdict(0, installs), "installs nginx"},
	} {
		h := headline.Of(r.call, r.v)
		if got := h.Said.String(); got != r.says {
			t.Errorf("%s: %q, want %q", name, got, r.says)
		}
	}
}

// TestObjects checks what a tool's name and arguments tell about its object, and that
// nothing is said beyond that.
func TestObjects(t *testing.T) {
	t.Parallel()
	const plain = "changes by the tool x"
	for name, r := range map[string]struct {
		args vaglio.Args
		says string
	}{
		"cancel_subscription":        {vaglio.Args{"subscription_id": "sub_1", "reason": "x"}, "cancels the subscription sub_1"},
		"closeIssue":                 {vaglio.Args{"owner": "acme", "repo": "shop", "issue_number": 7}, "closes issue 7 in acme/shop"},
		"merge_pull_request":         {vaglio.Args{"repo": "acme/shop", "pullNumber": 42}, "merges pull request 42 in acme/shop"},
		"mcp__crm__delete_customers": {vaglio.Args{"ids": []any{"a"}, "id": "b"}, "deletes the customer b"},
		"subscription_cancel":        {vaglio.Args{"id": "sub_1"}, "cancels the subscription sub_1"},
		"delete_customer_address":    {vaglio.Args{"address_id": "ad_1", "customer_id": "cus_1"}, "deletes the address ad_1 of the customer cus_1"},
		"update_issue_status":        {vaglio.Args{"issue": "7", "status": "done"}, "updates the status of issue 7: done"},
		"delete_project":             {vaglio.Args{"project_id": "p"}, "deletes the project p"},
		"delete_page":                {vaglio.Args{"id": []any{"a", "b", "c", "d"}}, "deletes the pages a, b, c and d"},
		"add_user_to_group":          {vaglio.Args{"user_id": "eve", "group_id": "admins"}, "adds the user eve to the group admins"},
		"add_user_to_tray":           {vaglio.Args{"user_id": "eve", "tray": "c"}, plain + " (eve, c)"},
		"delete_user_role":           {vaglio.Args{"role_id": "r"}, "deletes the user role r"},
		"delete_users":               {vaglio.Args{"filter": "old"}, "deletes the users (old)"},
		"merge_users":                {vaglio.Args{"first_id": "a", "second_id": "b"}, "merges the users (a, b)"},
		"delete_email":               {vaglio.Args{"messageId": "m1"}, "deletes the mail m1"},
		"files_move":                 {vaglio.Args{"from_path": "/a", "to_path": "/b"}, "moves /a to /b"},
		"delete_user":                {vaglio.Args{"filter": "old"}, "deletes the users (old)"},
		"create_record":              {vaglio.Args{"table_id": "t1", "app_id": "a1"}, "creates a record in the table t1 (app: a1)"},
		"move_card":                  {vaglio.Args{"card_id": "c1", "list_id": "done"}, "moves the card c1 into the list done"},
		"make_file_public":           {vaglio.Args{"file_id": "f"}, plain + " (f)"},
		"reply_to_ticket":            {vaglio.Args{"ticket_id": 5, "body": "Hi"}, "replies to the ticket 5: Hi"},
		"create_and_send_invoice":    {vaglio.Args{"id": "in_1"}, "creates and sends the invoice in_1"},
		"delete_record":              {vaglio.Args{"filter": "all", "record": true}, "deletes the records (all)"},
		"frobnicate_page":            {vaglio.Args{"id": "p"}, plain + " (p)"},
		"delete":                     {vaglio.Args{"id": "p"}, "deletes p"},
	} {
		h := headline.Of(vaglio.Proposal{Executor: name, Args: r.args}, verdict(0, named))
		if got := h.Said.String(); got != r.says {
			t.Errorf("%s: %q, want %q", name, got, r.says)
		}
	}
	h := headline.Of(vaglio.Proposal{Executor: "delete_page", Args: vaglio.Args{"id": "p"}}, verdict(0, installs))
	if got := h.Said.String(); got != "installs nginx" {
		t.Errorf("what the judge knows better is said as %q", got)
	}
}

// TestVerbsThatAreTakenBack checks that what another verb can undo is not called final just
// because the judge grades its kind that way, and that nothing else is softened.
func TestVerbsThatAreTakenBack(t *testing.T) {
	t.Parallel()
	people := named
	people.kind, people.undo = operation.KindPeople, "irreversible"
	for name, want := range map[string]operation.Reversibility{
		"archive_channel": operation.Partial, "unarchive_channel": operation.Partial, "suspend_channel": operation.Partial,
		"delete_channel": operation.Irreversible, "start_channel": operation.Irreversible, "unlock_channel": operation.Partial, "grant_channel": operation.Partial,
	} {
		p := vaglio.Proposal{Executor: name, Args: vaglio.Args{"channel": "#old"}}
		if h := headline.Of(p, verdict(0, people)); h.Consequence.Undo != want {
			t.Errorf("%s: %s, want %s", name, h.Consequence.Undo, want)
		}
		if h := headline.Of(p, verdict(0, people, deletes)); h.Consequence.Undo != operation.Irreversible {
			t.Errorf("%s beside a deletion: %s", name, h.Consequence.Undo)
		}
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	of := func(list ...found) headline.Headline { return headline.Of(shell("x"), verdict(0, list...)) }
	order := []headline.Headline{of(deletes), of(unknown), of(installs), of(reads)}
	for i := range order {
		for j := range order {
			if got := order[i].Compare(&order[j]); (got < 0) != (i < j) || (got == 0) != (i == j) {
				t.Errorf("%v and %v: %d", order[i].Said, order[j].Said, got)
			}
			if order[i].Equal(&order[j]) != (i == j) {
				t.Errorf("%v and %v are equal or not", order[i].Said, order[j].Said)
			}
		}
	}
}

// TestACallThatNobodyJudged checks the headline of a call that no judge described, for
// example one that the guard denied: it says what the name and arguments tell, or else the
// tool and its first argument, but not its JSON.
func TestACallThatNobodyJudged(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		args vaglio.Args
		want string
	}{
		"path":    {vaglio.Args{"path": "/tmp/notes.txt"}, "Reads /tmp/notes.txt"},
		"nothing": {nil, "Calls fs_read"},
		"several": {vaglio.Args{"id": "7", "path": "a", "z": true}, "Reads a"},
		"long":    {vaglio.Args{"path": strings.Repeat("a", 201)}, "Reads a text of 201 characters"},
		"other":   {vaglio.Args{"range": "1-3"}, "Calls fs_read (1-3)"},
		"lines":   {vaglio.Args{"path": "a\nb", "range": "1-3"}, "Calls fs_read (1-3)"},
		"command": {vaglio.Args{"command": "make install"}, "Runs make install"},
	} {
		h := headline.Of(vaglio.Proposal{Executor: "fs_read", Args: tt.args}, vaglio.Verdict{})
		if got, _ := h.Said.In(wording.English); got != tt.want {
			t.Errorf("%s: it %q, want %q", name, got, tt.want)
		}
	}
}

// TestACallWithoutAName has a headline, whatever a judge says of it.
func TestACallWithoutAName(t *testing.T) {
	t.Parallel()
	for _, executor := range []string{"", "_", "-", "7", "mcp__", "…"} {
		for _, kind := range operation.Kinds() {
			for _, args := range []vaglio.Args{nil, {"path": "a"}, {"query": "x", "index": "i"}, {"command": "ls"}, {"amount": 5}} {
				v := vaglio.Verdict{Results: []vaglio.GradientResult{{
					Judge: "effects", MinScore: 0.5, Signals: []vaglio.Signal{{Score: 0.2, Said: wording.Sentence{{Phrase: "reads"}}}},
					Metadata: vaglio.Args{"effects": []any{map[string]any{"kind": string(kind), "reversibility": "partial", "reach": "user"}}},
				}}}
				if h := headline.Of(vaglio.Proposal{Executor: executor, Args: args}, v); len(h.Said) == 0 {
					t.Errorf("%q with %v and %s says nothing", executor, args, kind)
				}
			}
		}
	}
}

// TestManyOperationsAreBounded checks that of a list with more kinds of operations than are read, the ones that cannot
// be undone are, and all are counted.
func TestManyOperationsAreBounded(t *testing.T) {
	t.Parallel()
	var list []any
	for i := range 2000 {
		list = append(list, map[string]any{"op": "update", "record_id": "r", fmt.Sprint("field", i): "x"})
	}
	list = append(list, map[string]any{"op": "delete", "record_id": "last"})
	p := vaglio.Proposal{Executor: "mcp__airtable__batch", Args: vaglio.Args{"operations": list}}
	v := verdict(0, found{wording.Sentence{wording.Say("calls the tool %s, of which nothing is known", "batch")}, operation.KindUnknown, "irreversible", "shared", 0.1})
	h := headline.Of(p, v)
	if got := h.Said.String(); got != "deletes the record last" || h.More != 2000 || h.Consequence.Undo != "irreversible" {
		t.Errorf("%q and %d more, %+v", got, h.More, h.Consequence)
	}
}

// TestDeepMutations reads texts whose brackets nest as deep as a query of the longest size allows, with little stack.
func TestDeepMutations(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(8 << 20))
	for _, nested := range []string{"{", "a(b:{c:", "a(b:[", "{]"} {
		p := vaglio.Proposal{Executor: "github_graphql", Args: vaglio.Args{"query": "mutation {deleteIssue(id:1){x} " + strings.Repeat(nested, 60_000/len(nested))}}
		if h := headline.Of(p, verdict(0, found{said: wording.Sentence{wording.Say("sends a request that changes something by GraphQL")}, kind: operation.KindSend})); len(h.Said) == 0 {
			t.Errorf("%q: it says nothing", nested)
		}
	}
}

// BenchmarkOfALargeCall words calls of which one argument is a text of one mebibyte, as lists of cards do many times.
func BenchmarkOfALargeCall(b *testing.B) {
	for name, piece := range map[string]string{"letters": "x", "words": "a b\n", "numbers": "1, ", "brackets": "{", "json": `{"a":`, "mutations": "mutation { a(b: 1) }\n", "sql": "UPDATE a SET b=1;"} {
		text := strings.Repeat(piece, 1<<20/len(piece))
		for _, key := range []string{"text", "query", "amount", "command"} {
			b.Run(name+"/"+key, func(b *testing.B) {
				p, v := vaglio.Proposal{Executor: "run", Args: vaglio.Args{key: text}}, verdict(0, posts)
				for b.Loop() {
					headline.Of(p, v)
				}
			})
		}
	}
}
