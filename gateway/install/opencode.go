package install

import (
	_ "embed"
	"strings"

	"github.com/metnos/vaglio/internal/strictjson"
)

//go:embed opencode.js
var openCodeText string

// openCodePlugin is the plugin with the hook's command in it.
func openCodePlugin(o Options) []byte {
	argv, err := strictjson.Marshal(o.argv())
	if err != nil {
		return nil
	}
	return []byte(strings.Replace(openCodeText, `["vaglio-hook", "opencode"]`, string(argv), 1))
}
