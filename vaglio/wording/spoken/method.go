package spoken

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/wording"
)

// Method says what a method of a client library does, by its name and its arguments, the named
// ones as options: "deletes the bucket logs". If the name does not tell, it says which method is
// called. Of are the texts that what it is called on was made of: Bucket("logs").delete(). Final says
// that what the method makes, ends or lets run cannot be taken back.
func Method(name, library string, given, of []string, split func(string) []string) (said wording.Sentence, final bool) {
	path := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune(".()", r) })
	words := split(strings.TrimSuffix(strings.Join(path[max(0, len(path)-1):], ""), "Command"))
	called := wording.Say("calls %s of %s", strings.Join(words, "_"), library)
	switch said, part := madeOf(name, of, words, given, split); {
	case said != nil:
		return append(said, collectedIn(name, path, of)...), false
	case part:
		return wording.Sentence{called}, false
	}
	words, given = namespaced(words, given)
	for _, text := range of {
		if region := fieldsOf(text)["region"]; region != "" {
			given = append(slices.Clip(given), "--region", region)
		}
	}
	var where wording.Sentence
	if does := ofDocuments(name, path, words, given, of); does.Phrase != "" {
		called, where = does, keptIn(name, path, len(does.Args) > 0, of)
	}
	m := methodOf(path, words, split)
	operands, options := asOptions(given, split)
	m.byOption(options)
	if m.thing != nil && m.thing.paidBack(m.act, options, library) != nil {
		return m.thing.paidBack(m.act, options, library), true
	}
	for _, mail := range []wording.Sentence{m.mail(options), message(words, options)} {
		if mail != nil {
			return mail, true
		}
	}
	m.turned(options)
	object, ok := m.object(operands, options)
	if !ok {
		return append(wording.Sentence{called}, where...), false
	}
	said = wording.Sentence{{Phrase: m.act.To(m.thing).Phrase, Args: []wording.Clause{object}}}
	said = append(said, m.second(options)...)
	return append(said, circumstances(m.noun, options)...), m.final()
}

// method is what the name of a method says. Its thing is nil if the name does not tell.
type method struct {
	act   *Act
	thing *Thing
	// noun is the thing's name, holder the words before it, further those after a joint.
	noun            string
	holder, further []string
	// many says that the name is about several things, got that it is called on one thing that
	// another method returned, and takes no other.
	many, got bool
	// bare says that the name is only a verb of the library's own client, which tells nothing else to a thing.
	bare bool
}

// final reports whether what the method makes, ends or lets run cannot be taken back.
func (m *method) final() bool {
	return m.act.Final || m.act.Runs && m.thing.Runs || (m.act.Makes || m.act.Ends) && m.thing.Final
}

// mail says to whom a mail goes, and about what, if the options tell.
func (m *method) mail(options []string) wording.Sentence {
	to, about := behind(options, "--to"), behind(options, "--subject")
	if m.thing == nil || m.act.Phrase != "sends %s" || !slices.Contains(m.thing.Words, "mail") || len(to) != 1 || len(about) > 1 || strings.Contains(to[0], "$") {
		return nil
	}
	if len(about) == 0 {
		return wording.Sentence{wording.Say("sends mail to %s", to[0])}
	}
	return wording.Sentence{wording.Say("sends mail to %s: %s", to[0], about[0])}
}

// turned replaces a change by what an option makes of the thing, as state=closed does.
func (m *method) turned(options []string) {
	if m.act == nil || !m.act.Partly || m.act.Makes {
		return
	}
	for i, option := range options[:max(len(options)-1, 0)] {
		if name, ok := strings.CutPrefix(option, "--"); ok {
			if act := Turned(name, options[i+1]); act != nil {
				m.act = act
				return
			}
		}
	}
}

// Turned returns what a change is called that sets this property to this value; nil if it has no
// verb of its own.
func Turned(property, value string) *Act { return known().acts[property+"="+strings.ToLower(value)] }

// byOption lets the single option that names a thing say to what something is done, if the method's name
// does not: invoke(FunctionName="nightly").
func (m *method) byOption(options []string) {
	if !m.bare || m.thing != nil {
		return
	}
	for _, option := range options {
		name, is := strings.CutPrefix(option, "--")
		if at := slices.Index(nameEnds, name[strings.LastIndexByte(name, '-')+1:]); !is || at < 0 {
			continue
		}
		noun := name[:max(0, strings.LastIndexByte(name, '-'))]
		thing, _, before := ThingOf(strings.Split(noun, "-"))
		if thing == nil || len(before) > 0 || m.thing != nil {
			m.thing = nil
			return
		}
		m.thing, m.noun = thing, noun
	}
}

