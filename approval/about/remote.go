package about

import (
	"net/url"
	"slices"
	"strings"

	"github.com/DataDog/go-sqllexer"

	"github.com/metnos/vaglio/approval"
)

// request names a request to a server: its method, its address, and what it carries.
func (l *line) request() ([]approval.Subject, bool) {
	bodies := l.values("-d", "--data", "--data-raw", "--data-binary", "--data-ascii", "--data-urlencode", "--json", "-F", "--form", "--form-string",
		"--post-data", "--body-data", "--post-file", "--body-file")
	files := l.values("-T", "--upload-file")
	method := l.method(len(bodies) > 0, len(files) > 0)
	var carried []approval.Fact
	for _, b := range bodies {
		if file, ok := strings.CutPrefix(b, "@"); ok {
			carried = append(carried, approval.Fact{Name: "file", Value: l.fileOf(file)})
			continue
		}
		carried = append(carried, approval.Fact{Name: "content", Value: digest(b)})
	}
	for _, f := range files {
		carried = append(carried, approval.Fact{Name: "file", Value: l.fileOf(f)})
	}
	l.used["<"] = !slices.ContainsFunc(append(bodies, files...), func(s string) bool { return s == "@-" || s == "-" })
	for _, a := range append(l.operands(0), l.values("--url")...) {
		s, ok := requestTo(method, a, carried)
		if !ok {
			return nil, false
		}
		l.w.add(s)
	}
	if len(l.w.subjects) == 0 || l.unknown {
		return nil, false
	}
	last := l.w.subjects[len(l.w.subjects)-1]
	l.w.subjects = l.w.subjects[:len(l.w.subjects)-1]
	return []approval.Subject{last}, true
}

// method returns the request's method: the one named, or the one its body implies.
func (l *line) method(body, file bool) string {
	switch method := strings.ToUpper(l.value("-X", "--request", "--method")); {
	case method != "":
		return method
	case l.has("-I", "--head"):
		return "HEAD"
	case file:
		return "PUT"
	case body && !l.has("-G", "--get"):
		return "POST"
	default:
		return "GET"
	}
}

// usualPort reports whether the port is absent or the default of the scheme.
func usualPort(u *url.URL) bool {
	switch u.Port() {
	case "":
		return true
	case "80":
		return u.Scheme == "http"
	case "443":
		return u.Scheme == "https"
	default:
		return false
	}
}

// requestTo names a request, spelling its address in one canonical way.
func requestTo(method, address string, carried []approval.Fact) (approval.Subject, bool) {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return approval.Subject{}, false
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if repo, ok := repositoryOf(u.Path); ok && host == "api.github.com" && method == "DELETE" {
		return repoDeletion(repo), true
	}
	if !usualPort(u) {
		host += ":" + u.Port()
	}
	p := u.EscapedPath()
	if p == "" {
		p = "/"
	}
	object := append(fact("host", u.Scheme+"://"+host), fact("path", p)...)
	object = append(object, fact("query", u.Query().Encode())...)
	return approval.Subject{System: "http", Verb: method, Object: append(object, carried...)}, true
}

// database names the statements that a client runs, and the database.
func (l *line) database() ([]approval.Subject, bool) {
	where := l.databaseAt()
	texts := l.values("-c", "--command", "-e", "--execute", "--cmd")
	if files := l.values("-f", "--file"); len(files) > 0 {
		return nil, false // the content of the files was not read
	}
	if l.name == "sqlite3" || l.name == "duckdb" {
		ops := l.operands(0)
		if len(ops) > 0 {
			where = append(where, fact("database", l.fileOf(ops[0]))...)
			texts = append(texts, ops[1:]...)
		}
	}
	if len(texts) == 0 {
		text, ok := l.fed()
		if !ok || text == "" {
			return nil, false
		}
		texts = []string{text}
	}
	l.used["<"] = true
	var out []approval.Subject
	for _, text := range texts {
		list, ok := statements(text, where)
		if !ok {
			return nil, false
		}
		out = append(out, list...)
	}
	return out, true
}

