package httpapi

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
)

// parkedOne has a client wait for a person in a bubble, with a proposal and with an approval, and
// runs the rest of a test. It checks that nothing is left of the waiting when the server has shut
// down.
func parkedOne(t *testing.T, run func(t *testing.T, api *API, g *gate, id approval.ID, conn net.Conn)) {
	t.Helper()
	for _, with := range []string{"proposal", "approval"} {
		t.Run(with, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, api, l, s := piped(t)
				served := make(chan error, 1)
				go func() { served <- s.Serve(NewLimiter(10).Wrap(l)) }()
				conn := l.dial()
				waits(t, g, conn, with)
				synctest.Wait()
				if got := api.slots.taken.Load(); got != 1 || len(api.parked.conns) != 1 {
					t.Fatalf("%d wait, %d of them parked", got, len(api.parked.conns))
				}
				for id := range g.asks {
					run(t, api, g, id, conn)
				}
				if err := s.Shutdown(t.Context()); err != nil {
					t.Error(err)
				}
				api.Drain(t.Context())
				<-served
				if got := api.slots.taken.Load(); got != 0 || len(api.parked.conns) != 0 {
					t.Errorf("after the end %d wait, %d of them parked", got, len(api.parked.conns))
				}
			})
		})
	}
}

// waits sends a request that waits for a person.
func waits(t *testing.T, g *gate, conn net.Conn, with string) {
	t.Helper()
	const body = `{"executor":"ask","args":{}}`
	head := "Host: x\r\nAuthorization: Bearer " + tokenA + "\r\n"
	propose := fmt.Sprintf("HTTP/1.1\r\n%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", head, len(body), body)
	request := "POST /v1/proposals?wait=10m " + propose
	if with == "approval" {
		if r := exchanged(t, conn, "POST /v1/proposals "+propose); r.closes || r.status != http.StatusOK {
			t.Errorf("who does not wait was answered by %v", r)
		}
		for id := range g.asks {
			request = fmt.Sprintf("GET /v1/approvals/%s?wait=10m HTTP/1.1\r\n%s\r\n", id, head)
		}
	}
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
}

// seen is what a client sees of an answer.
type seen struct {
	status int
	header http.Header
	closes bool
}

// exchanged sends a request and returns its answer.
func exchanged(t *testing.T, conn net.Conn, request string) seen {
	t.Helper()
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	return answered(t, conn)
}

// answered reads a whole answer.
func answered(t *testing.T, conn net.Conn) seen {
	t.Helper()
	r, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if b, err := io.ReadAll(r.Body); err != nil || int64(len(b)) != r.ContentLength {
		t.Fatalf("%d bytes of %d: %v", len(b), r.ContentLength, err)
	}
	return seen{r.StatusCode, r.Header, r.Close}
}

// TestAParkedRequestIsAnsweredOnItsConnection checks what a client sees that waited over
// HTTP/1.1: a complete answer, and then the end of the connection.
func TestAParkedRequestIsAnsweredOnItsConnection(t *testing.T) {
	for name, tt := range map[string]struct {
		before func(*gate, approval.ID)
		after  time.Duration
		status int
	}{
		"decided":   {func(g *gate, id approval.ID) { g.decide(id, approval.Allowed) }, 0, http.StatusOK},
		"nobody":    {func(*gate, approval.ID) {}, 10 * time.Minute, http.StatusOK},
		"shut down": {func(g *gate, _ approval.ID) { g.stop() }, 0, http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			parkedOne(t, func(t *testing.T, api *API, g *gate, id approval.ID, conn net.Conn) {
				start := time.Now()
				tt.before(g, id)
				r := answered(t, conn)
				if r.status != tt.status || !r.closes || r.header.Get("Content-Type") != jsonType || r.header.Get("Date") == "" || r.header.Get("Cache-Control") != "no-store" {
					t.Errorf("answered by %d, %v", r.status, r.header)
				}
				if took := time.Since(start); took != tt.after {
					t.Errorf("answered after %s", took)
				}
				if n := api.answered(); n != 1 {
					t.Errorf("%d answers to proposals are counted", n)
				}
				if n, err := conn.Read(make([]byte, 1)); n != 0 || err == nil {
					t.Errorf("the connection goes on: %d, %v", n, err)
				}
			})
		})
	}
}

// TestAParkedRequestOverTLSIsReadOn checks that a change without an answer does not end the waiting,
// nor the connection, although it interrupts the reading, and that the answer is sent in the end.
func TestAParkedRequestOverTLSIsReadOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, api, l, s := piped(t)
		served := make(chan error, 1)
		go func() {
			served <- s.Serve(tls.NewListener(NewLimiter(10).Wrap(l), &tls.Config{Certificates: []tls.Certificate{certificate(t)}}))
		}()
		conn := tls.Client(l.dial(), &tls.Config{InsecureSkipVerify: true})
		waits(t, g, conn, "proposal")
		for range 3 {
			synctest.Wait()
			if n := g.waiting(); n != 1 || len(api.parked.conns) != 1 {
				t.Fatalf("%d wait, %d of them parked", n, len(api.parked.conns))
			}
			g.mu.Lock()
			g.tell()
			g.mu.Unlock()
		}
		if _, err := io.WriteString(conn, "G"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		for id := range g.asks {
			g.decide(id, approval.Allowed)
		}
		if r := answered(t, conn); r.status != http.StatusOK || !r.closes {
			t.Errorf("answered by %d, the connection closes: %t", r.status, r.closes)
		}
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		api.Drain(t.Context())
		<-served
	})
}

