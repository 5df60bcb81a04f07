package main

import (
	"github.com/metnos/vaglio/channels/web"
	"github.com/metnos/vaglio/vaglio"
)

// samples are the ready-made calls of the inbox's page Try it: one of each
// ending, so that a newcomer sees the whole path in a minute.
func samples() []web.Sample {
	return []web.Sample{
		{
			Name: "approved", Title: "Read a file",
			Explain: "The tool does what the user asked for and changes nothing, so the call is approved and nobody is asked.",
			Proposal: vaglio.Proposal{
				Intent: "read the notes of the last meeting", Executor: "read_file",
				Args: vaglio.Args{"path": "notes/meeting.md"},
			},
		},
		{
			Name: "asked", Title: "Rewrite a shared branch",
			Explain: "It replaces what others work on and cannot be undone, so you are asked, although the user wants it.",
			Proposal: vaglio.Proposal{
				Intent: "clean up the history of main", Executor: "shell_exec",
				Args:    vaglio.Args{"command": "git push --force origin main"},
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
