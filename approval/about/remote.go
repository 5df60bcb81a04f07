package about

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/DataDog/go-sqllexer"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/strictjson"
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
			f, ok := l.carries(file)
			if !ok {
				return nil, false
			}
			carried = append(carried, f)
			continue
		}
		carried = append(carried, approval.Fact{Name: "content", Value: content(b)})
	}
	for _, f := range files {
		carried = append(carried, approval.Fact{Name: "file", Value: l.fileOf(f)})
	}
	l.used["<"] = !slices.Contains(append(bodies, files...), "-")
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

// carries names the file whose text a request carries, or the text itself if it comes from
// standard input and is known.
func (l *line) carries(file string) (approval.Fact, bool) {
	if file != "-" {
		return approval.Fact{Name: "file", Value: l.fileOf(file)}, true
	}
	if text, ok := l.fed(); ok {
		return approval.Fact{Name: "content", Value: content(text)}, true
	}
	name, ok := l.c.Stdin.File.Text()
	return approval.Fact{Name: "file", Value: l.at(name)}, ok && name != ""
}

// content returns the digest of what a request carries. How JSON is laid out does not matter.
func content(body string) string {
	var v any
	if strictjson.UnmarshalLoose([]byte(body), &v) == nil {
		if form, err := strictjson.Canonical(map[string]any{"": v}); err == nil {
			return digest(string(form))
		}
	}
	return digest(strings.TrimSpace(body))
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
	if s, ok := resourceAt(u.Path); ok && method == "DELETE" && u.RawQuery == "" {
		return s, true
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
		list, ok := statements(l.name, text, where)
		if !ok {
			return nil, false
		}
		out = append(out, list...)
	}
	if rest := slices.DeleteFunc(slices.Clone(out), opensOrEnds); len(rest) > 0 {
		out = rest
	}
	return out, true
}

// opensOrEnds reports whether a statement only opens a transaction or makes it last.
func opensOrEnds(s approval.Subject) bool {
	return s.Verb == "begin" || s.Verb == "commit" || s.Verb == "end" || s.Verb == "start"
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
	} else if strings.Contains(name, "=") { // a connection string of libpq's
		given := map[string]string{}
		for one := range strings.FieldsSeq(name) {
			key, value, _ := strings.Cut(one, "=")
			given[key] = strings.Trim(value, "'")
		}
		host, port, user, name = cmp.Or(given["host"], host), cmp.Or(given["port"], port), cmp.Or(given["user"], user), given["dbname"]
	}
	host, port = cmp.Or(host, l.variable("PGHOST", "MYSQL_HOST")), cmp.Or(port, l.variable("PGPORT", "MYSQL_TCP_PORT"))
	user, name = cmp.Or(user, l.variable("PGUSER")), cmp.Or(name, l.variable("PGDATABASE"))
	where = append(append(where, fact("host", strings.ToLower(host))...), fact("port", port)...)
	return append(append(where, fact("user", user)...), fact("database", name)...)
}

// statements names each statement in the text, in one canonical spelling.
func statements(client, text string, where []approval.Fact) ([]approval.Subject, bool) {
	var out []approval.Subject
	for _, words := range wordsOf(client, text) {
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
// their cases apart; quoted names stay as they are, unless the client's database takes them for
// the same as unquoted ones.
func wordsOf(client, text string) [][]string {
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
		case sqllexer.STRING, sqllexer.DOLLAR_QUOTED_STRING:
			words = append(words, t.Value)
		case sqllexer.QUOTED_IDENT:
			words = append(words, unquoted(client, t.Value))
		default:
			if t.Value == ";" {
				end()
				continue
			}
			words = append(words, strings.ToUpper(t.Value))
		}
	}
}

// unquoted returns a quoted name as the unquoted one that means the same: PostgreSQL folds
// unquoted names to lower case, and MySQL's backticks only quote.
func unquoted(client, name string) string {
	inner := strings.Trim(name, "\"`")
	folds := name[0] == '"' && (client == "psql" || client == "cockroach") && inner == strings.ToLower(inner) || name[0] == '`'
	if folds && inner != "" && strings.Trim(inner, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") == "" {
		return strings.ToUpper(inner)
	}
	return name
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
