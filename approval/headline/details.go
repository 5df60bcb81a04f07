package headline

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/wording"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

// told adds the first of the arguments to what the judge says by the name alone.
func (c *call) told(said wording.Sentence) wording.Sentence {
	if slices.ContainsFunc(said, func(c wording.Clause) bool { return c.Phrase == "(%s)" }) {
		return said
	}
	return append(slices.Clip(said), bracketed(c.details(mostNamed, titleKey, idKey, otherKey))...)
}

// details returns short values of up to most arguments of these kinds, ordered by weight and kind. A
// mere number is said with what it counts: nobody knows what a 0 is.
func (c *call) details(most int, kinds ...int) []wording.Clause {
	return c.short(true, slices.SortedFunc(slices.Values(c.keys), func(a, b string) int {
		return cmp.Or(c.rank(a)-c.rank(b), cmp.Compare(kindOf(a), kindOf(b)), c.digits(a)-c.digits(b), startFirst(a, b))
	}), most, kinds...)
}

// rank is [rankOf], of each argument once.
func (c *call) rank(key string) int {
	rank, ok := c.ranks[key]
	if !ok {
		rank = rankOf(cmp.Or(c.spelled[key], key))
		c.ranks[key] = rank
	}
	return rank
}

// digits returns 1 if an argument is just numbers, which say less than words.
func (c *call) digits(key string) int {
	if slices.ContainsFunc(c.args[key], func(s string) bool { return strings.Trim(s, "0123456789.") != "" }) {
		return 0
	}
	return 1
}

// short returns short values of up to most of the arguments with these keys that are of these kinds. counted
// says a number that is not an id with the words of its key.
func (c *call) short(counted bool, keys []string, most int, kinds ...int) []wording.Clause {
	var out []wording.Clause
	for _, key := range keys {
		values := slices.DeleteFunc(slices.Clone(c.args[key]), untold)
		if len(out) == most || len(values) == 0 || !slices.Contains(kinds, kindOf(key)) {
			continue
		}
		s := c.wholeOf(key, values)
		if slices.ContainsFunc(out, func(o wording.Clause) bool { return o.String() == s.String() && strings.Contains(s.Text, "/") }) {
			continue
		}
		if counted && kindOf(key) == otherKey && counts.MatchString(s.String()) {
			s = c.labelled(key, s)
		}
		if text := s.String(); utf8.RuneCountInString(text) <= longestProse && !strings.Contains(text, "\n") {
			out = append(out, s)
		}
	}
	return out
}

// counts matches a number or a date, which says nothing without what it is.
var counts = regexp.MustCompile(`^([0-9.]*|\d{4}-\d\d-\d\d.*)$`)

// wholeOf returns the values under a key as a clause: amounts with their currencies, and a repository, or its owner, with both
// names.
func (c *call) wholeOf(key string, values []string) wording.Clause {
	if sums := c.sums(key); slices.Contains(amounts(), key) && len(sums) > 0 {
		return several(sums)
	}
	if where := c.repository(); where != values[0] && strings.Contains(where, "/") && slices.Contains(strings.Split(where, "/"), values[0]) {
		return wording.Clause{Text: where}
	}
	return named(values)
}

// labelled says the value of an argument behind the words of its key.
func (c *call) labelled(key string, value wording.Clause) wording.Clause {
	under, of, within := strings.Cut(c.spelled[key], " ")
	switch {
	case within && spoken.Is("options narrow", under) && spoken.Is("texts run", of): // filter_expr
		return value
	case within && spoken.Is("options narrow", under):
		return wording.Clause{Phrase: "where %s", Args: []wording.Clause{labelled(of, value)}}
	case within && spoken.Is("texts conditions", under): // what the rule is for
		return labelled(of, value)
	default:
		return labelled(c.spelled[key], value)
	}
}

// numbering matches the end of a key that says only that something is told by its number or name.
var numbering = regexp.MustCompile(` (i?id|number|key|name|slug)s?$`)

