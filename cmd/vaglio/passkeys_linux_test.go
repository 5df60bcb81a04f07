package main

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/web/passkey"
	"github.com/metnos/vaglio/gateway/install"
	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/instance"
	"github.com/metnos/vaglio/internal/lineage"
	"github.com/metnos/vaglio/store/bolt"
)

// TestAPasskeyStandsBeforeASeriousYes stores a passkey: then a force push cannot be allowed at a
// terminal, or in the inbox without the passkey. The passkey can only be removed at a terminal, the
// history records it, and then the call can be allowed as before.
func TestAPasskeyStandsBeforeASeriousYes(t *testing.T) {
	t.Parallel()
	line, err := lineage.Of(lineage.System, os.Getpid())
	if agent := line.Below(install.Programs()); err != nil || agent != "" {
		t.Skipf("this test runs below %q, and nothing could be allowed there: %v", agent, err)
	}
	h := newHome(t)
	h.serve().stop()
	db, err := bolt.Open(h.data(datafolder.StoreFile), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := (instance.Passkeys{Store: db}).Save(t.Context(), []passkey.Passkey{{Name: "phone", Host: "localhost", ID: []byte("id")}}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s := h.serve()
	me := s.signIn(s.link)
	saidAt(t, h.run("", "passkeys", "list").out, "phone", "localhost")
	waits := s.propose()
	asked := s.waiting(1)[0]
	id, name := string(asked.ID), asked.Agent
	const sh = "/bin/sh"
	saidAt(t, h.atTerminal(sh, name+"\n", "$VAGLIO show "+id+"; $VAGLIO allow "+id+"; echo [$?]"), "needs your passkey", "Nothing was allowed", "[1]")
	if f, ok := buttons(t, me.get("/inbox").body)["allow"]; ok {
		if r := me.post("/inbox/decide", f); r.status == http.StatusOK || !strings.Contains(r.body, "passkey") {
			t.Errorf("the inbox without the passkey: %d\n%s", r.status, r.body)
		}
	}
	if r := h.run("", "passkeys", "remove", "phone"); r.code != exitFailed || !strings.Contains(r.err, "only at a terminal") {
		t.Errorf("without a terminal: %d %s%s", r.code, r.out, r.err)
	}
	saidAt(t, h.atTerminal(sh, "", "$VAGLIO passkeys remove laptop; echo [$?]"), "no passkey of that name", "[1]")
	if a := s.waiting(1)[0]; a.State != approval.Pending {
		t.Fatalf("it is %s while the passkey is there", a.State)
	}
	saidAt(t, h.atTerminal(sh, "", "$VAGLIO passkeys remove phone; echo [$?]"), "removed", "[0]")
	saidAt(t, h.run("", "log", "--json").out, "passkey-removed")
	if said := h.run("", "passkeys", "list").out; strings.Contains(said, "phone") {
		t.Error(said)
	}
	me.decide("allow", "")
	if a := waits.answer(t); a.Decision != approval.RulingAllow {
		t.Errorf("%+v", a)
	}
	s.stop()
}
