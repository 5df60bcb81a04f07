package policyfile

import (
	"fmt"
	"strconv"

	"github.com/metnos/vaglio/vaglio/catalog"
	"github.com/metnos/vaglio/vaglio/clients"
	"github.com/metnos/vaglio/vaglio/reading"
)

// skips reports executors that skip the judges although they run what they are given: only the
// judges would look at the command.
func (m *mistakes) skips(all []catalog.Executor) {
	for i := range all {
		if ex := &all[i]; ex.SkipJudge {
			if why := runsAnything(ex); why != "" {
				m.at(fmt.Sprintf("executor %q: skip_judge is for what only reads, and this %s; take it out", ex.Name, why),
					"executors", strconv.Itoa(i), "skip_judge")
			}
		}
	}
}

// runsAnything returns why an executor runs whatever it is given, "" if it does not.
func runsAnything(ex *catalog.Executor) string {
	if ex.Shell {
		return "is a shell"
	}
	for _, c := range ex.Capabilities {
		if c.Name == "code:exec" {
			return "has the capability code:exec"
		}
	}
	known, err := clients.Load()
	if err != nil {
		return "cannot be told from a shell: " + err.Error()
	}
	tools := known.Tools()
	for _, client := range clients.Names() {
		if tool, ok := tools[client][ex.Name]; ok && (tool.Shell || tool.Language != "") {
			return "runs programs in " + client
		}
	}
	if reading.NewReader(reading.Options{}).Read(reading.Call{Executor: ex.Name}).Runs {
		return "runs programs, by its name"
	}
	if reading.NamesBatch(ex.Name) {
		return "makes other calls, by its name"
	}
	return ""
}
