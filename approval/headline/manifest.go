package headline

import (
	"regexp"
	"strings"
)

// What a cluster is told to keep: the kind, and the name and the namespace below the metadata. Each
// document begins anew.
var (
	documents    = regexp.MustCompile(`(?m)^---\s*$`)
	manifestKind = regexp.MustCompile(`(?m)^(?:apiVersion:.*\n(?:.*\n)*?)?kind:[ \t]*["']?([\w.]+)["']?[ \t]*$`)
	manifestName = regexp.MustCompile(`(?m)^metadata:[ \t]*\n(?:[ \t]+.*\n)*?[ \t]+name:[ \t]*["']?([\w.-]+)["']?[ \t]*$`)
	manifestIn   = regexp.MustCompile(`(?m)^metadata:[ \t]*\n(?:[ \t]+.*\n)*?[ \t]+namespace:[ \t]*["']?([\w.-]+)["']?[ \t]*$`)
)

// manifest takes from the text of an argument which thing of a cluster it describes, as if the arguments
// named it. A text that describes several names none of them.
func (c *call) manifest(args map[string]any) {
	for _, value := range args {
		switch v := value.(type) {
		case string:
			kind, name := manifestKind.FindStringSubmatch(v), manifestName.FindStringSubmatch(v)
			if !strings.Contains(v, "apiVersion:") || kind == nil || name == nil || len(documents.FindAllString(strings.TrimLeft(v, "-\n"), -1)) > 0 {
				continue
			}
			c.describes(kind[1], name[1], manifestIn.FindStringSubmatch(v))
		case map[string]any:
			meta, _ := v["metadata"].(map[string]any)
			kind, _ := v["kind"].(string)
			if name, _ := meta["name"].(string); kind != "" && name != "" && v["apiVersion"] != nil {
				in, _ := meta["namespace"].(string)
				c.describes(kind, name, []string{"", in})
			}
		}
	}
}

// describes records what a manifest describes, unless the arguments say it themselves.
func (c *call) describes(kind, name string, in []string) {
	for key, value := range map[string]string{"kind": kind, "name": name, "namespace": strings.Join(in[min(1, len(in)):], "")} {
		if len(c.args[key]) == 0 && value != "" {
			c.args[key] = []string{value}
		}
	}
}
