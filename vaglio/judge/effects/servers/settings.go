package servers

import (
	"regexp"
	"strings"
)

// What the settings of a database tool say of databases, what they may import for that, and what may name another
// database than a file beside them.
var (
	kinds        = regexp.MustCompile(`(?:client|dialect)["']?\s*:\s*([^,}\n]*)`)
	plainImports = regexp.MustCompile(`require\(['"](?:node:)?path['"]\)|import \w+ from ['"](?:node:)?path['"]|` +
		`import \{ defineConfig \} from ['"]drizzle-kit['"]`)
	elsewhere = regexp.MustCompile("require|import|process|://|\\.\\.|[\"'`]/|homedir|[\"'`]~")
)

// Kinds returns the kinds of databases that the settings of a tool for them name. here says that it names any, and that
// those that are files are kept beside the settings.
func Kinds(settings string) (names []string, here bool) {
	for _, m := range kinds.FindAllStringSubmatch(settings, -1) {
		names = append(names, strings.Trim(m[1], "'\" "))
	}
	return names, len(names) > 0 && !elsewhere.MatchString(plainImports.ReplaceAllString(settings, ""))
}