// feeds are the verbs by which something is handed to what an option names.
//
//nolint:gochecknoglobals // Only looked at.
var feeds = []wording.Phrase{"publishes %s", "sends %s", "pushes %s", "posts %s", "puts %s"}

// nameEnds are the ends of options that name a thing.
//
//nolint:gochecknoglobals // Only looked at.
var nameEnds = []string{"name", "id", "ids", "arn", "identifier"}

// getters are the verbs of methods that return a thing of which the next method does something.
const getters = "get fetch find retrieve"

// methodOf reads the words of a method's name, or the last part before it (stripe.Refund.create).
func methodOf(path, words []string, split func(string) []string) (m method) {
	act, at, n := ActIn(words)
	if at != 0 {
		return m
	}
	nouns := untilJoint(words[n:])
	m.act, m.further = act, words[n+len(nouns):]
	if len(nouns) == 0 {
		nouns = split(path[max(0, len(path)-2)])
		if len(nouns) > 1 && slices.Contains(strings.Fields(getters), nouns[0]) {
			m.got, nouns = true, nouns[1:]
		}
	}
	if slices.Equal(nouns, []string{"client"}) { // the library's own
		m.bare = len(words) == n && !act.Makes && !slices.Contains(feeds, act.Phrase)
		return m
	}
	m.thing, m.many, m.holder = ThingOf(nouns)
	m.many = m.many && (len(words) > n || m.got)
	m.noun = strings.TrimSuffix(strings.Join(nouns[len(m.holder):], "-"), "s")
	return m
}

// object names what the method is about. It is false if how many things they are is not known.
func (m *method) object(operands, options []string) (object wording.Clause, ok bool) {
	if m.thing == nil {
		return object, false
	}
	object, named := objectOf(m.act, m.thing, m.noun, operands, options)
	if !named {
		return wording.Clause{Phrase: m.thing.Any}, (m.act.Makes || m.got && len(operands) == 0) && !m.many
	}
	return object, !strings.Contains(object.String(), "$")
}

// second names another thing that the method's name says, if an option names it: to or from which
// the thing goes, or whose it is.
func (m *method) second(options []string) (said wording.Sentence) {
	if len(m.further) > 1 && (m.further[0] == "to" || m.further[0] == "from") {
		said = append(said, heldBy(wording.Phrase(m.further[0]+" %s"), m.further[1:], options)...)
	}
	how := m.act.With
	if how == "in %s" {
		how = "of %s"
	}
	return append(said, heldBy(how, m.holder, options)...)
}

// heldBy names the thing of these words, if an option does.
func heldBy(how wording.Phrase, words, options []string) wording.Sentence {
	thing, _, before := ThingOf(words)
	if thing == nil {
		return nil
	}
	named := behind(options, ids(strings.TrimSuffix(strings.Join(words[len(before):], "-"), "s"))...)
	if len(named) != 1 {
		return nil
	}
	return wording.Sentence{{Phrase: how, Args: []wording.Clause{thing.called(named, false)}}}
}

// ofDocuments returns what a method does to a database, or to the collection before it or that an option
// names, as far as its name can mean nothing else: "db.orders.delete_many". Without anything given, it
// does so to every document.
func ofDocuments(name string, path, words, given, of []string) wording.Clause {
	if table := tableOf(path, given, of); table != "" {
		if does := Statement("table-" + strings.Join(words, "")); does != "" {
			return wording.Say(does, table)
		}
	}
	does := Statement(strings.Join(words, ""))
	if every := Statement("every-" + strings.Join(words, "")); every != "" && len(given) == 0 {
		does = every
	}
	if !strings.Contains(string(does), wording.Placeholder) {
		return wording.Clause{Phrase: does}
	}
	if of := collectionOf(name, path, words, given, of); of != "" {
		return wording.Say(does, of)
	}
	return wording.Clause{}
}

// keptIn says in which database of documents a method works, and on which machine, as far as the texts tell of which what
// it is called on was made: MongoClient("mongodb://db1").db("shop").
func keptIn(name string, path []string, collection bool, of []string) wording.Sentence {
	database, host := "", ""
	for _, text := range of {
		if at, err := url.Parse(text); err == nil && strings.HasPrefix(at.Scheme, "mongodb") {
			database, host = strings.Trim(at.Path, "/"), at.Host
		}
	}
	switch database = cmp.Or(databaseIn(name, path, collection, of), database); {
	case strings.Contains(database, "$"), database+host == "":
		return nil
	case host == "":
		return wording.Sentence{wording.Say("in %s", database)}
	case database == "":
		return wording.Sentence{wording.Say("on %s", host)}
	default:
		return wording.Sentence{{Phrase: "in %s", Args: []wording.Clause{wording.Say("%s on %s", database, host)}}}
	}
}