// certificate returns one that nobody has signed.
func certificate(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, of, of, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// answered returns how many answers to proposals were counted.
func (a *API) answered() (n uint64) {
	for _, c := range a.meters.rulings {
		n += c.Get()
	}
	return n
}

// TestAParkedClientThatLeaves gives its place back. A client that sends more has not left.
func TestAParkedClientThatLeaves(t *testing.T) {
	parkedOne(t, func(t *testing.T, api *API, g *gate, _ approval.ID, conn net.Conn) {
		conn.Close()
		synctest.Wait()
		if got := api.slots.taken.Load(); got != 0 || g.waiting() != 0 {
			t.Errorf("%d wait, %d in the gate", got, g.waiting())
		}
	})
	parkedOne(t, func(t *testing.T, api *API, _ *gate, _ approval.ID, conn net.Conn) {
		if _, err := io.WriteString(conn, "G"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := api.slots.taken.Load(); got != 1 {
			t.Errorf("who sends its next request early is taken for one that left: %d wait", got)
		}
		answered(t, conn)
		conn.Close()
	})
	parkedOne(t, func(t *testing.T, api *API, _ *gate, _ approval.ID, conn net.Conn) {
		if _, err := io.WriteString(conn, strings.Repeat("G", 1000)); err != nil {
			t.Fatal(err)
		}
		conn.Close()
		synctest.Wait()
		if got := api.slots.taken.Load(); got != 0 {
			t.Errorf("who sent more and then left still waits: %d wait", got)
		}
	})
}

// TestARequestWithABodyIsNotParked waits where it was served: its body is still to be read.
func TestARequestWithABodyIsNotParked(t *testing.T) {
	inBubble(t, func(g *gate, l *pipes) {
		conn, head := l.dial(), "Host: x\r\nAuthorization: Bearer "+tokenA+"\r\n"
		const body = `{"executor":"ask","args":{}}`
		exchanged(t, conn, fmt.Sprintf("POST /v1/proposals HTTP/1.1\r\n%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", head, len(body), body))
		for id := range g.asks {
			r := exchanged(t, conn, fmt.Sprintf("GET /v1/approvals/%s?wait=1s HTTP/1.1\r\n%sContent-Length: 2\r\n\r\n{}", id, head))
			if r.status != http.StatusOK || r.closes {
				t.Errorf("answered by %d, the connection closes: %t", r.status, r.closes)
			}
		}
		conn.Close()
	})
}

// TestDrainCutsWhoIsNotAnsweredInTime checks that a shutdown ends although a client does not
// take its answer, and waits for one that does.
func TestDrainCutsWhoIsNotAnsweredInTime(t *testing.T) {
	parkedOne(t, func(t *testing.T, api *API, g *gate, _ approval.ID, conn net.Conn) {
		g.stop()
		synctest.Wait() // it writes, and nobody reads
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		api.Drain(ctx)
		if took := time.Since(start); took != time.Second || len(api.parked.conns) != 0 {
			t.Errorf("drained after %s, %d left", took, len(api.parked.conns))
		}
		conn.Close()
	})
	parkedOne(t, func(t *testing.T, api *API, _ *gate, _ approval.ID, conn net.Conn) {
		start := time.Now()
		answered(t, conn)
		if api.Drain(t.Context()); time.Since(start) != 10*time.Minute {
			t.Errorf("drained after %s", time.Since(start))
		}
		conn.Close()
	})
}

// TestNobodyIsParkedOnceDrainingBegan checks that such a request waits where it was served.
func TestNobodyIsParkedOnceDrainingBegan(t *testing.T) {
	ofBubble(t, func(api *API, g *gate, l *pipes) {
		conn, ctx := l.dial(), context.WithoutCancel(t.Context()) // its end is outside of the bubble
		api.Drain(ctx)
		start := time.Now()
		waits(t, g, conn, "approval")
		if r := answered(t, conn); r.closes || time.Since(start) != 10*time.Minute {
			t.Errorf("answered after %s, the connection closes: %t", time.Since(start), r.closes)
		}
		api.Drain(ctx) // it waits for nobody
		conn.Close()
	})
}

// TestAParkedAnswerThatNobodyTakes is given up in the time that every answer has.
func TestAParkedAnswerThatNobodyTakes(t *testing.T) {
	parkedOne(t, func(t *testing.T, api *API, g *gate, id approval.ID, conn net.Conn) {
		start := time.Now()
		g.decide(id, approval.Denied)
		api.parked.all.Wait()
		if took := time.Since(start); took < answerWithin || took > answerWithin+clockEvery {
			t.Errorf("given up after %s", took)
		}
		conn.Close()
	})
}
