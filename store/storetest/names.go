package storetest

import (
	"errors"
	"fmt"

	"github.com/metnos/vaglio/approval"
)

func nameCases() []promise {
	return []promise{
		{"UnknownNameIsErrNotFound", func(b *bench) {
			s := b.open()
			b.missing(s, ask, "a", "", "\x00")
			b.put(s, ask, approval.Record{ID: "ab", Keys: []string{"key"}})
			b.missing(s, ask, "a", "abc", "", "ke", "key2", "b")
			b.missing(s, approval.KindStep, "ab", "key")
		}},
		{"UnknownKindIsRefused", func(b *bench) {
			s := b.open()
			const none = approval.Kind("")
			_, errGet := s.Get(b.Context(), none, "a")
			_, errPut := put(b.Context(), s, none, approval.Record{ID: "a"})
			for name, err := range map[string]error{
				"Get": errGet, "Update": errPut, "List": ending(s.List(b.Context(), approval.Query{Kind: none})), "Watch": ending(s.Watch(b.Context(), none, 0)),
			} {
				if _, ok := errors.AsType[*approval.RecordError](err); !ok {
					b.Errorf("%s: got %v, want a RecordError", name, err)
				}
			}
		}},
		{"KeyHeldByOneRecord", func(b *bench) {
			s := b.open()
			b.put(s, ask, approval.Record{ID: "a", Keys: []string{"k1", "k2"}})
			b.denied(s, approval.Record{ID: "b", Keys: []string{"free", "k2"}}, "k2", "a")
			b.missing(s, ask, "b", "free")
			was := b.put(s, ask, approval.Record{ID: "c", Keys: []string{"k3"}, Body: []byte("x")})
			b.denied(s, approval.Record{ID: "c", Keys: []string{"k4", "k1"}, Body: []byte("y")}, "k1", "a")
			b.unchanged(s, was)
			b.missing(s, ask, "k4")
		}},
		{"KeyAndIDAreOneNamespace", func(b *bench) {
			s := b.open()
			b.put(s, ask, approval.Record{ID: "a", Keys: []string{"k", "a"}})
			b.put(s, ask, approval.Record{ID: "plain"})
			b.denied(s, approval.Record{ID: "b", Keys: []string{"a"}}, "a", "a")
			b.denied(s, approval.Record{ID: "b", Keys: []string{"plain"}}, "plain", "plain")
			b.denied(s, approval.Record{ID: "a", Keys: []string{"plain"}}, "plain", "plain")
			b.denied(s, approval.Record{ID: "k"}, "k", "a")
			if r := b.get(s, ask, "k"); r.ID != "a" {
				b.Errorf("k leads to %q", r.ID)
			}
		}},
		{"UnlistedKeyIsFree", func(b *bench) {
			s := b.open()
			b.put(s, ask, approval.Record{ID: "a", Keys: []string{"k1", "k2"}})
			b.put(s, ask, approval.Record{ID: "a", Keys: []string{"k2", "k3"}})
			b.missing(s, ask, "k1")
			b.put(s, ask, approval.Record{ID: "b", Keys: []string{"k1"}})
			b.put(s, ask, approval.Record{ID: "a"})
			b.put(s, ask, approval.Record{ID: "b", Keys: []string{"k1", "k2", "k3"}})
		}},
		{"NamesAreAnyBytes", func(b *bench) {
			s := b.open()
			names := []string{"\x00", "\xff", "a\x00b", "ask\x00a", "\xff\xff\xff", "ü", "a b\n", "\x00\x00\x00\x00\x00\x00\x00\x01"}
			for i, n := range names {
				b.put(s, ask, approval.Record{ID: n, Keys: []string{"key" + n}, Body: []byte{byte(i)}})
			}
			for i, n := range names {
				if r := b.get(s, ask, "key"+n); r.ID != n || r.Body[0] != byte(i) {
					b.Errorf("key%q leads to %q", n, r.ID)
				}
			}
		}},
		{"ManyKeysAreFound", func(b *bench) {
			s := b.open()
			keys := make([]string, approval.MaxKeys)
			for i := range keys {
				keys[i] = fmt.Sprint("k", i)
			}
			b.put(s, ask, approval.Record{ID: "a", Keys: keys})
			b.put(s, ask, approval.Record{ID: "a", Keys: keys[:10]})
			b.missing(s, ask, "k10", keys[len(keys)-1])
		}},
	}
}

// denied fails the test unless storing r fails because the record named by has the name.
func (b *bench) denied(s Store, r approval.Record, name, by string) {
	b.Helper()
	_, err := put(b.Context(), s, ask, r)
	e, ok := errors.AsType[*approval.KeyError](err)
	if !ok || e.Key != name || e.HeldBy != by {
		b.Errorf("put %q with keys %q: got %v, want a KeyError: %s is held by %s", r.ID, r.Keys, err, name, by)
	}
}
