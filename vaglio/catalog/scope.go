package catalog

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/metnos/vaglio/internal/realpath"
	"github.com/metnos/vaglio/vaglio/place"
)

// outside is the phrase by which callers recognise a violation of scope.
const outside = "outside allowed scope"

// places are the folders that the start of a path may stand for.
type places struct{ home, cwd string }

// absolute returns the absolute path, or what is missing to determine it.
func (p places) absolute(name string) (full, missing string) {
	if rest, ok := strings.CutPrefix(name, "file://"); ok {
		if name = filePath(rest); name == "" {
			return "", "its file: URL cannot be read"
		}
	}
	if strings.ContainsRune(name, 0) {
		return "", "it holds a NUL character"
	}
	if rest, ok := place.CutHome(name); ok {
		if p.home == "" {
			return "", "the home is not known"
		}
		name = "/" + strings.Trim(p.home, "/") + rest
	}
	switch {
	case strings.HasPrefix(name, "/"):
		return name, ""
	case name == "":
		return "", "it is empty"
	case strings.HasPrefix(name, "~"):
		return "", "it begins with another user's home"
	case p.cwd == "":
		return "", "it is relative and the call names no folder (context.cwd)"
	default:
		return strings.TrimRight(p.cwd, "/") + "/" + name, ""
	}
}

// filePath returns the path of a file: URL without its two slashes, "" if there is none.
func filePath(rest string) string {
	at := strings.IndexByte(rest, '/')
	if at < 0 {
		return ""
	}
	plain, _ := url.PathUnescape(rest[at:]) // on an error, plain is ""
	return plain
}

// pathScope is where an executor may reach in the file system.
type pathScope struct {
	globs  []*regexp.Regexp
	hints  []string // for error messages
	exempt []string // arguments whose paths the caller may choose
}

// newPathScope combines the hints of all fs capabilities: a hint says where, and it is unknown which
// capability a path belongs to. It returns nil if nothing is limited.
func newPathScope(capabilities []Capability, home string) (*pathScope, error) {
	var s pathScope
	for _, c := range capabilities {
		if !strings.HasPrefix(c.Name, "fs:") {
			continue
		}
		for _, hint := range c.Hint {
			if name, ok := strings.CutPrefix(hint, "arg:"); ok {
				s.exempt = append(s.exempt, name)
				s.hints = append(s.hints, hint)
				continue
			}
			globs, err := compileHint(hint, home)
			if err != nil {
				return nil, fmt.Errorf("capability %q: hint %q %w", c.Name, hint, err)
			}
			s.hints = append(s.hints, hint)
			s.globs = append(s.globs, globs...)
		}
	}
	if len(s.hints) == 0 {
		return nil, nil //nolint:nilnil // no hints bound nothing
	}
	return &s, nil
}

// compileHint returns expressions for a hint: one as written and, if its fixed beginning is a link,
// one for where that leads.
func compileHint(hint, home string) ([]*regexp.Regexp, error) {
	full, missing := places{home: home}.absolute(hint)
	if missing != "" {
		return nil, fmt.Errorf("is not an absolute path: %s; write one that begins with / or ~/", missing)
	}
	full = path.Clean(full)
	globs := []*regexp.Regexp{globExpression(full)}
	fixed := full
	if i := strings.IndexAny(full, "*?["); i >= 0 {
		fixed = full[:strings.LastIndexByte(full[:i], '/')]
	}
	if resolved := realpath.Resolve("/" + strings.TrimPrefix(fixed, "/")); resolved != fixed {
		globs = append(globs, globExpression(resolved+full[len(fixed):]))
	}
	return globs, nil
}

// globExpression translates a glob. Other characters match themselves.
func globExpression(glob string) *regexp.Regexp {
	tail := ""
	if rest, ok := strings.CutSuffix(glob, "/**"); ok {
		glob, tail = rest, "(/.*)?"
	}
	var b strings.Builder
	for i := 0; i < len(glob); i++ {
		switch {
		case strings.HasPrefix(glob[i:], "**"):
			b.WriteString(".*")
			i++
		case glob[i] == '*':
			b.WriteString("[^/]*")
		case glob[i] == '?':
			b.WriteString("[^/]")
		default:
			end := i + 1
			for end < len(glob) && glob[end] != '*' && glob[end] != '?' {
				end++
			}
			b.WriteString(regexp.QuoteMeta(glob[i:end]))
			i = end - 1
		}
	}
	return regexp.MustCompile(`(?s)\A` + b.String() + tail + `\z`)
}

// holds reports whether an absolute path stays inside, both as written and with its links resolved.
func (s *pathScope) holds(name string) bool {
	in := func(name string) bool {
		return slices.ContainsFunc(s.globs, func(g *regexp.Regexp) bool { return g.MatchString(name) })
	}
	return in(path.Clean(name)) && in(realpath.Resolve(name))
}

