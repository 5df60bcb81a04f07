package owner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/terminal"
)

// Passkeys manages the inbox's passkeys.
type Passkeys interface {
	List() []PasskeyAccount
	// Remove removes a passkey without an assertion by it. [approval.ErrNotFound] means that
	// there is none with that name.
	Remove(ctx context.Context, name string) error
}

// PasskeyAccount is what the owner sees of a passkey.
type PasskeyAccount struct {
	Name string `json:"name"`
	// Host is the host name for which it works.
	Host string    `json:"host"`
	Made time.Time `json:"made"`
	// Used is when it was last used; zero means never.
	Used time.Time `json:"used,omitzero"`
}

// PasskeyList is a list of passkeys.
type PasskeyList struct {
	Passkeys []PasskeyAccount `json:"passkeys"`
}

func (a *admin) passkeyCalls() map[string]func(*http.Request) (any, error) {
	return map[string]func(*http.Request) (any, error){
		"GET /passkeys":           func(*http.Request) (any, error) { return PasskeyList{a.Passkeys.List()}, nil },
		"DELETE /passkeys/{name}": func(r *http.Request) (any, error) { return Said{}, a.removePasskey(r) },
	}
}

// removePasskey needs a person at a terminal, as allow does: without passkeys, the terminal is
// where one can allow.
func (a *admin) removePasskey(r *http.Request) error {
	name := r.PathValue("name")
	if _, err := a.terminal(r.Context()); err != nil {
		return a.undone(&approval.Order{ID: name}, err)
	}
	err := a.Passkeys.Remove(r.Context(), name)
	if errors.Is(err, approval.ErrNotFound) {
		return &undoneError{"There is no passkey of that name; “vaglio passkeys list” lists them."}
	}
	return err
}

// WritePasskeys writes a table of the passkeys.
func WritePasskeys(w io.Writer, all []PasskeyAccount) error {
	var b strings.Builder
	b.WriteString("NAME\tHOST\tREGISTERED\tLAST USED\n")
	for i := range all {
		used := "never"
		if !all[i].Used.IsZero() {
			used = terminal.Stamp(all[i].Used)
		}
		fmt.Fprintf(&b, "%s\t%s\t%s\t%s\n", terminal.OneLine(all[i].Name, 60), terminal.OneLine(all[i].Host, 60), terminal.Stamp(all[i].Made), used)
	}
	return terminal.Table(w, b.String())
}
