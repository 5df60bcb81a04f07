package install

import (
	_ "embed"
	"strings"

	"github.com/metnos/vaglio/internal/strictjson"
)

//go:embed opencode.js
var openCodeText string

//go:embed openclaw.js
var openClawText string

// openCodePlugin and openClawPlugin are the plugins with the hook's command in them.
func openCodePlugin(o Options) []byte { return withCommand(openCodeText, o) }
func openClawPlugin(o Options) []byte { return withCommand(openClawText, o) }

func withCommand(text string, o Options) []byte {
	argv, err := strictjson.Marshal(o.argv())
	if err != nil {
		return nil
	}
	return []byte(strings.Replace(text, `["vaglio-hook", "`+o.Client+`"]`, string(argv), 1))
}

// openClawFolder is where OpenClaw finds a plugin of its user's.
const openClawFolder = ".openclaw/extensions/vaglio/"

// openClawManifest is what OpenClaw reads before it loads the plugin.
func openClawManifest(Options) []byte {
	return asJSON(map[string]any{
		"id": "vaglio", "name": "vaglio", "description": sign + ". Asks vaglio before each tool call.",
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
