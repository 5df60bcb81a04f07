package main

import (
	"fmt"

	"github.com/metnos/vaglio/channels/web"
	"github.com/metnos/vaglio/vaglio"
)

// askedScore is what the rules give the sample that a person is asked about.
const askedScore = 0.7

// samples are the ready-made calls of the inbox's page Try it: one of each
// ending, so that a newcomer sees the whole path in a minute.
func samples(threshold float64) []web.Sample {
	asked := "The rules give it 0.70, below the threshold, so you are asked."
	if threshold <= askedScore {
		asked = fmt.Sprintf("The rules give it 0.70, and the threshold is %.2f, so it passes: "+
			"start vaglio with METNOS_JUDGE_THRESHOLD=0.75 to be asked.", threshold)
	}
	return []web.Sample{
		{
			Name: "approved", Title: "Read a file",
			Explain: "The tool does what the user asked for, so the call is approved and nobody is asked.",
			Proposal: vaglio.Proposal{
				Intent: "read the notes of the last meeting", Executor: "read_file",
				Args: vaglio.Args{"path": "notes/meeting.md"},
			},
		},
		{
			Name: "asked", Title: "Delete the old build", Explain: asked,
			Proposal: vaglio.Proposal{
				Intent: "clean the old build", Executor: "shell_exec",
				Args:    vaglio.Args{"command": "rm -rf ./build"},
				Context: vaglio.Context{Capability: vaglio.Capabilities{"code:exec"}, Cwd: "/home/you/app"},
			},
		},
		{
			Name: "guard", Title: "Read the password hashes",
			Explain: "The guard denies it. That is final: nobody is asked, and nobody can allow it.",
			Proposal: vaglio.Proposal{
				Intent: "check who has an account", Executor: "read_file",
				Args: vaglio.Args{"path": "/etc/shadow"},
			},
		},
	}
}