// completed adds to what a tool does the arguments on which a decision may hang and which the sentence leaves out.
func (c *call) completed(said wording.Sentence) wording.Sentence {
	at, open := c.openAt(said)
	if !open {
		return said
	}
	var told []wording.Clause
	if at >= 0 {
		told, said = said[at].Args, said[:at]
	}
	text, keys := strings.ToLower(append(slices.Clip(said), told...).String()), slices.Clone(c.keys)
	slices.SortStableFunc(keys, func(a, b string) int { return c.rank(a) - c.rank(b) })
	for _, k := range keys {
		if len(told) == mostNamed || !c.weighty(k, said) || !c.leftOut(k, text) {
			continue
		}
		told = append(told, c.labelled(k, named(c.args[k])))
		if utf8.RuneCountInString(bracketed(told).String()) > longestThing {
			told = told[:len(told)-1]
		}
	}
	return append(slices.Clip(said), bracketed(told)...)
}

// openAt reports whether more may be said behind a sentence about a tool, and where its brackets stand; -1 if it has none.
func (c *call) openAt(said wording.Sentence) (at int, open bool) {
	at = slices.IndexFunc(said, func(c wording.Clause) bool { return c.Phrase == "(%s)" })
	switch {
	case c.command+c.code != "", len(said) == 0, at >= 0 && at < len(said)-1:
		return at, false
	default:
		return at, !strings.HasPrefix(string(said[0].Phrase), "calls the tool") && (len(said) == 1 || said[1].Phrase != wording.ByTheTool)
	}
}

// weighty reports whether an argument says whom, how much, where, or what the thing is called. Of a thing whose noun says
// little, anything counts.
func (c *call) weighty(key string, said wording.Sentence) bool {
	odd := len(said[0].Args) > 0 && slices.Contains([]wording.Phrase{"the %s %s", "the %s", ownNoun}, said[0].Args[0].Phrase)
	first, _, _ := strings.Cut(c.spelled[key], " ")
	rule := len(said) > 1 && said[1].Phrase == "that forwards mail to %s" && spoken.Is("texts conditions", first)
	plain := (c.rank(key) == rankOf("") && kindOf(key) == otherKey || c.tellsWhich(key)) && !spoken.Is("texts silent", key)
	return c.rank(key) < rankOf("name") || rule || plain || odd && c.rank(key) < rankOf("text") || slices.Contains([]string{"name", "title", "summary", "subject"}, key)
}

// tellsWhich reports whether a key is the identifier of a listed thing: add_label_ids.
func (c *call) tellsWhich(key string) bool {
	words := strings.Fields(c.spelled[key])
	thing, _, _ := spoken.ThingOf(words[:max(0, len(words)-1)])
	return thing != nil || strings.HasSuffix(key, "id") && spoken.Property(key) != ""
}

// leftOut reports whether a sentence does not tell what an argument says, unless that is only how something is done, or
// with whose account.
func (c *call) leftOut(key, text string) bool {
	values := slices.DeleteFunc(slices.Clone(c.args[key]), func(s string) bool { return untold(s) || nameless(s) })
	switch {
	case len(values) == 0, c.spelled[key] == "", key == "kind", c.isAction(key), kindOf(key) == formKey, c.keeps(key), isKind(key, values[0]), spoken.Is("texts tells", key):
		return false
	case spoken.Is("texts mutations", key) && len(c.mutations) > 0, spoken.Is("sums currencies", key), slices.Contains(amounts(), key) && c.sumTold(key, text):
		return false
	case c.rank(key) == rankOf("to") && slices.ContainsFunc(strings.Fields(c.spelled[key]), c.service):
		return false
	}
	begins := strings.ToLower(strings.TrimSuffix(prose(values[0]).Text, " …"))
	if slices.ContainsFunc(values, func(v string) bool { return spoken.Turned(key, v) != nil }) {
		return false // the verb says it
	}
	return !stands(text, begins) && !slices.ContainsFunc(values, func(v string) bool {
		return strings.Contains(v, "\n") || utf8.RuneCountInString(v) > longestThing || isDocument(v)
	})
}

// isKind reports whether an argument says of which kind a thing is, and not what it is called.
func isKind(key, value string) bool {
	thing, _, _ := spoken.ThingOf(reading.Words(value))
	return spoken.Is("things-that classes", key) && (strings.HasSuffix(key, "type") || thing != nil)
}

