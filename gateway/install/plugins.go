package install

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/metnos/vaglio/internal/strictjson"
)

//go:embed opencode.js
var openCodeText string

//go:embed openclaw.js
var openClawText string

//go:embed hermes.py
var hermesText string

// openCodePlugin, openClawPlugin and hermesPlugin return the plugins with the hook's command
// filled in.
func openCodePlugin(o Options) []byte { return withCommand(openCodeText, o) }
func openClawPlugin(o Options) []byte { return withCommand(openClawText, o) }
func hermesPlugin(o Options) []byte   { return withCommand(hermesText, o) }

// hermesFolder is where Hermes looks for this plugin of its user.
const hermesFolder = ".hermes/plugins/vaglio/"

// hermesManifest returns the file that Hermes reads before it loads the plugin.
func hermesManifest(Options) []byte {
	return []byte("# " + sign + "; vaglio uninstall hermes removes it.\nname: vaglio\nversion: \"1.0\"\ndescription: Puts to vaglio what Hermes would ask its user\n")
}

func withCommand(text string, o Options) []byte {
	argv, err := strictjson.Marshal(o.argv())
	if err != nil {
		return nil
	}
	return []byte(strings.Replace(text, `["vaglio-hook", "`+o.Client+`"]`, string(argv), 1))
}

// openClawFolder is where OpenClaw looks for this plugin of its user.
const openClawFolder = ".openclaw/extensions/vaglio/"

// openClawID is the name of the plugin and of its policy.
const openClawID = "vaglio"

// openClawManifest returns the file that OpenClaw reads before it loads the plugin. OpenClaw
// rejects a policy that the manifest does not declare.
func openClawManifest(Options) []byte {
	return asJSON(map[string]any{
		"id": openClawID, "name": openClawID, "description": sign + ". Asks vaglio before each tool call.",
		"activation":   map[string]any{"onStartup": true},
		"contracts":    map[string]any{"trustedToolPolicies": []string{openClawID}},
		"configSchema": map[string]any{"type": "object", "additionalProperties": false},
	})
}

func openClawPackage(Options) []byte {
	return asJSON(map[string]any{
		"name": "vaglio-openclaw", "version": "1.0.0", "private": true, "type": "module", "description": sign,
		"openclaw": map[string]any{"extensions": []string{"./index.js"}},
	})
}

func asJSON(v any) []byte {
	out, err := strictjson.MarshalIndent(v)
	if err != nil {
		return nil
	}
	return append(out, '\n')
}

// enabled is OpenClaw's settings file, which enables plugins by name. OpenClaw rejects the
// policy of a plugin that is not enabled, and then runs tools without asking.
type enabled struct{}

// openClawPlugins is what the settings say about plugins.
type openClawPlugins struct {
	Plugins struct {
		Enabled *bool    `json:"enabled"`
		Allow   []string `json:"allow"`
		Deny    []string `json:"deny"`
		Entries map[string]struct {
			Enabled *bool `json:"enabled"`
		} `json:"entries"`
	} `json:"plugins"`
}

// stands reports whether the plugin is enabled, and what keeps it from being asked.
func (enabled) stands(doc *hujson.Value) (on bool, kept error) {
	var in openClawPlugins
	if err := strictjson.UnmarshalLoose([]byte(plain(*doc)), &in); err != nil {
		return false, fmt.Errorf("\"plugins\" is not as OpenClaw has it: %w", err)
	}
	entry := in.Plugins.Entries[openClawID].Enabled
	on = entry != nil && *entry && (len(in.Plugins.Allow) == 0 || slices.Contains(in.Plugins.Allow, openClawID))
	switch {
	case in.Plugins.Enabled != nil && !*in.Plugins.Enabled:
		return on, errors.New(`"plugins.enabled" is false, which keeps every plugin from being asked; take it out first`)
	case slices.Contains(in.Plugins.Deny, openClawID):
		return on, errors.New(`"plugins.deny" names vaglio, which keeps it from being asked; take it out first`)
	}
	return on, nil
}

// parseObject parses a file that holds one object. An empty file counts as an empty object.
func parseObject(now []byte) (*hujson.Value, *hujson.Object, error) {
	if len(bytes.TrimSpace(now)) == 0 {
		now = []byte("{}")
	}
	doc, err := parseJSON(now)
	if err != nil {
		return nil, nil, fmt.Errorf("%w; vaglio reads JSON with comments, and no more of JSON5", err)
	}
	root, ok := doc.Value.(*hujson.Object)
	if !ok {
		return nil, nil, errors.New("line 1, column 1: want an object of settings")
	}
	return doc, root, nil
}

func (e enabled) add(now []byte, _ Options) ([]byte, error) {
	doc, root, err := parseObject(now)
	if err != nil {
		return nil, err
	}
	if on, kept := e.stands(doc); on || kept != nil {
		return now, kept
	}
	in := indentOf(now)
	object, depth := root, 1
	for _, name := range []string{"plugins", "entries", openClawID} {
		v := member(object, name, &hujson.Object{}, in, depth)
		next, ok := v.Value.(*hujson.Object)
		if !ok {
			return nil, fmt.Errorf("%s: %q is not an object", place(now, v.StartOffset), name)
		}
		if allow := doc.Find("/plugins/allow"); name == "plugins" && allow != nil {
			if err := e.admit(allow, in); err != nil {
				return nil, err
			}
		}
		object, depth = next, depth+1
	}
	member(object, "enabled", hujson.Bool(true), in, depth).Value = hujson.Bool(true)
	out := doc.Pack()
	if now == nil {
		out = append(out, '\n')
	}
	return out, nil
}

