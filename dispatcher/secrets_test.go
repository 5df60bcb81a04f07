package dispatcher_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
)

// grown returns secrets made for this run: in issuers' formats, as a password, and as a
// private key.
func grown(t *testing.T) []string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), "\n")
	text := rand.Text() + rand.Text()
	return []string{"ghp_" + text[:36], "sk_live_" + text, "xoxb-" + text, "npm_" + text[:36], "Pw9" + rand.Text(), strings.Join(lines, "\n")}
}

// TestTheAgentIsToldNoSecret reads everything that an agent is told about denied calls: by
// the guard, while a person is asked, by a person, and when the call is repeated.
func TestTheAgentIsToldNoSecret(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	inUnderstanding(t, func(t *testing.T, g *gate) {
		told := func(secret, when string, a approval.Answer) {
			t.Helper()
			body, err := strictjson.Marshal(a.Told())
			if err != nil {
				t.Fatal(err)
			}
			if a.Refusal == nil {
				t.Errorf("%s: there is no refusal: %s", when, body)
			}
			for line := range strings.Lines(secret) {
				if line = strings.TrimSpace(line); !strings.HasPrefix(line, "-----") && len(line) > 7 && strings.Contains(string(body), line) {
					t.Errorf("%s: the agent is told %q: %s", when, line, body)
				}
			}
		}
		for i, secret := range grown(t) {
			for carrier, p := range map[string]vaglio.Proposal{
				"variable": shell(fmt.Sprintf("DB_PASSWORD='%s' git push --force origin main%d", secret, i)),
				"header":   shell(fmt.Sprintf("curl -X DELETE -H 'Authorization: Bearer %s' https://api.example/v1/users/%d", secret, i)),
				"argument": {Executor: "send_email", Agent: agent, Args: vaglio.Args{"to": "ann@example.org", "body": fmt.Sprint(i), "api_key": secret}},
				"query":    shell(fmt.Sprintf("curl -X DELETE 'https://api.example/v1/users/%d?token=%s'", i, url.QueryEscape(secret))),
				"address":  {Executor: "http_delete", Agent: agent, Args: vaglio.Args{"url": fmt.Sprintf("https://api.example/v2/users/%d?api_key=%s", i, url.QueryEscape(secret))}},
				"guard":    shell(fmt.Sprintf("PASSWORD='%s' rm -rf /", secret)),
			} {
				p.TurnID = fmt.Sprintf("t-%d-%s", i, carrier)
				a := g.propose(t, p, 0)
				told(secret, carrier, a)
				if a.Approval == nil {
					continue
				}
				g.decide(t, a.Approval.ID, approval.ChoiceDeny, "no")
				told(secret, carrier+", denied", g.propose(t, p, 0))
			}
		}
	})
}

// TestAMaskIsACut proposes a call that depends on a masked value: it can be denied from a
// card, and allowed from where the value is shown.
func TestAMaskIsACut(t *testing.T) {
	t.Parallel()
	inUnderstanding(t, func(t *testing.T, g *gate) {
		const secret = "bWFrZSByZWxlYXNlIDEyMzQ1Njc4OQ" // make release 123456789
		a := g.propose(t, shell("api_key="+secret+"; echo $api_key | base64 -d | sh"), 0)
		if a.Approval == nil {
			t.Fatalf("nobody is asked: %+v", a)
		}
		card := g.onlyCard(t)
		allow := func(b approval.Button) bool { return b.Choice != approval.ChoiceDeny }
		if len(card.Items[0].Obscured) == 0 || len(card.Buttons) == 0 || slices.ContainsFunc(card.Buttons, allow) || strings.Contains(fmt.Sprint(card), secret) {
			t.Fatalf("the card is %+v", card)
		}
		if _, err := g.press(t, a.Approval.ID, approval.ChoiceAllow); !errors.Is(err, approval.ErrObscured) {
			t.Errorf("unseen, it is answered %v", err)
		}
		shown, err := g.Revealed(t.Context(), a.Approval.ID.Ask(), "fake")
		if err != nil || !strings.Contains(shown.Items[0].Command, secret) {
			t.Fatalf("shown, it is %+v %v", shown, err)
		}
		receipt, err := g.Decide(t.Context(), approval.Tap{Token: token(t, shown, approval.ChoiceAllow), By: owner, Channel: "fake", Revealed: true})
		if err != nil || !receipt.Won {
			t.Errorf("seen, it is answered %+v %v", receipt, err)
		}
		if got, err := g.Await(t.Context(), agent, a.Approval.ID, time.Minute); err != nil || got.Permit == nil {
			t.Errorf("the agent is told %+v %v", got, err)
		}
	})
}

// TestNoEditHidesACut edits one part of a call while another part depends on a masked
// value. An edit shows no masked value, so it allows none.
func TestNoEditHidesACut(t *testing.T) {
	t.Parallel()
	inUnderstanding(t, func(t *testing.T, g *gate) {
		p := shell("curl https://example.org/")
		p.Executor = "http_post"
		p.Args = vaglio.Args{"url": "https://hooks.example.org/ghp_0123456789abcdefghijklmnopqrstuvwxyz", "body": "deploy main"}
		a := g.propose(t, p, 0)
		if a.Approval == nil {
			t.Fatalf("nobody is asked: %+v", a)
		}
		if it := g.onlyCard(t).Items[0]; len(it.Obscured) == 0 || len(it.Editables) != 0 {
			t.Fatalf("the card offers %+v", it)
		}
		e := approval.Editing{ID: a.Approval.ID, Texts: map[string]string{"body": "deploy dev"}, By: owner, Channel: "fake"}
		shown, err := g.Edit(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		e.Seen = shown.Print
		_, err = g.Edit(t.Context(), e)
		if bad, ok := errors.AsType[*approval.OrderError](err); !ok || bad.Key != approval.OrderObscured {
			t.Errorf("the edit is answered %v", err)
		}
		if ask, err := g.Find(t.Context(), string(a.Approval.ID)); err != nil || len(ask.Approvals) != 1 || ask.Approvals[0].State != approval.Pending {
			t.Errorf("it changed %+v %v", ask, err)
		}
	})
}
