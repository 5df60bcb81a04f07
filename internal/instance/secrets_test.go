package instance

import (
	"errors"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/store/storetest"
)

// TestSecretsRotate creates secrets, rotates them twice, the first time with an interruption, and
// checks what stays the same.
func TestSecretsRotate(t *testing.T) {
	t.Parallel()
	s := storetest.NewMemory()
	if _, err := Rotate(t.Context(), s); !errors.Is(err, ErrNoSecrets) {
		t.Fatalf("a store without secrets gives %v", err)
	}
	first, err := LoadSecrets(t.Context(), s)
	if err != nil || first.Names == first.Rights || first.Names == (approval.Secret{}) || first.Former != (approval.Secret{}) || first.Unfinished {
		t.Fatalf("the first start: %v", err)
	}
	if again, err := LoadSecrets(t.Context(), s); err != nil || again != first {
		t.Fatalf("the second start has other secrets: %v", err)
	}
	begun, err := Rotate(t.Context(), s)
	if err != nil || begun.Names != first.Names || begun.Rights == first.Rights || begun.Former != first.Rights || !begun.Unfinished {
		t.Fatalf("rotated: %v", err)
	}
	if again, err := Rotate(t.Context(), s); err != nil || again != begun {
		t.Errorf("an unfinished rotation is not gone on with: %v", err)
	}
	for range 2 {
		if err := FinishRotation(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	begun.Unfinished = false
	if now, err := LoadSecrets(t.Context(), s); err != nil || now != begun {
		t.Errorf("finished: %v", err)
	}
	if next, err := Rotate(t.Context(), s); err != nil || next.Former != begun.Rights || next.Rights == begun.Rights || next.Names != first.Names {
		t.Errorf("rotated again: %v", err)
	}
}

// TestOlderSecretsAreRead reads a record in which one secret served all purposes, and rejects
// invalid records.
func TestOlderSecretsAreRead(t *testing.T) {
	t.Parallel()
	const one = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
	for name, tt := range map[string]struct {
		body string
		ok   bool
	}{
		"older":      {`{"v":1,"secret":"` + one + `"}`, true},
		"newer":      {`{"v":3,"secret":"` + one + `","rights":"` + one + `"}`, false},
		"no rights":  {`{"v":2,"secret":"` + one + `"}`, false},
		"short":      {`{"v":1,"secret":"0011"}`, false},
		"bad former": {`{"v":2,"secret":"` + one + `","rights":"` + one + `","former":"x"}`, false},
		"not JSON":   {`x`, false},
		"empty":      {``, false},
	} {
		s := storetest.NewMemory()
		_, err := s.Update(t.Context(), approval.KindMeta, secretRecord, func(r approval.Record) (approval.Record, error) {
			r.ID, r.Body = secretRecord, []byte(tt.body)
			return r, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := LoadSecrets(t.Context(), s)
		if (err == nil) != tt.ok {
			t.Errorf("%s: %v", name, err)
		}
		if !tt.ok {
			continue
		}
		if got.Names != got.Rights {
			t.Errorf("%s: permits of before are not good any more", name)
		}
		next, err := Rotate(t.Context(), s)
		if err != nil || next.Names != got.Names || next.Former != got.Rights {
			t.Errorf("%s: rotated: %v", name, err)
		}
		r, err := s.Get(t.Context(), approval.KindMeta, secretRecord)
		var body secretBody
		if err = errors.Join(err, strictjson.Unmarshal(r.Body, &body)); err != nil || body.Version != secretForm {
			t.Errorf("%s: it is kept as %d, %v", name, body.Version, err)
		}
	}
}
