// Package databasefiles tells from the settings of database tools in which file of a project a database is.
package databasefiles

import (
	"path"
	"regexp"
	"strings"
)

// What the settings of a database tool say of databases, what they may import for that, and what may name another
// database than a file beside them.
var (
	kinds        = regexp.MustCompile(`(?:client|dialect|\btype)["']?\s*:\s*([^,}\n]*)`)
	variable     = regexp.MustCompile(`(?m)^\s*(?:export\s+)?(?:DATABASE_URL|(?:\w+\.)?url)\s*=.*$`)
	named        = regexp.MustCompile(`^.*?=\s*["']?(?:jdbc:)?(\w+):(?://)?(\w)`)
	plainImports = regexp.MustCompile(`require\(['"](?:node:)?path['"]\)|import \w+ from ['"](?:node:)?path['"]|` +
		`import \{ defineConfig \} from ['"]drizzle-kit['"]`)
	elsewhere = regexp.MustCompile("require|import|process|://|\\.\\.|[\"'`]/|:\\s*[/~]|\\{\\{|homedir|[\"'`]~")
)

// What a schema of prisma says of its databases.
var (
	remarks    = regexp.MustCompile(`(?m)//.*$|/\*(?s:.*?)\*/`)
	datasource = regexp.MustCompile(`(?s)\bdatasource\s+\w+\s*\{(.*?)\}`)
	ofSource   = regexp.MustCompile(`^(?:provider|url)$`)
)

// SchemaFile returns the file, from the folder of the schema, that a schema of prisma names as its only database.
func SchemaFile(schema string) (file string, ok bool) {
	const address = "\x00" // stands for the slashes of one, which begin no remark
	schema = remarks.ReplaceAllString(strings.ReplaceAll(schema, "://", address), "")
	sources := datasource.FindAllStringSubmatch(schema, -1)
	if len(sources) != 1 {
		return "", false
	}
	says := map[string]string{}
	for line := range strings.Lines(sources[0][1]) {
		name, value, _ := strings.Cut(line, "=")
		name = strings.TrimSpace(name)
		if _, twice := says[name]; name != "" && (twice || !ofSource.MatchString(name)) {
			return "", false
		}
		says[name] = strings.TrimSpace(value)
	}
	url := strings.Trim(says["url"], `"`)
	file, ok = strings.CutPrefix(url, "file:")
	return file, ok && says["provider"] == `"sqlite"` && says["url"] == `"`+url+`"` && file != "" && !strings.ContainsAny(file, "?\"\x00\\")
}

// PrismaFile returns the file that the schema which prisma finds names as its only database, from the folder that it
// runs in. Where a configuration may name another schema, none is known.
func PrismaFile(content func(name string) (string, bool)) (file string, ok bool) {
	for _, end := range [...]string{".ts", ".js", ".mjs", ".cjs", ".mts", ".cts"} {
		for _, config := range [...]string{"prisma.config", ".config/prisma"} {
			if _, has := content(config + end); has {
				return "", false
			}
		}
	}
	for _, name := range [...]string{"schema.prisma", "prisma/schema.prisma"} { // as it looks for them
		if text, has := content(name); has {
			if file, ok = SchemaFile(text); ok && !path.IsAbs(file) {
				file = path.Join(path.Dir(name), file)
			}
			return file, ok
		}
	}
	return "", false
}

// PlainPrisma reports whether all clients of prisma that a program makes are told of no database.
func PlainPrisma(program string) bool {
	plain := strings.Count(program, "new PrismaClient()")
	return plain > 0 && strings.Count(program, "PrismaClient(") == plain && !strings.Contains(program, "_URL")
}

// Kinds returns the kinds of databases that the settings of a tool for them name. here says that it names any, and that
// those that are files are kept beside the settings.
func Kinds(settings string) (names []string, here bool) {
	if lines := variable.FindAllString(settings, -1); lines != nil { // of a file of variables, no other says anything of that
		settings = ""
		for _, line := range lines {
			settings += named.ReplaceAllString(line, "client: $1\n$2") + "\n"
		}
	}
	for _, m := range kinds.FindAllStringSubmatch(settings, -1) {
		names = append(names, strings.Trim(m[1], "'\" "))
	}
	return names, len(names) > 0 && !elsewhere.MatchString(plainImports.ReplaceAllString(settings, ""))
}
