package payloads

import (
	"fmt"
	"strings"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/headline"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/vaglio/wording"
)

// Digest returns a digest that has every line there is, with n actions in each
// state.
func Digest(n int) report.Digest {
	at := time.Date(2000, 1, 1, 8, 0, 0, 0, time.UTC)
	fates := report.Fates{
		Allowed: 21, Denied: 2, Expired: 3, Withdrawn: 4, Superseded: 5, Waiting: 6, Repeated: 7, Unasked: 8,
		Runs: report.Runs{Succeeded: 1, Failed: 2, Unknown: 3, Running: 4, Unused: 5, Lapsed: 6},
	}
	d := report.Digest{
		Window: report.Window{From: at.AddDate(0, 0, -1), To: at}, Late: true, WaitingMore: 3,
		Counts:  report.Counts{Judged: 50, Approved: 9, Guard: 5, Vetoed: 36, Fates: fates, Carried: fates, Settled: fates.Runs, Errors: 2},
		WeekAgo: report.Counts{Judged: 1, Guard: 2, Vetoed: 3},
	}
	d.Checkpoint = "vaglio/x7k2m4ab6cd2\n1000000\n" + Hash + "\n\n— vaglio/x7k2m4ab6cd2 " + Signature + "\n"
	for i := range 7 {
		from := at.AddDate(0, 0, i-7)
		d.Week = append(d.Week, report.Day{
			Window: report.Window{From: from, To: from.AddDate(0, 0, 1)}, Counts: report.Counts{Approved: 1300 * i, Guard: i, Fates: fates},
		})
	}
	d.Week[6].Counts = d.Counts
	states := []approval.State{
		approval.Pending, approval.Allowed, approval.Denied, approval.Expired, approval.Withdrawn, approval.Superseded,
		approval.Spent, approval.Lapsed, approval.Succeeded, approval.Failed, approval.Unknown,
	}
	var actions []report.Veto
	for i := range n * len(states) {
		actions = append(actions, report.Veto{
			ID: approval.ID(fmt.Sprintf("ask%d-1", i)), At: at, Agent: "<b>bot</b>", Wanted: "rm " + strings.Repeat("x", 300),
			State: states[i%len(states)], By: "Ann\u202e", After: 3, Words: "not <now>",
		})
	}
	for i := range actions {
		if i%2 == 1 { // half of them with a headline, with something in it that must not be markup
			actions[i].Headline = &headline.Headline{
				Said: wording.Sentence{{Phrase: "deletes %s", Args: wording.Sentence{{Text: "<b>*_`x`" + strings.Repeat("x", 150)}}}}, More: 2,
				Consequence: headline.Consequence{Undo: "irreversible", Reach: "shared"},
			}
		}
	}
	d.Waiting = []report.Waiting{{ID: "ask0-1", Agent: "bot", Wanted: "make", Until: at}}
	d.Rules = []report.Tally{{Name: "path.auth", Count: 3, New: true}, {Name: "tree.root", Count: 2}, {Count: 4}}
	d.Spares = []report.Tally{{Name: "shell_exec", Effect: "delete", Count: 5}, {Name: "send_mail", Count: 4}, {Count: 2}}
	d.Workarounds = []report.Workaround{{ID: "ask1-1", Agent: "bot", Wanted: "rm a", Tries: 2}, {Tries: 1}}
	d.People = []report.Habit{{Person: "telegram:1", Name: "Ann", Allows: 3, Denies: 1, Hasty: 2}, {Allows: 2}}
	d.Groups = []report.VetoGroup{
		{Rule: "path.auth", Count: 9, Actions: []report.Veto{{At: at, Agent: "bot", Wanted: "cat /etc/shadow"}}},
		{Effect: "delete", Count: 99, New: true, Actions: actions},
		{Effect: "no-such-effect", Count: 1},
		{Count: 7},
	}
	return d
}

// CopiedCheckpoint is the checkpoint of a [Digest] as people copy it.
const CopiedCheckpoint = "vaglio/x7k2m4ab6cd2 1000000 " + Hash + " — vaglio/x7k2m4ab6cd2 " + Signature

// The hash and the signature in the checkpoint: as long as real ones, and with
// every character that those may have.
const (
	Hash      = "IuwxQZvbMIdXLpJhH0Y28mwy+sQ4oqkYfOEDSSGNL/0="
	Signature = "cK7r2fq0m/5c8fzKZJ3X+Qpq1eQ7dZ7o1q0v9b3nTt8w4y6uI2o0p9a8s7d6f5g4h3j2k1l0z9x8c7v6b5n4m3Q2W1E="
)