// check returns what is wrong with one path, or "".
func (s *pathScope) check(name string, p places) string {
	full, missing := p.absolute(name)
	if missing == "" && s.holds(full) {
		return ""
	}
	why := "not in any of " + bracketed(s.hints)
	if missing != "" {
		why = missing
	}
	return "is " + outside + ": " + why
}

// checkTemplate checks the part of a template before its first placeholder. What follows may add
// names but must not climb.
func (s *pathScope) checkTemplate(template string, p places) string {
	at := strings.IndexAny(template, "{*$<%")
	if at < 0 || strings.HasPrefix(template, "$HOME") || strings.HasPrefix(template, "${HOME}") {
		return s.check(template, p)
	}
	if strings.Contains(template[at:], "..") {
		return "is " + outside + `: it climbs with ".." after its fixed beginning`
	}
	fixed := template[:strings.LastIndexByte(template[:at], '/')+1]
	if fixed == "" {
		fixed = "."
	}
	return s.check(fixed, p)
}

// hostScope is which hosts an executor may reach.
type hostScope struct{ hints []string }

func newHostScope(capabilities []Capability) (*hostScope, error) {
	var s hostScope
	for _, c := range capabilities {
		if !strings.HasPrefix(c.Name, "network:") {
			continue
		}
		for _, hint := range c.Hint {
			if hint == "" || strings.ContainsAny(hint, "/ \t@") {
				return nil, fmt.Errorf("capability %q: hint %q is not a host; write one such as api.example.com or *.example.com", c.Name, hint)
			}
			s.hints = append(s.hints, hint)
		}
	}
	if len(s.hints) == 0 {
		return nil, nil //nolint:nilnil // no hints bound nothing
	}
	return &s, nil
}

// check returns what is wrong with one URL, or "".
func (s *hostScope) check(raw string) string {
	host := hostOf(raw)
	if host == "" {
		return "is " + outside + ": it is not a URL with a host that can be read in one way only"
	}
	for _, hint := range s.hints {
		if matchHost(host, hint) {
			return ""
		}
	}
	return "is " + outside + ": its host is not in any of " + bracketed(s.hints)
}

// hostOf returns a URL's host, "" unless every reader would find the same one.
func hostOf(raw string) string {
	for i := range len(raw) {
		if c := raw[i]; c <= ' ' || c >= utf8.RuneSelf || c == '\\' {
			return ""
		}
	}
	u, err := url.Parse(raw)
	if err != nil || u.Opaque != "" {
		return ""
	}
	return strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
}

// matchHost reports whether a hint covers a host.
func matchHost(host, hint string) bool {
	hint = strings.ToLower(strings.TrimSuffix(hint, "."))
	if hint == "*" {
		return true
	}
	if domain, ok := strings.CutPrefix(hint, "*."); ok {
		return host == domain || strings.HasSuffix(host, "."+domain)
	}
	return host == hint
}

// checkScope checks the arguments that name places.
func (e *entry) checkScope(args map[string]any, p places) error {
	var all []failure
	if e.paths != nil {
		for _, key := range [...]string{"path", "base_path", "src", "dst", "paths", "base_paths", "srcs", "dsts"} {
			if !slices.Contains(e.paths.exempt, key) {
				all = each(all, args, key, func(v string) string { return e.paths.check(v, p) })
			}
		}
		if !slices.Contains(e.paths.exempt, "dst_template") {
			all = each(all, args, "dst_template", func(v string) string { return e.paths.checkTemplate(v, p) })
		}
	}
	if e.hosts != nil {
		for _, key := range [...]string{"url", "urls"} {
			all = each(all, args, key, e.hosts.check)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return report(KindScope, e.Name, all)
}

// each checks the string, or the list of strings, under one key.
func each(into []failure, args map[string]any, key string, check func(string) string) []failure {
	v, ok := args[key]
	if !ok || v == nil {
		return into
	}
	one := func(field string, v any) {
		s, ok := v.(string)
		if !ok {
			into = append(into, failure{field, "is " + outside + ": it must be a string"})
			return
		}
		if msg := check(s); msg != "" {
			into = append(into, failure{field, msg})
		}
	}
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			one("/"+key+"/"+strconv.Itoa(i), item)
		}
	case []string:
		for i, item := range v {
			one("/"+key+"/"+strconv.Itoa(i), item)
		}
	default:
		one("/"+key, v)
	}
	return into
}

func bracketed(hints []string) string {
	const most = 8
	if len(hints) > most {
		hints = append(slices.Clone(hints[:most]), "…")
	}
	return "[" + strings.Join(hints, ", ") + "]"
}
