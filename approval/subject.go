package approval

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/metnos/vaglio/internal/strictjson"
)

// Subject is one thing that a call would do, as far as it matters for an answer: in which
// system, which verb, and to which object in full. Two spellings of the same thing have
// equal subjects.
type Subject struct {
	// System is where it happens: "git", "files", "kubernetes", "http", a tool.
	System string `json:"system"`
	// Verb is what is done there.
	Verb string `json:"verb"`
	// Object is what it is done to, in full. Its facts are sorted by name and then by
	// value.
	Object []Fact `json:"object,omitempty"`
}

// Fact is one part of an object: a remote, a namespace, a path, the digest of a text. Its
// case is kept where that matters.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Files is the system of this machine's files; the path is their one fact.
const Files = "files"

// FactFolder is the name of the fact that says where something is done.
const FactFolder = "folder"

// Subjects are everything that a call would do, in a fixed order. Empty means unknown: such
// a call is like no other.
type Subjects []Subject

// About is what a call is about.
type About struct {
	Subjects Subjects
	// Mild says that the whole call was read and that nothing in it is irreversible,
	// public, a credential, a privilege, or close to what the guard protects.
	Mild bool
	// Whole says that the subjects name the object completely: the other arguments change
	// nothing.
	Whole bool
	// Obscured lists where secrets of the call decide what it does.
	Obscured []Obscured
}

// Sorted returns the subjects in their fixed order, without duplicates.
func (s Subjects) Sorted() Subjects {
	for i := range s {
		slices.SortFunc(s[i].Object, compareFacts)
	}
	slices.SortFunc(s, compareSubjects)
	return slices.CompactFunc(s, func(a, b Subject) bool { return compareSubjects(a, b) == 0 })
}

func compareFacts(a, b Fact) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Value, b.Value))
}

func compareSubjects(a, b Subject) int {
	return cmp.Or(strings.Compare(a.System, b.System), strings.Compare(a.Verb, b.Verb), slices.CompareFunc(a.Object, b.Object, compareFacts))
}

// Key returns one name for what a call would do, the same for every spelling; empty if
// unknown.
func (s Subjects) Key() string {
	if len(s) == 0 {
		return ""
	}
	body, err := strictjson.Marshal(s)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:16])
}

// Difference is a fact that differs between two similar calls. Was or Now is empty if only
// one of them has it.
type Difference struct {
	Name string `json:"name"`
	Was  string `json:"was,omitempty"`
	Now  string `json:"now,omitempty"`
}

// CallKind is what calls have in common that do the same in one system, whatever the
// object.
type CallKind struct {
	System string `json:"system"`
	Verb   string `json:"verb"`
}

// Of reports whether any of the subjects is of the kind.
func (s Subjects) Of(k CallKind) bool {
	return slices.ContainsFunc(s, func(o Subject) bool { return o.System == k.System && o.Verb == k.Verb })
}

// Near compares s with the subjects of an earlier call. It reports whether both do the same
// thing in the same system to another object or with other content, and returns the kind
// and the differences. Equal subjects are not near, and nothing is near unknown subjects.
func (s Subjects) Near(before Subjects) (kind CallKind, differences []Difference, near bool) {
	if len(s) == 0 || len(before) == 0 || s.Key() == before.Key() {
		return CallKind{}, nil, false
	}
	for i := range s {
		for j := range before {
			d, ok := s[i].near(&before[j])
			if ok && (!near || len(d) < len(differences)) {
				kind, differences, near = CallKind{s[i].System, s[i].Verb}, d, true
			}
		}
	}
	return kind, differences, near
}

// near compares one subject with another.
func (s *Subject) near(before *Subject) ([]Difference, bool) {
	if s.System != before.System || s.Verb != before.Verb {
		return nil, false
	}
	if s.System == Files && !s.besides(before) {
		return nil, false
	}
	was, now := factsOf(before.Object), factsOf(s.Object)
	var out []Difference
	for _, name := range namesOf(was, now) {
		if was[name] != now[name] {
			out = append(out, Difference{name, was[name], now[name]})
		}
	}
	return out, true
}

// besides reports whether two paths are in the same folder, or one is below the other.
func (s *Subject) besides(o *Subject) bool {
	a, b := s.fact("path"), o.fact("path")
	return path.Dir(a) == path.Dir(b) || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}

// fact returns the value of the named fact, or "".
func (s *Subject) fact(name string) string {
	for _, f := range s.Object {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

// factsOf joins the values of each name.
func factsOf(list []Fact) map[string]string {
	out := make(map[string]string, len(list))
	for _, f := range list {
		if have, ok := out[f.Name]; ok {
			out[f.Name] = have + " " + f.Value
		} else {
			out[f.Name] = f.Value
		}
	}
	return out
}

// namesOf returns the names of both, sorted.
func namesOf(a, b map[string]string) []string {
	names := make([]string, 0, len(a)+len(b))
	for n := range a {
		names = append(names, n)
	}
	for n := range b {
		names = append(names, n)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Standing is a person's denial that answers every call that would do the same thing.
type Standing struct {
	At time.Time `json:"at"`
	// Until is when it stops answering; zero if it no longer does.
	Until time.Time `json:"until,omitzero"`
	// Wanted is the call that was denied, if this one is another spelling of it.
	Wanted string `json:"wanted,omitempty"`
	// Kind is what was denied along with it, whatever the object.
	Kind *CallKind `json:"kind,omitempty"`
}
