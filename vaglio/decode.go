package vaglio

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio/clients"
)

// DecodeProposal reads one proposal from JSON, strictly: unknown fields, duplicate keys, NUL
// characters and invalid UTF-8 are refused. Missing args count as none, a null intent as an
// empty one. The error is a [*strictjson.Error]: one sentence that names the field and never
// its value.
func DecodeProposal(data []byte) (Proposal, error) {
	var p Proposal
	if err := strictjson.Unmarshal(data, &p); err != nil {
		return Proposal{}, err
	}
	if err := p.Complete(); err != nil {
		return Proposal{}, err
	}
	return p, nil
}

// Complete checks a decoded proposal beyond what the types check, and fills in what may be
// left out. Its error is that of [DecodeProposal].
func (p *Proposal) Complete() error {
	if strings.TrimSpace(p.Executor) == "" {
		return &strictjson.Error{Path: "/executor", Msg: "is missing or empty; give the name of the tool to call"}
	}
	if p.Step < 0 {
		return &strictjson.Error{Path: "/step", Msg: "must be 1 or more: it counts the calls of a turn"}
	}
	if p.Context.Client != "" && !slices.Contains(clients.Names(), p.Context.Client) {
		return &strictjson.Error{Path: "/context/client", Msg: "must be a client whose tools are known: " + strings.Join(clients.Names(), ", ")}
	}
	if err := p.Context.places(); err != nil {
		return err
	}
	for i, c := range p.Context.Concerns {
		if !slices.Contains(Concerns(), c) {
			return &strictjson.Error{Path: "/context/concerns/" + strconv.Itoa(i), Msg: "must be one of " + strings.Trim(strings.ReplaceAll(fmt.Sprint(Concerns()), " ", ", "), "[]")}
		}
	}
	if p.Args == nil {
		p.Args = Args{}
	}
	return nil
}

// LongestPath is the length in bytes of the longest path that a system takes, and mostPlaces how
// many folders a call may name: each is looked up, with those above it.
const LongestPath, mostPlaces = 4096, 256

// places checks the folders that the context names.
func (c *Context) places() error {
	for _, of := range []struct {
		path string
		all  []string
	}{{"/context/cwd", []string{c.Cwd}}, {"/context/mounts", c.Mounts}, {"/context/roots", c.Roots}} {
		if len(of.all) > mostPlaces {
			return &strictjson.Error{Path: of.path, Msg: fmt.Sprintf("must name at most %d folders", mostPlaces)}
		}
		if slices.ContainsFunc(of.all, func(folder string) bool { return len(folder) > LongestPath }) {
			return &strictjson.Error{Path: of.path, Msg: fmt.Sprintf("must be at most %d bytes long: no system has a longer path", LongestPath)}
		}
	}
	return nil
}

// Keys returns the sorted names of the fields that are set in the context.
func (c Context) Keys() []string {
	keys := make([]string, 0, 8)
	for _, field := range [...]struct {
		name  string
		given bool
	}{
		{"capability", c.Capability != nil},
		{"client", c.Client != ""},
		{"concerns", c.Concerns != nil},
		{"critical", c.Critical != nil},
		{"cwd", c.Cwd != ""},
		{"mode", c.Mode != ""},
		{"mounts", c.Mounts != nil},
		{"refusal", c.Refusal != ""},
		{"roots", c.Roots != nil},
		{"step", c.Step != nil},
	} {
		if field.given {
			keys = append(keys, field.name)
		}
	}
	return keys
}

// Has reports whether name is among the capabilities.
func (c Capabilities) Has(name string) bool { return slices.Contains(c, name) }

// MarshalJSON writes one capability as a string and several as a list.
func (c Capabilities) MarshalJSON() ([]byte, error) { return c.AppendJSON(nil) }

// AppendJSON is MarshalJSON, appending to dst.
func (c Capabilities) AppendJSON(dst []byte) ([]byte, error) {
	if len(c) == 1 {
		return strictjson.Append(dst, c[0])
	}
	return strictjson.Append(dst, []string(c))
}

// UnmarshalJSON reads a string or a list of strings; null is none.
func (c *Capabilities) UnmarshalJSON(data []byte) error {
	var list []string
	into := any(&list)
	if data[0] == '"' {
		list = make([]string, 1)
		into = &list[0]
	}
	if err := strictjson.Unmarshal(data, into); err != nil {
		return &strictjson.Error{Msg: "must be a string or a list of strings"}
	}
	*c = list
	return nil
}

// MarshalJSONTo writes the arguments with their keys in order and every number
// as it came. No arguments are an empty object.
func (a Args) MarshalJSONTo(enc *strictjson.Encoder) error {
	if a == nil {
		a = Args{}
	}
	return strictjson.WriteValue(enc, map[string]any(a))
}

// AppendJSON is MarshalJSONTo, appending to dst.
func (a Args) AppendJSON(dst []byte) ([]byte, error) {
	return strictjson.Append(dst, map[string]any(a))
}

// UnmarshalJSONFrom reads an object and keeps every number as it came.
func (a *Args) UnmarshalJSONFrom(dec *strictjson.Decoder) error {
	v, err := strictjson.ReadValue(dec)
	if err != nil {
		return err
	}
	return a.set(v)
}

// UnmarshalJSON is UnmarshalJSONFrom for the standard library's decoder.
func (a *Args) UnmarshalJSON(data []byte) error {
	var v any
	if err := strictjson.Unmarshal(data, &v); err != nil {
		return err
	}
	return a.set(v)
}

func (a *Args) set(v any) error {
	object, ok := v.(map[string]any)
	if !ok {
		return &strictjson.Error{Msg: "must be an object that maps argument names to values"}
	}
	*a = object
	return nil
}

// MarshalJSON writes the phase, or null for none.
func (p Phase) MarshalJSON() ([]byte, error) { return p.AppendJSON(nil) }

// AppendJSON is MarshalJSON, appending to dst.
func (p Phase) AppendJSON(dst []byte) ([]byte, error) {
	if p == PhaseNone {
		return append(dst, "null"...), nil
	}
	return strictjson.Append(dst, string(p))
}

// UnmarshalJSON reads a phase; null is none. It refuses any other word.
func (p *Phase) UnmarshalJSON(data []byte) error {
	switch string(data) {
	case "null":
		*p = PhaseNone
	case `"guard"`:
		*p = PhaseGuard
	case `"judge"`:
		*p = PhaseJudge
	default:
		return &strictjson.Error{Msg: `must be "guard", "judge" or null`}
	}
	return nil
}