// databaseAt returns where the database is and which user the client connects as.
func (l *line) databaseAt() []approval.Fact {
	where := fact("engine", strings.ReplaceAll(l.name, "mariadb", "mysql"))
	host, port, user := l.value("-h", "--host"), l.value("--port"), l.value("--user", "--username")
	name := l.value("-d", "--dbname", "-D", "--database")
	if l.name == "psql" {
		port, user = port+l.value("-p"), user+l.value("-U")
	} else {
		port, user = port+l.value("-P"), user+l.value("-u")
	}
	ops := l.operands(0)
	if name == "" && len(ops) > 0 && l.name != "sqlite3" && l.name != "duckdb" {
		name = ops[0]
	}
	if u, err := url.Parse(name); err == nil && u.Host != "" {
		host, port, name, user = u.Hostname(), u.Port(), strings.TrimPrefix(u.Path, "/"), u.User.Username()
	}
	where = append(append(where, fact("host", strings.ToLower(host))...), fact("port", port)...)
	return append(append(where, fact("user", user)...), fact("database", name)...)
}

// statements names each statement in the text, in one canonical spelling.
func statements(text string, where []approval.Fact) ([]approval.Subject, bool) {
	var out []approval.Subject
	for _, words := range wordsOf(text) {
		if words == nil {
			return nil, false
		}
		verb := words[0]
		if len(words) > 1 && (verb == "DROP" || verb == "CREATE" || verb == "ALTER" || verb == "TRUNCATE") {
			verb += " " + words[1]
		}
		s := approval.Subject{System: "database", Verb: strings.ToLower(verb)}
		s.Object = append(fact("statement", strings.Join(words, " ")), where...)
		out = append(out, s)
	}
	return out, true
}

// wordsOf splits text into the words of each statement; nil stands for a statement that
// cannot be parsed. Keywords and unquoted names are upper-cased, because no dialect tells
// their cases apart; quoted names stay as they are.
func wordsOf(text string) [][]string {
	var out [][]string
	var words []string
	end := func() {
		if len(words) > 0 {
			out = append(out, tidy(words))
		}
		words = nil
	}
	for lex := sqllexer.New(text); ; {
		switch t := lex.Scan(); t.Type {
		case sqllexer.EOF:
			end()
			return out
		case sqllexer.ERROR, sqllexer.INCOMPLETE_STRING:
			return [][]string{nil}
		case sqllexer.SPACE, sqllexer.COMMENT, sqllexer.MULTILINE_COMMENT:
		case sqllexer.STRING, sqllexer.QUOTED_IDENT, sqllexer.DOLLAR_QUOTED_STRING:
			words = append(words, t.Value)
		default:
			if t.Value == ";" {
				end()
				continue
			}
			words = append(words, strings.ToUpper(t.Value))
		}
	}
}

// tidy drops words that do not change what is done to what: IF EXISTS, and the schema that
// is meant when none is named.
func tidy(words []string) []string {
	out := make([]string, 0, len(words))
	for i := 0; i < len(words); i++ {
		if words[i] == "IF" && i+1 < len(words) && words[i+1] == "EXISTS" {
			i++
			continue
		}
		w := strings.TrimPrefix(words[i], "PUBLIC.")
		if w == "PUBLIC" && i+1 < len(words) && words[i+1] == "." {
			i++
			continue
		}
		out = append(out, w)
	}
	return out
}

// mail names a message: its recipients, its subject, and its text.
func (l *line) mail() ([]approval.Subject, bool) {
	body, ok := l.fed()
	if !ok {
		return nil, false
	}
	to := append(l.operands(0), l.values("-c", "-b", "--cc", "--bcc")...)
	s := message(to, l.value("-s", "--subject"), body)
	for _, f := range l.values("-a", "-A", "--attach") {
		s.Object = append(s.Object, approval.Fact{Name: "file", Value: l.fileOf(f)})
	}
	return []approval.Subject{s}, len(to) > 0
}

// message names a message that is sent to people.
func message(to []string, about, body string) approval.Subject {
	s := approval.Subject{System: "mail", Verb: "send", Object: append(fact("subject", about), fact("content", digest(strings.TrimSpace(body)))...)}
	for _, t := range to {
		for one := range strings.FieldsFuncSeq(t, func(r rune) bool { return r == ',' || r == ';' || r == ' ' }) {
			s.Object = append(s.Object, approval.Fact{Name: "to", Value: strings.ToLower(one)})
		}
	}
	return s
}