// collectedIn says the same if the method is called on a collection.
func collectedIn(name string, path, of []string) wording.Sentence {
	if len(path) < 2 || !collects(path[len(path)-2]) {
		return nil
	}
	return keptIn(name, path, true, of)
}

// databaseIn returns the database that a call on the way to a method was given, or that stands before its collection, or "".
func databaseIn(name string, path []string, collection bool, of []string) string {
	for _, part := range []string{"db", "Db", "getDb", "get_database", "database"} {
		if at := strings.LastIndex(name, "."+part+"()"); at >= 0 {
			if last := len(of) - strings.Count(name[at+len(part)+1:], "()"); last >= 0 && last < len(of) && !strings.Contains(of[last], "://") {
				return of[last]
			}
		}
	}
	const attributes = 3 // shop.orders.delete_many
	if n := len(path) - attributes; collection && n > 0 && strings.HasSuffix(name, "."+strings.Join(path[n:], ".")) {
		return path[n]
	}
	return ""
}

// collectionOf returns the collection or the index that a method is called on or that an option names, or "".
func collectionOf(name string, path, words, given, of []string) string {
	if index := behind(given, "--index"); len(index) == 1 && !strings.Contains(index[0], "$") && words[len(words)-1] == "query" {
		return index[0]
	}
	if len(words) < 2 && !strings.Contains(strings.ToLower(name), "mongo") || len(path) < 2 {
		return "" // of another library, drop may mean anything
	}
	holder := path[len(path)-2]
	switch {
	case strings.HasSuffix(name, holder+"."+path[len(path)-1]):
		return holder
	case len(of) > 0 && collects(holder):
		return of[len(of)-1]
	}
	return ""
}

// collects reports whether a part of a method's name returns a collection of documents.
func collects(part string) bool {
	return slices.Contains([]string{"collection", "getCollection", "get_collection"}, part)
}

// tableOf returns the table of items that an option of a method names, or what it is called on, or "".
func tableOf(path, given, of []string) string {
	if named := behind(given, "--TableName"); len(named) == 1 && !strings.Contains(named[0], "$") {
		return named[0]
	}
	if len(path) > 1 && path[len(path)-2] == "Table" && len(of) > 0 && !strings.Contains(of[len(of)-1], "$") {
		return of[len(of)-1]
	}
	return ""
}

// asOptions returns the arguments of a method before the named ones, and all of them with the
// names in the form of a command's options: InstanceIds is --instance-ids.
func asOptions(given []string, split func(string) []string) (operands, options []string) {
	options = slices.Clone(given)
	for i, word := range options {
		if name, ok := strings.CutPrefix(word, "--"); ok {
			options[i] = "--" + strings.Join(split(name), "-")
		}
	}
	if at := slices.IndexFunc(given, func(w string) bool { return strings.HasPrefix(w, "--") }); at >= 0 {
		given = given[:at]
	}
	return given, options
}

// collectionCall is a program text that calls one method of one collection, or of the database.
var collectionCall = regexp.MustCompile(`^\s*db(?:\.getCollection\(["']([\w.-]+)["']\)|\.(\w+)|\[["']([\w.-]+)["']\])?\.(\w+)\(([^;]*)\)\s*;?\s*$`)

// makesValue matches the making of a value among the arguments of a method: a date or an id.
var makesValue = regexp.MustCompile(`\b(?:new Date|Date\.now|ISODate|ObjectId|NumberLong|NumberInt)\([^()]*\)`)

// oneCall reports whether the arguments of a method call nothing but what makes values.
func oneCall(given string) bool {
	for was := ""; was != given; {
		was, given = given, makesValue.ReplaceAllString(given, "")
	}
	return !strings.ContainsAny(given, "()")
}

// Collection says what a line for a database of documents does, if it calls one method that is
// known: "deletes documents of orders". Otherwise it quotes the line, as shown.
func Collection(line, shown string, where wording.Clause) wording.Sentence {
	quoted := wording.Sentence{wording.Say("changes the database: %s", shown)}
	m := collectionCall.FindStringSubmatch(line)
	if m == nil || !oneCall(m[5]) {
		return quoted
	}
	name := m[1] + m[2] + m[3]
	does := Statement(m[4])
	if every := Statement("every-" + m[4]); every != "" && strings.HasPrefix(strings.ReplaceAll(m[5], " ", ""), "{}") {
		does = every
	}
	said := wording.Sentence{{Phrase: does}}
	switch {
	case does == "", (name != "") != strings.Contains(string(does), wording.Placeholder):
		return quoted
	case name != "":
		said[0] = wording.Say(does, name)
	}
	return append(said, wording.Clause{Phrase: "in %s", Args: []wording.Clause{where}})
}
