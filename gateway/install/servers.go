package install

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// Servers are the MCP servers found in a client's configuration.
type Servers struct {
	Change Change
	// Gated are the servers that run behind vaglio, or did before this change. Left are those
	// reached by an address: vaglio gates these with --listen.
	Gated, Left []string
}

// Wrap plans to put vaglio in front of each MCP server that the file starts as a process. The
// proxy is o.Program, and asks the daemon that o names. Clients list such servers under
// "mcpServers" or "servers", at the top level or in a project.
func Wrap(path string, o Options) (Servers, error) {
	if !filepath.IsAbs(o.Program) {
		return Servers{}, errors.New("the proxy must be written with an absolute path")
	}
	return planServers(path, &wrapping{program: o.Program, flags: o.reach()}, true)
}

// Unwrap plans to remove vaglio from in front of the servers. A file that nobody changed since
// it was wrapped is restored to its former bytes.
func Unwrap(path string) (Servers, error) { return planServers(path, &wrapping{}, false) }

func planServers(path string, w *wrapping, add bool) (Servers, error) {
	s := Servers{Change: Change{Path: path, Mode: 0o600}}
	var err error
	if s.Change.Before, err = readFile(path); err != nil {
		return s, err
	}
	if s.Change.Before == nil {
		return s, fmt.Errorf("%s is not there", path)
	}
	if add {
		s.Change.After, err = w.add(s.Change.Before, Options{})
		gated, left := w.gated, w.left
		if err == nil {
			s.Change.bare, err = w.remove(s.Change.Before, Options{})
		}
		s.Gated, s.Left = gated, left
	} else {
		_, err = w.remove(s.Change.Before, Options{}) // only for the names
		s.Gated, s.Left = w.gated, w.left
		if err == nil {
			s.Change.After, err = undo(path, s.Change.Before, w, Options{})
		}
	}
	if err != nil {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// wrapping is the form of a configuration with MCP servers, and collects their names.
type wrapping struct {
	program     string
	flags       []string
	gated, left []string
}

func (w *wrapping) add(now []byte, _ Options) ([]byte, error)    { return w.each(now, w.wrap) }
func (w *wrapping) remove(now []byte, _ Options) ([]byte, error) { return w.each(now, w.unwrap) }

func (w *wrapping) holds(now []byte, o Options) (bool, Limits, error) {
	_, err := w.remove(now, o)
	return len(w.gated) > 0, Limits{}, err
}

// each applies change to every server, and returns the resulting text.
func (w *wrapping) each(now []byte, change func(name string, server *hujson.Object) (bool, error)) ([]byte, error) {
	w.gated, w.left = nil, nil
	doc, err := parseJSON(now)
	if err != nil {
		return nil, err
	}
	groups := groupsOf(doc)
	if len(groups) == 0 {
		return nil, errors.New(`has neither "mcpServers" nor "servers"; give the file in which the client names its MCP servers`)
	}
	changed := false
	for _, group := range groups {
		for i := range group.Members {
			m := &group.Members[i]
			server, ok := m.Value.Value.(*hujson.Object)
			if !ok {
				return nil, fmt.Errorf("%s: the server %q is not an object", place(now, m.Value.StartOffset), nameOf(*m))
			}
			did, err := change(nameOf(*m), server)
			if err != nil {
				return nil, fmt.Errorf("%s: the server %q %w", place(now, m.Value.StartOffset), nameOf(*m), err)
			}
			changed = changed || did
		}
	}
	if !changed {
		return now, nil
	}
	return doc.Pack(), nil
}

// groupsOf returns the objects that hold servers by name.
func groupsOf(doc *hujson.Value) []*hujson.Object {
	root, ok := doc.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	holders := []*hujson.Object{root}
	if projects := objectOf(root, "projects"); projects != nil {
		for i := range projects.Members {
			if p, ok := projects.Members[i].Value.Value.(*hujson.Object); ok {
				holders = append(holders, p)
			}
		}
	}
	var groups []*hujson.Object
	for _, h := range holders {
		for _, name := range []string{"mcpServers", "servers"} {
			if g := objectOf(h, name); g != nil {
				groups = append(groups, g)
			}
		}
	}
	return groups
}

func objectOf(o *hujson.Object, name string) *hujson.Object {
	v := valueOf(o, name)
	if v == nil {
		return nil
	}
	inner, _ := v.Value.(*hujson.Object)
	return inner
}

func valueOf(o *hujson.Object, name string) *hujson.Value {
	for i := range o.Members {
		if nameOf(o.Members[i]) == name {
			return &o.Members[i].Value
		}
	}
	return nil
}

// commandOf reads how a server is started. A server without a command is reached by an address.
func commandOf(server *hujson.Object) (command string, args *hujson.Array, argv []string, err error) {
	v := valueOf(server, "command")
	if v == nil {
		return "", nil, nil, nil
	}
	literal, ok := v.Value.(hujson.Literal)
	if !ok || literal.Kind() != '"' {
		return "", nil, nil, errors.New(`has a "command" that is not a text`)
	}
	if v := valueOf(server, "args"); v != nil {
		if args, ok = v.Value.(*hujson.Array); !ok {
			return "", nil, nil, errors.New(`has "args" that are not a list`)
		}
		for i := range args.Elements {
			arg, ok := args.Elements[i].Value.(hujson.Literal)
			if !ok || arg.Kind() != '"' {
				return "", nil, nil, errors.New(`has "args" that are not texts`)
			}
			argv = append(argv, arg.String())
		}
	}
	return literal.String(), args, argv, nil
}

// gatedAt returns the index in argv at which the server's own command starts, or 0 if vaglio is
// not in front of it.
func gatedAt(command string, argv []string) int {
	program := strings.TrimSuffix(filepath.Base(command), ".exe")
	if program != "vaglio" || len(argv) == 0 || argv[0] != "mcp" {
		return 0
	}
	if i := slices.Index(argv, "--"); i > 0 && i+1 < len(argv) {
		return i + 1
	}
	return 0
}

func (w *wrapping) wrap(name string, server *hujson.Object) (bool, error) {
	command, args, argv, err := commandOf(server)
	switch {
	case err != nil:
		return false, err
	case command == "":
		w.left = append(w.left, name)
		return false, nil
	case gatedAt(command, argv) > 0:
		w.gated = append(w.gated, name)
		return false, nil
	}
	w.gated = append(w.gated, name)
	valueOf(server, "command").Value = hujson.String(w.program)
	ours := slices.Concat([]string{"mcp", "--name", name}, w.flags, []string{"--", command})
	if args == nil {
		at := slices.IndexFunc(server.Members, func(m hujson.ObjectMember) bool { return nameOf(m) == "command" })
		args = &hujson.Array{}
		before := server.Members[at].Name.BeforeExtra
		added := hujson.ObjectMember{
			Name:  hujson.Value{BeforeExtra: slices.Clone(before), Value: hujson.String("args")},
			Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: args},
		}
		if at == len(server.Members)-1 {
			added.Value.AfterExtra, server.Members[at].Value.AfterExtra = server.Members[at].Value.AfterExtra, nil
		}
		server.Members = slices.Insert(server.Members, at+1, added)
	}
	front := make([]hujson.Value, len(ours))
	for i, word := range ours {
		front[i] = hujson.Value{Value: hujson.String(word)}
		if i > 0 {
			front[i].BeforeExtra = hujson.Extra(" ")
		}
	}
	if len(args.Elements) > 0 {
		first := &args.Elements[0].BeforeExtra
		front[0].BeforeExtra = slices.Clone(*first)
		if blank(*first) && len(*first) == 0 {
			*first = hujson.Extra(" ")
		}
	}
	args.Elements = slices.Concat(front, args.Elements)
	return true, nil
}

func (w *wrapping) unwrap(name string, server *hujson.Object) (bool, error) {
	command, args, argv, err := commandOf(server)
	if err != nil {
		return false, err
	}
	at := gatedAt(command, argv)
	if at == 0 {
		if command == "" {
			w.left = append(w.left, name)
		}
		return false, nil
	}
	w.gated = append(w.gated, name)
	valueOf(server, "command").Value = hujson.String(argv[at])
	kept := args.Elements[at+1:]
	if len(kept) > 0 {
		kept[0].BeforeExtra = args.Elements[0].BeforeExtra
	}
	args.Elements = kept
	return true, nil
}