// keeps reports whether the value under a key may be a secret that nobody recognizes.
func (c *call) keeps(key string) bool {
	return strings.HasPrefix(key, "value") && c.speaksOf("texts keeping")
}

// sumTold reports whether a sentence tells the amount of money under a key.
func (c *call) sumTold(key, text string) bool {
	return slices.ContainsFunc(c.sums(key), func(s wording.Clause) bool { return strings.Contains(text, strings.ToLower(s.String())) })
}

// about returns what the arguments say about a thing that has no name, or about several
// things.
func (c *call) about(several bool) wording.Clause {
	if several {
		if told := bracketed(c.details(mostNamed, idKey)); told != nil {
			return told[0]
		}
		return wording.Clause{}
	}
	told := c.short(false, slices.SortedFunc(slices.Values(c.keys), func(a, b string) int { return cmp.Or(c.rank(a)-c.rank(b), strings.Compare(a, b)) }), 1, titleKey)
	if part := c.first(spoken.List("sums percents")...); part != "" {
		told = append(told, wording.Clause{Text: strings.TrimPrefix(c.first("code")+", ", ", ") + part + " %"})
	}
	if sum := c.amount(); len(sum) == 1 {
		if to, _ := c.paid(); len(to) == 1 && c.has("transaction", "transactions") {
			sum[0] = wording.Clause{Phrase: "%s, %s", Args: []wording.Clause{sum[0], {Text: to[0]}}}
		}
		told = append(told, sum[0])
	}
	told = append(told, c.short(false, slices.DeleteFunc(c.beginning(), c.counts), mostNamed, otherKey)...) // where it is is not what it is about
	where := c.repository()
	told = slices.DeleteFunc(told, func(s wording.Clause) bool { return where == s.String() || strings.HasSuffix(where, "/"+s.String()) }) // it is said separately
	if len(told) == 0 {
		return wording.Clause{}
	}
	at := max(0, slices.IndexFunc(told, func(s wording.Clause) bool { return strings.Trim(s.String(), "0123456789.") != "" }))
	if told[at].Text != "" {
		told[at] = prose(told[at].Text)
	}
	return wording.Clause{Phrase: ": %s", Args: told[at : at+1]}
}

// counts reports whether an argument is a mere number, and no amount.
func (c *call) counts(key string) bool { return c.digits(key) == 1 && c.rank(key) != rankOf("amount") }

// The kinds of arguments, in the order in which they are shown.
const (
	titleKey = iota // its name or text
	idKey           // its identifier
	otherKey
	formKey // how something is written, which nobody needs to know first
)

// kindOf returns the kind of an argument, judging by its key.
func kindOf(key string) int {
	switch {
	case slices.Contains([]string{"title", "subject", "topic", "summary", "shortdescription", "name", "fullname", "lastname", "text", "message", "body", "content"}, key):
		return titleKey
	case slices.ContainsFunc([]string{"id", "ids", "key", "name", "owner"}, func(end string) bool { return strings.HasSuffix(key, end) }):
		return idKey
	case spoken.IsEnd("texts forms", key):
		return formKey
	default:
		return otherKey
	}
}

// filled adds the arguments to the judge's sentence about a tool, if that says only that
// the tool reads, or that nothing is known of it.
func (c *call) filled(said wording.Sentence) wording.Sentence {
	if said[0].Phrase == idleLine { // The consequence says that no change was found.
		return append(wording.Sentence{c.line(said[0].Args[0])}, said[1:]...)
	}
	switch {
	case said[0].Phrase == byGraphQL:
		return c.mutates(said)
	case said[0].Phrase == onPage && len(said) == 1:
		return withText(said, cmp.Or(c.code, c.first(spoken.List("texts scripts")...)))
	case c.command != "" && said[0].Phrase == "follows instructions that are installed here": // a command of the agent's own client
		return withText(said, c.command)
	case c.command != "":
		return said
	case said[0].Phrase == "calls the tool %s, of which nothing is known":
		return c.told(c.called())
	case len(said) > 1:
		return said
	default:
		return c.briefed(said)
	}
}

// onPage is what the judge says of a script that is not known to look only.
const onPage wording.Phrase = "runs a script on a web page"

