package guard

import (
	_ "embed" // The rules.
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/internal/rows"
)

// The IDs of the rules that the code names; the table of places names the others.
const (
	rootID = "path.root"

	treeRoot    = "tree.root"
	treeHome    = "tree.home"
	treeSystem  = "tree.system"
	vitalRule   = "tree.vital"
	packageRule = "tree.packages"

	modeTree  = "mode.tree"
	modeOpen  = "mode.open"
	modeSetID = "mode.setuid"

	diskRule   = "disk.device"
	formatRule = "disk.format"
	tableRule  = "disk.table"
	volumeRule = "disk.volume"

	keyRule    = "path.keys"
	authRead   = "path.auth_read"
	authWrite  = "path.auth_write"
	credRule   = "path.secrets"
	memoryRule = "path.memory"
	bootRule   = "path.boot_write"
	kernelRule = "path.kernel"
	adminRule  = "path.admin_home"

	forkRule = "process.fork_bomb"
	killRule = "process.kill_all"

	ownID       = "own.path"
	ownCommand  = "own.command"
	ownProcess  = "own.process"
	ownSettings = "own.settings"

	// faultID is the rule of a guard, or of its reader, that failed.
	faultID = "guard.fault"
)

//go:embed rules.txt
var ruleText string

// rule is one thing that is not up for debate. The rules of the core are text patterns.
type rule struct {
	id, what, why, instead string
	// pattern is in Python's syntax, re is the same in Go's.
	pattern string
	re      *regexp.Regexp
	// lead and within must be in a text for re to match; checking them first is cheap.
	lead, within string
}

// builtIn returns the rules of the table. They are read once and never change.
//
//nolint:gochecknoglobals // Read once, then only looked at.
var builtIn = sync.OnceValues(func() ([]*rule, error) { return parseRules(ruleText) })

// parseRules reads the rules in order. Its error names the line.
func parseRules(text string) ([]*rule, error) {
	var all []*rule
	err := rows.Read("rules.txt", text, func(line string) error {
		key, value, more := strings.Cut(line, " ")
		if !more && strings.Contains(key, ".") {
			all = append(all, &rule{id: key})
			return nil
		}
		var field *string
		if len(all) > 0 {
			field = all[len(all)-1].field(key)
		}
		if field == nil || *field != "" || value == "" {
			return rows.Wrong(key, "%q is nothing that a rule says once", key)
		}
		*field = value
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("guard: %w", err)
	}
	for _, r := range all {
		if !r.complete() {
			return nil, fmt.Errorf("guard: rules.txt: %s needs what or pattern, why and instead", r.id)
		}
		if err := r.compile(); err != nil {
			return nil, fmt.Errorf("guard: rules.txt: %s: %w", r.id, err)
		}
	}
	return all, nil
}

func (r *rule) complete() bool {
	return (r.what == "") != (r.pattern == "") && r.why != "" && r.instead != ""
}

// field returns where a rule keeps the value of a key, or nil if there is no such key.
func (r *rule) field(key string) *string {
	return map[string]*string{"what": &r.what, "pattern": &r.pattern, "lead": &r.lead, "within": &r.within, "why": &r.why, "instead": &r.instead}[key]
}

// pythonSpace is what \s means in Python: ASCII and Unicode white space.
const pythonSpace = `[\t-\r\x1c- \x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]`

// compile compiles the pattern with Python's meaning, where "$" also matches before a final newline. Go's \b also matches beside a letter outside ASCII,
// where Python's does not: that is stricter, never laxer.
func (r *rule) compile() (err error) {
	if r.pattern != "" {
		r.re, err = regexp.Compile(strings.NewReplacer(`\s`, pythonSpace, "$", `\n?\z`).Replace(r.pattern))
	}
	return err
}

func (r *rule) match(s string) bool {
	return strings.HasPrefix(s, r.lead) && strings.Contains(s, r.within) && r.re.MatchString(s)
}

// isPlace reports whether a rule of the core is about a path, not about a command.
func (r *rule) isPlace() bool { return strings.HasPrefix(r.id, "path.") }

// isTelling reports whether a rule forbids a name that no project folder has by chance.
func (r *rule) isTelling() bool { return strings.HasPrefix(r.pattern, "^/etc/") }

func (r *rule) denial() Denial {
	// The reason shows a pattern as Python's repr does.
	pattern, reason := strings.ReplaceAll(r.pattern, `\`, `\\`), r.what
	switch {
	case r.pattern == "":
	case r.isPlace():
		reason = "forbidden path violated: pattern '" + pattern + "' in args"
	default:
		reason = "quasi-irrecoverable shell command: '" + pattern + "'"
	}
	return Denial{ID: r.id, Reason: "guard: " + reason, Why: r.why, Instead: r.instead}
}

// Rules returns the denial of every rule, in the order of the documentation, for places that need words for all of them.
func Rules() []Denial {
	table, _ := builtIn()
	return append(lists.Each(table, (*rule).denial), faultRule().denial())
}

// faultRule applies when the guard itself failed. It is in no table.
func faultRule() *rule {
	return &rule{
		id:      faultID,
		what:    "the guard itself failed, so the call is denied",
		why:     "A guard that failed has checked nothing.",
		instead: "Report this with the executor's name and the names of its arguments.",
	}
}