// admit adds the plugin to the allow list, unless that list is empty.
func (enabled) admit(allow *hujson.Value, in string) error {
	list, ok := allow.Value.(*hujson.Array)
	if !ok || len(list.Elements) == 0 || slices.ContainsFunc(list.Elements, isOurID) {
		return nil
	}
	return appendTo(list, openClawID, in, 3)
}

func isOurID(v hujson.Value) bool {
	l, ok := v.Value.(hujson.Literal)
	return ok && l.Kind() == '"' && l.String() == openClawID
}

func (enabled) remove(now []byte, _ Options) ([]byte, error) {
	doc, root, err := parseObject(now)
	if err != nil {
		return nil, err
	}
	plugins := objectAt(doc, "/plugins")
	if entries := objectAt(doc, "/plugins/entries"); entries == nil || !dropMember(entries, openClawID) {
		return now, nil
	} else if len(entries.Members) == 0 {
		dropMember(plugins, "entries")
	}
	if allow := doc.Find("/plugins/allow"); allow != nil {
		if list, ok := allow.Value.(*hujson.Array); ok {
			list.Elements = without(list.Elements, &list.AfterExtra,
				func(v *hujson.Value) *hujson.Extra { return &v.BeforeExtra }, func(v *hujson.Value) *hujson.Extra { return &v.AfterExtra },
				func(v *hujson.Value) bool { return isOurID(*v) })
		}
	}
	if len(plugins.Members) == 0 {
		dropMember(root, "plugins")
	}
	if len(root.Members) == 0 && blank(root.AfterExtra) {
		return nil, nil
	}
	return doc.Pack(), nil
}

func (e enabled) holds(now []byte, _ Options) (bool, Limits, error) {
	doc, _, err := parseObject(now)
	if err != nil {
		return false, Limits{}, err
	}
	on, kept := e.stands(doc)
	if on && kept != nil {
		return false, Limits{}, kept
	}
	return on, Limits{}, nil
}

// consented is the file in which Hermes records the hooks that its user allowed. Hermes skips
// all other hooks and, without a terminal, says so only in its log.
type consented struct{ events []string }

// consent is one entry of the file.
type consent struct {
	Event   string `json:"event"`
	Command string `json:"command"`
}

const consents = "approvals"

// parse returns the document and its list of entries; list is nil if there is none.
func (consented) parse(now []byte) (doc *hujson.Value, root *hujson.Object, list *hujson.Array, err error) {
	if doc, root, err = parseObject(now); err != nil {
		return nil, nil, nil, err
	}
	v := doc.Find("/" + consents)
	if v == nil {
		return doc, root, nil, nil
	}
	list, ok := v.Value.(*hujson.Array)
	if !ok {
		return nil, nil, nil, fmt.Errorf("%s: %q is not a list", place(now, v.StartOffset), consents)
	}
	return doc, root, list, nil
}

// given returns our entries.
func (consented) given(list *hujson.Array) (all []consent) {
	if list == nil {
		return nil
	}
	for _, v := range list.Elements {
		var c consent
		if text := plain(v); ours(text) && strictjson.UnmarshalLoose([]byte(text), &c) == nil {
			all = append(all, c)
		}
	}
	return all
}

// strip removes our entries.
func (consented) strip(list *hujson.Array) {
	list.Elements = without(list.Elements, &list.AfterExtra,
		func(v *hujson.Value) *hujson.Extra { return &v.BeforeExtra }, func(v *hujson.Value) *hujson.Extra { return &v.AfterExtra },
		func(v *hujson.Value) bool { return ours(plain(*v)) })
}

func (c consented) add(now []byte, o Options) ([]byte, error) {
	doc, root, list, err := c.parse(now)
	if err != nil {
		return nil, err
	}
	var want []consent
	for _, event := range c.events {
		want = append(want, consent{event, o.shellLine()})
	}
	if slices.Equal(c.given(list), want) {
		return now, nil
	}
	in := indentOf(now)
	if list == nil {
		list = &hujson.Array{}
		member(root, consents, list, in, 1)
	}
	c.strip(list)
	for _, w := range want {
		if err := appendTo(list, w, in, 2); err != nil {
			return nil, err
		}
	}
	return append(bytes.TrimRight(doc.Pack(), "\n"), '\n'), nil
}

func (c consented) remove(now []byte, _ Options) ([]byte, error) {
	doc, root, list, err := c.parse(now)
	if err != nil || len(c.given(list)) == 0 {
		return now, err
	}
	c.strip(list)
	if len(list.Elements) == 0 {
		dropMember(root, consents)
	}
	if len(root.Members) == 0 && blank(root.AfterExtra) {
		return nil, nil
	}
	return doc.Pack(), nil
}

func (c consented) holds(now []byte, _ Options) (bool, Limits, error) {
	_, _, list, err := c.parse(now)
	return slices.ContainsFunc(c.given(list), func(g consent) bool { return g.Event == c.events[0] }), Limits{}, err
}

// objectAt returns the object at a path, nil if there is none.
func objectAt(doc *hujson.Value, path string) *hujson.Object {
	if v := doc.Find(path); v != nil {
		if o, ok := v.Value.(*hujson.Object); ok {
			return o
		}
	}
	return nil
}

// dropMember removes the member with that name, and reports whether there was one.
func dropMember(o *hujson.Object, name string) bool {
	before := len(o.Members)
	o.Members = without(o.Members, &o.AfterExtra,
		func(m *hujson.ObjectMember) *hujson.Extra { return &m.Name.BeforeExtra }, func(m *hujson.ObjectMember) *hujson.Extra { return &m.Value.AfterExtra },
		func(m *hujson.ObjectMember) bool { return nameOf(*m) == name })
	return len(o.Members) < before
}
