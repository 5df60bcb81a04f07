package headline

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

// What a cluster is told to keep: the kind, and the name and the namespace below the metadata. Each
// document begins anew.
var (
	documents    = regexp.MustCompile(`(?m)^(---|\.\.\.)`)
	manifestKind = regexp.MustCompile(`(?m)^kind:[ \t]*["']?([\w.]+)["']?[ \t]*$`)
	manifestName = regexp.MustCompile(`(?m)^metadata:[ \t]*\n(?:[ \t]+.*\n)*?[ \t]+name:[ \t]*["']?([\w.-]+)["']?[ \t]*$`)
	manifestIn   = regexp.MustCompile(`(?m)^metadata:[ \t]*\n(?:[ \t]+.*\n)*?[ \t]+namespace:[ \t]*["']?([\w.-]+)["']?[ \t]*$`)
)

// manifest takes from the text of an argument which thing of a cluster it describes, as if the arguments
// named it. A text that describes several names none of them.
func (c *call) manifest(args map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(args)) {
		switch v := args[key].(type) {
		case string:
			c.written(key, v)
		case map[string]any:
			meta, _ := v["metadata"].(map[string]any)
			kind, _ := v["kind"].(string)
			if name, _ := meta["name"].(string); kind != "" && name != "" && v["apiVersion"] != nil {
				in, _ := meta["namespace"].(string)
				c.describes(key, kind, name, []string{"", in})
			}
		}
	}
}

// written takes what a manifest in YAML describes, if it is the only one in the text.
func (c *call) written(key, text string) {
	if !strings.Contains(text, "apiVersion:") || documents.MatchString(strings.TrimLeft(text, "-\n")) {
		return
	}
	kinds, names := manifestKind.FindAllStringSubmatch(text, -1), manifestName.FindAllStringSubmatch(text, -1)
	if len(kinds) == 1 && len(names) == 1 {
		c.describes(key, kinds[0][1], names[0][1], manifestIn.FindStringSubmatch(text))
	}
}

// resource is the thing of a cluster that the manifest in an argument describes.
type resource struct {
	key  string
	kind []string
}

// describes records what the manifest under a key describes. Where the arguments say otherwise, nobody knows which of both
// counts: then neither does.
func (c *call) describes(under, kind, name string, in []string) {
	said := map[string]string{"kind": kind, "name": name, "namespace": strings.Join(in[min(1, len(in)):], "")}
	for key, value := range said {
		if one := c.first(key); one != "" && value != "" && !strings.EqualFold(one, value) {
			delete(c.args, "kind")
			delete(c.args, "name")
			return
		}
	}
	c.applied = resource{reading.Normal(under), reading.Words(kind)}
	for key, value := range said {
		if value != "" {
			c.args[key] = []string{value}
		}
	}
}

// applies says of a tool whose name speaks of a manifest, or of nothing, that it is about what the manifest
// describes, and reports whether it did.
func (c *call) applies(t *toolName) bool {
	kind := c.applied.kind
	silent := !slices.ContainsFunc(t.nouns, func(w string) bool { return !c.service(w) })
	if kind == nil || !silent && strings.Join(t.nouns, "") != c.applied.key {
		return false
	}
	t.nouns, t.thing, t.plural, t.owner = kind, nil, false, nil
	if thing, _, rest := spoken.ThingOf(kind); len(rest) == 0 {
		t.thing = thing
	}
	return true
}

// isDocument reports whether a text looks like one in JSON, which is no name.
func isDocument(text string) bool {
	text = strings.TrimSpace(text)
	if inner, object := strings.CutPrefix(text, "{"); object {
		inner = strings.TrimSpace(inner)
		return inner == "}" || strings.HasPrefix(inner, `"`) && strings.HasSuffix(inner, "}")
	}
	return len(text) > 1 && text[0] == '[' && text[len(text)-1] == ']'
}
