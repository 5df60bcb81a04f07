package main

import (
	"github.com/metnos/vaglio/gateway/hook/hookmain"
	"github.com/metnos/vaglio/gateway/install"
	"github.com/metnos/vaglio/internal/datafolder"
)

func (i *installer) scope() install.Scope {
	switch {
	case i.project:
		return install.Project
	case i.managed:
		return install.Managed
	}
	return install.User
}

// tokenHere returns the token that is stored for a client's agent, "" if there is none: its hook was
// installed before any daemon ran.
func tokenHere(client string) string {
	dir, err := loadDataDir()
	if err != nil {
		return ""
	}
	token, _ := datafolder.ReadSecret(hookmain.TokenFile(dir, client))
	return string(token)
}