// briefed adds what the arguments say of this call to a sentence of one clause that says only what such a tool does.
func (c *call) briefed(said wording.Sentence) wording.Sentence {
	brief := c.brief()
	switch {
	case said[0].Phrase == "reads", said[0].Phrase == "reads by the tool %s", said[0].Phrase == "reads secrets by the tool %s":
		return c.told(said)
	case said[0].Phrase == "stays with the agent and its user: %s" && brief != "":
		return append(slices.Clip(said), bracketed([]wording.Clause{prose(brief)})...)
	case said[0].Phrase == "stays with the agent and its user: %s":
		return c.told(said)
	case c.server > 0, len(said[0].Args) > 0, said[0].Text != "": // no tool of the agent's own client
		return said
	case brief != "":
		return withText(said, brief)
	default:
		return c.told(said)
	}
}

// brief returns what a tool is to do this time in the words of the agent, or "".
func (c *call) brief() string { return c.first(spoken.List("texts briefs")...) }

// program returns the text of what is run, unless it is a line of a shell.
func program(run *reading.Command) string {
	if run.IsLine() {
		return ""
	}
	return run.Text
}

// line says that a line of a program runs or, of a tool that is given the program, how that begins. In
// which language it is, nobody knows if it is read in several.
func (c *call) line(of wording.Clause) wording.Clause {
	switch {
	case c.code == "":
		return wording.Clause{Phrase: "runs a line of %s", Args: []wording.Clause{of}}
	case of.Phrase != "", strings.Contains(strings.TrimSpace(c.code), "\n"):
		return wording.Clause{Phrase: "runs code: %s", Args: []wording.Clause{prose(c.code)}}
	default:
		return wording.Clause{Phrase: "runs a line of %s: %s", Args: []wording.Clause{of, prose(c.code)}}
	}
}

// ByWeight returns the keys of arguments in the order in which people want to see them: what runs,
// who gets it, how much, where it is and what it is called come first, switches and long texts
// last.
func ByWeight(args map[string]any) []string {
	return slices.SortedFunc(maps.Keys(args), func(a, b string) int {
		return cmp.Or(weightOf(a, args[a])-weightOf(b, args[b]), strings.Compare(a, b))
	})
}

// weights are the lists of keys by weight. Keys of no list stand before the texts.
func weights() []string { return []string{"runs", "whom", "much", "where", "called", "", "texts"} }

// longText is the number of characters from which a text goes after everything else.
const longText = 120

// weightOf returns the position of an argument among the others.
func weightOf(key string, value any) int {
	last := len(weights())
	switch v := value.(type) {
	case bool, nil:
		return last
	case string:
		if utf8.RuneCountInString(v) > longText || strings.Contains(v, "\n") {
			return last + 1
		}
	default:
	}
	return rankOf(key)
}

// rankOf returns the position of a key among the lists of weights: of the whole key, or else of
// its last word.
func rankOf(key string) int {
	ends := append([]string{reading.Normal(key)}, lastOf(reading.Words(key))...)
	for _, end := range ends {
		for rank, list := range weights() {
			if spoken.Is("weights "+list, end) {
				return rank
			}
		}
	}
	return slices.Index(weights(), "")
}

// lastOf returns the last word, and what it is without an id.
func lastOf(words []string) []string {
	if n := len(words); n > 1 && slices.Contains([]string{"id", "ids", "name", "number"}, words[n-1]) {
		return []string{words[n-2], words[n-1]}
	} else if n > 0 {
		return words[n-1:]
	}
	return nil
}

// assignee returns the value of the only other argument of what is assigned: to whom, or nil.
func (c *call) assignee(t *toolName, key string) *wording.Clause {
	to := c.rest(key)
	if len(to) != 1 || !slices.Contains([]wording.Phrase{"assigns %s", "reassigns %s"}, t.act.Phrase) {
		return nil
	}
	return &wording.Clause{Text: to[0]}
}

// rest returns the values of the only argument besides one, if it says what something is, not where.
func (c *call) rest(but string) (values []string) {
	for _, key := range c.keys {
		switch {
		case key == but || len(c.args[key]) == 0:
		case values != nil || c.rank(key) >= rankOf("text") || spoken.Is("places bare", key) || spoken.Is("places named", key):
			return nil
		default:
			values = c.args[key]
		}
	}
	return values
}
