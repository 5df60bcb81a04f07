package proof_test

import (
	"encoding/base64"
	"errors"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/channels/web/proof"
	"github.com/metnos/vaglio/channels/web/webtest"
)

// act is what the tests sign.
func act() proof.Act {
	return proof.Act{Session: "one", Path: "/inbox/decide", Body: []byte("token=T&choice=allow")}
}

// sign returns the key's proof for an act with a nonce.
func sign(k *webtest.Key, nonce string, a proof.Act) proof.Proof {
	r := httptest.NewRequest("POST", a.Path, nil)
	k.Sign(r.Header, webtest.Offer{Session: a.Session, Nonce: nonce}, a.Path, string(a.Body))
	return proof.Of(r)
}

func TestCheck(t *testing.T) {
	k, v := webtest.NewKey(), proof.New()
	of := func(change func(*proof.Act)) proof.Act {
		a := act()
		change(&a)
		return a
	}
	for name, tt := range map[string]struct {
		key  string
		of   proof.Act
		p    func(nonce string) proof.Proof
		want error
	}{
		"Good":          {k.Public(), act(), func(n string) proof.Proof { return sign(k, n, act()) }, nil},
		"None":          {k.Public(), act(), func(string) proof.Proof { return proof.Proof{} }, proof.ErrUnsigned},
		"NoNonce":       {k.Public(), act(), func(n string) proof.Proof { return proof.Proof{Signature: sign(k, n, act()).Signature} }, proof.ErrForeign},
		"NoSignature":   {k.Public(), act(), func(n string) proof.Proof { return proof.Proof{Nonce: n} }, proof.ErrAltered},
		"OtherKey":      {webtest.NewKey().Public(), act(), func(n string) proof.Proof { return sign(k, n, act()) }, proof.ErrAltered},
		"NoKey":         {"", act(), func(n string) proof.Proof { return sign(k, n, act()) }, proof.ErrAltered},
		"OtherPath":     {k.Public(), of(func(a *proof.Act) { a.Path = "/inbox/order" }), func(n string) proof.Proof { return sign(k, n, act()) }, proof.ErrAltered},
		"OtherBody":     {k.Public(), of(func(a *proof.Act) { a.Body = append(a.Body, '&') }), func(n string) proof.Proof { return sign(k, n, act()) }, proof.ErrAltered},
		"OtherSession":  {k.Public(), of(func(a *proof.Act) { a.Session = "two" }), func(n string) proof.Proof { return sign(k, n, act()) }, proof.ErrForeign},
		"OtherVerifier": {k.Public(), act(), func(string) proof.Proof { return sign(k, proof.New().Nonce("one"), act()) }, proof.ErrForeign},
		"CutNonce":      {k.Public(), act(), func(n string) proof.Proof { return sign(k, n[1:], act()) }, proof.ErrForeign},
		"BrokenNonce":   {k.Public(), act(), func(n string) proof.Proof { return sign(k, n[:9]+"\n"+n[9:], act()) }, proof.ErrForeign},
		"LongNonce":     {k.Public(), act(), func(n string) proof.Proof { return sign(k, n+strings.Repeat("A", 9000), act()) }, proof.ErrForeign},
		"LongSignature": {k.Public(), act(), func(n string) proof.Proof {
			p := sign(k, n, act())
			p.Signature += "AA"
			return p
		}, proof.ErrAltered},
		"Zeros": {k.Public(), act(), func(n string) proof.Proof {
			return proof.Proof{Nonce: n, Signature: base64.RawURLEncoding.EncodeToString(make([]byte, 64))}
		}, proof.ErrAltered},
	} {
		t.Run(name, func(t *testing.T) {
			n := v.Nonce("one")
			p := tt.p(n)
			if err := v.Check(tt.key, tt.of, p); !errors.Is(err, tt.want) {
				t.Fatalf("got %v, want %v", err, tt.want)
			}
			if tt.want == nil {
				if err := v.Check(tt.key, tt.of, p); !errors.Is(err, proof.ErrUsed) {
					t.Errorf("again: got %v", err)
				}
				return
			}
			// The failed proof used nothing up.
			if err := v.Check(k.Public(), act(), sign(k, n, act())); err != nil {
				t.Errorf("the page's own: %v", err)
			}
		})
	}
}

func TestANonceIsGoodForTwoMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, v := webtest.NewKey(), proof.New()
		early, late := sign(k, v.Nonce("one"), act()), sign(k, v.Nonce("one"), act())
		time.Sleep(2*time.Minute - time.Second)
		if err := v.Check(k.Public(), act(), early); err != nil {
			t.Errorf("just in time: %v", err)
		}
		time.Sleep(time.Second)
		for name, p := range map[string]proof.Proof{"too late": late, "used, and too late": early} {
			if err := v.Check(k.Public(), act(), p); !errors.Is(err, proof.ErrStale) {
				t.Errorf("%s: %v", name, err)
			}
		}
		// A nonce that is too old anyway need not be remembered.
		if err := v.Check(k.Public(), act(), sign(k, v.Nonce("one"), act())); err != nil || v.Used() != 1 {
			t.Errorf("%d nonces are remembered, %v", v.Used(), err)
		}
	})
}

// TestOfManyOneCounts checks that if one proof arrives many times at once, it counts once.
func TestOfManyOneCounts(t *testing.T) {
	k, v := webtest.NewKey(), proof.New()
	p := sign(k, v.Nonce("one"), act())
	var good atomic.Int32
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if v.Check(k.Public(), act(), p) == nil {
				good.Add(1)
			}
		})
	}
	all.Wait()
	if good.Load() != 1 {
		t.Errorf("%d counted", good.Load())
	}
}

func TestCheckKey(t *testing.T) {
	good := webtest.NewKey().Public()
	if err := proof.CheckKey(good); err != nil {
		t.Error(err)
	}
	// A point that is not on the curve, a compressed one, and the point at infinity.
	off := base64.RawURLEncoding.EncodeToString(append([]byte{4}, make([]byte, 64)...))
	for _, bad := range []string{"", good[1:], good + "A", good + "=", good[:40] + "\n" + good[40:], off, "AA", strings.Repeat("A", 1<<20)} {
		var e *proof.KeyError
		if err := proof.CheckKey(bad); !errors.As(err, &e) {
			t.Errorf("%.90q: got %v", bad, err)
		}
	}
	for size, long := range map[int]bool{128: false, 129: true} {
		if err := proof.CheckKey(strings.Repeat("A", size)); err == nil || strings.Contains(err.Error(), "too many") != long {
			t.Errorf("%d characters: %v", size, err)
		}
	}
}

// FuzzCheck checks that nothing a stranger can send is a proof, and that nothing makes the
// verifier fail.
func FuzzCheck(f *testing.F) {
	k, v := webtest.NewKey(), proof.New()
	n := v.Nonce("one")
	f.Add(k.Public(), n, sign(webtest.NewKey(), n, act()).Signature)
	f.Add("", "", "")
	f.Add(k.Public(), v.Nonce("two"), strings.Repeat("A", 86))
	f.Fuzz(func(t *testing.T, key, nonce, signature string) {
		_ = proof.CheckKey(key)
		if v.Check(k.Public(), act(), proof.Proof{Nonce: nonce, Signature: signature}) == nil {
			t.Error("it counts")
		}
		_ = v.Check(key, act(), proof.Proof{Nonce: n, Signature: signature})
	})
}
