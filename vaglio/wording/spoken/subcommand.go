package spoken

import (
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/wording"
)

// Subcommand says what a command line of nouns and a verb does to the things that an option
// names, or to the single one that an operand names: "stops the instance i-1 in prod". It returns
// nil if there are none, or several operands, or the words are not known. The operands are some of
// the words; split splits a name into words.
func Subcommand(operands, words []string, split func(string) []string) wording.Sentence {
	if len(operands) > 0 && compound.MatchString(operands[0]) {
		operands = append(ofCompound(strings.Split(operands[0], ":")), operands[1:]...)
	}
	if said, ok := done(operands, words, split); ok {
		return said
	}
	return property(operands, words, split)
}

// ofCompound returns the words of a subcommand up to its verb, unless a listed noun follows: what stands
// behind it is no name.
func ofCompound(words []string) []string {
	for i, word := range words[:len(words)-1] {
		thing, _, _ := ThingOf(words[i+1 : i+2])
		if act, at, _ := ActIn([]string{word}); act != nil && at == 0 && thing == nil {
			return words[:i+1]
		}
	}
	return words
}

// done says what the first verb whose noun is known does, and whether there is one.
func done(operands, words []string, split func(string) []string) (said wording.Sentence, ok bool) {
	for i, operand := range operands[:min(verbStands, len(operands))] {
		name := withoutManner(split(operand))
		act, at, n := ActIn(name)
		if at != 0 {
			continue
		}
		nouns, rest := name[n:], operands[i+1:]
		if len(nouns) == 0 {
			nouns, rest = around(operands, i, split)
		}
		thing, _, before := ThingOf(nouns)
		if thing == nil || len(before) > 0 && i == 0 {
			continue // it may be the name of a service
		}
		if i > 0 && len(name) > n {
			if len(before) > 0 {
				said = heldOf(act, thing, nouns, before, words)
				return said, said != nil // what follows is no verb
			}
			if said = part(act, thing, split(operands[i-1]), alone(rest, words)); said != nil {
				return said, true
			}
		}
		option := strings.TrimSuffix(strings.Join(nouns[len(before):], "-"), "s")
		said = heldToo(doneTo(act, thing, option, rest, words), before, words)
		return said, said != nil || Property(option) == "" // a version may be what a function has
	}
	return nil, false
}

// heldToo adds to what is done to a thing of which other it is, if an option says that.
func heldToo(said wording.Sentence, before, words []string) wording.Sentence {
	if len(said) == 0 {
		return said
	}
	return slices.Insert(said, 1, heldBy("of %s", before, words)...)
}

// withoutManner takes away a word before the verb that says only how: admin-delete-user.
func withoutManner(name []string) []string {
	if len(name) > 2 && Is("options manner", name[0]) {
		return name[1:]
	}
	return name
}

// heldOf says what is done to a thing of another one if options name both: "puts the policy p of the
// role r". It returns nil if they do not.
func heldOf(act *Act, thing *Thing, nouns, before, words []string) wording.Sentence {
	named := behind(words, ids(strings.Join(nouns[len(before):], "-"))...)
	holder := heldBy("of %s", before, words)
	if len(named) != 1 || holder == nil {
		return nil
	}
	return append(wording.Sentence{{Phrase: act.To(thing).Phrase, Args: []wording.Clause{thing.called(named, false)}}}, holder...)
}

// doneTo says what a verb does to the things that are named; nil if there are none.
func doneTo(act *Act, thing *Thing, option string, rest, words []string) wording.Sentence {
	if paid := thing.paidBack(act, words, ""); paid != nil {
		return paid
	}
	object, ok := objectOf(act, thing, option, rest, words)
	if !ok {
		return nil
	}
	return append(wording.Sentence{{Phrase: act.To(thing).Phrase, Args: []wording.Clause{object}}}, circumstances(option, words)...)
}

// paidBack says that a refund is made, if the options tell how much of what: "refunds 700: c". Some
// libraries count the smallest unit of a currency.
func (t *Thing) paidBack(act *Act, words []string, library string) wording.Sentence {
	amount, of := behind(words, "--amount"), behind(words, "--charge", "--payment-intent", "--payment", "--capture")
	if !act.Makes || !slices.Contains(t.Words, "refund") || len(amount) != 1 || len(of) != 1 {
		return nil
	}
	currency := behind(words, "--currency")
	sum := wording.Clause{Text: strings.Join(append(amount, currency...), " ")}
	switch minor := Is("sums counted-by", library); {
	case minor && len(currency) == 0:
		sum = wording.Say("%s in the smallest unit of its currency", amount[0])
	case minor:
		sum = wording.Say("%s in the smallest unit of %s", amount[0], strings.ToUpper(currency[0]))
	}
	return wording.Sentence{{Phrase: "refunds %s: %s", Args: []wording.Clause{sum, {Text: of[0]}}}}
}

// part says that a part of another thing is made, which has no name yet: "creates a deployment of
// the app a1".
func part(act *Act, thing *Thing, of, named []string) wording.Sentence {
	holder, _, _ := ThingOf(of)
	if !act.Makes || len(named) != 1 || holder == nil || holder == thing {
		return nil
	}
	whole := wording.Clause{Phrase: "of %s", Args: []wording.Clause{wording.Say(holder.One, named...)}}
	return wording.Sentence{{Phrase: act.Phrase, Args: []wording.Clause{{Phrase: thing.Any}}}, whole}
}

// around returns the nouns of a verb that stands alone, and the operands that may be names. The
// nouns precede it, after the name of the service, or else follow it, unless another verb comes:
// then the first is the name of a service.
func around(operands []string, verb int, split func(string) []string) (nouns, rest []string) {
	nouns, rest = split(strings.Join(operands[max(0, verb-longest+1):verb], " ")), operands[verb+1:]
	isVerb := func(operand string) bool {
		name := split(operand)
		act, at, n := ActIn(name)
		return at == 0 && (!act.Leads || n == len(name)) // report-now is a name
	}
	if thing, _, _ := ThingOf(nouns); thing != nil || len(rest) == 0 || slices.ContainsFunc(rest, isVerb) || slices.ContainsFunc(operands[:verb], isVerb) {
		return nouns, rest
	}
	if thing, _, before := ThingOf(split(rest[0])); thing != nil && len(before) == 0 && rest[0] == strings.ToLower(rest[0]) {
		return split(rest[0]), rest[1:]
	}
	return nouns, rest
}

// compound is how some programs write a noun and a verb as one word: "addons:create".
var compound = regexp.MustCompile(`^[a-z][a-z-]*(:[a-z][a-z-]*)+$`)

// objectOf returns what is done to a thing by its names, under its own option, alone among the
// operands, or under --name. One that is made needs no name.
func objectOf(act *Act, thing *Thing, option string, operands, words []string) (object wording.Clause, ok bool) {
	named := behind(words, ids(option)...)
	several := len(named) > 1 // all that follows such an option is a name
	if len(named) == 0 {
		named = alone(operands, words)
	}
	if len(named) == 0 { // the KV namespace that --namespace-id names
		named = behind(words, ids(option[strings.LastIndex(option, "-")+1:])...)
	}
	if len(named) == 0 {
		named = behind(words, "--name", "-n", "--id")
	}
	if len(named) == 0 && act.Makes && len(behind(words, titles()...)) > 0 {
		return wording.Clause{Phrase: thing.Any}, true
	}
	if len(named) == 1 {
		named = []string{strings.TrimPrefix(named[0], "name=")}
		if slices.ContainsFunc(thing.Words, func(w string) bool { return Is("options assigned", w) }) {
			named[0], _, _ = strings.Cut(named[0], "=")
		}
	}
	return thing.called(named, several), len(named) == 1 || several
}

// property says what is done to a property of a thing whose name only an option tells: "sets
// desired-capacity of web". The verb stands first in its word.
func property(operands, words []string, split func(string) []string) wording.Sentence {
	for i, operand := range operands[:min(verbStands, len(operands))] {
		name := split(operand)
		act, at, n := ActIn(name)
		if i == 0 || at != 0 || len(name) <= n || Is("options manner", name[n]) || len(alone(operands[i+1:], words)) > 0 {
			continue
		}
		of := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !identifies.MatchString(w) })
		if len(of) != 1 {
			return nil
		}
		option, _, _ := strings.Cut(of[0], "=")
		said, what := propertyOf(act, untilJoint(name[n:]), option, behind(words, option))
		rest := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == of[0] })
		if at := slices.IndexFunc(rest, func(w string) bool { return strings.HasPrefix(w, "-") }); at >= 0 && strings.HasSuffix(what, "attribute") {
			return said.And(": %s", strings.TrimLeft(strings.Join(rest[at:], " "), "-")) // which one, only the options say
		}
		return append(said, circumstances(what, rest)...)
	}
	return nil
}

// propertyOf says what is done to the thing that the option names, if that is what the nouns say, or
// else to a property of it: "updates code of the function resize".
func propertyOf(act *Act, nouns []string, option string, named []string) (said wording.Sentence, what string) {
	what = strings.Join(nouns, "-")
	if slices.Contains(ids(what), option) {
		return wording.Sentence{{Phrase: act.Phrase, Args: []wording.Clause{{Phrase: "the %s %s", Args: []wording.Clause{{Text: strings.ReplaceAll(what, "-", " ")}, wording.List(named)}}}}}, what
	}
	last := len(nouns) - 1
	part, whole, before := partOf(nouns[last]), (*Thing)(nil), []string(nil)
	if last > 0 && slices.Contains(ids(strings.Join(nouns[:last], "-")), option) {
		whole, _, before = ThingOf(nouns[:last])
	}
	if part == "" || whole == nil || len(before) > 0 {
		return wording.Sentence{wording.Say(act.Phrase, what), {Phrase: "of %s", Args: []wording.Clause{wording.List(named)}}}, what
	}
	of := []wording.Clause{whole.called(named, len(named) > 1)}
	return wording.Sentence{{Phrase: act.Phrase, Args: []wording.Clause{{Phrase: part}}}, {Phrase: "of %s", Args: of}}, nouns[last]
}

// partOf says what belongs to another thing and has no name of its own: "the code", "a policy".
func partOf(noun string) wording.Phrase {
	if thing := ThingAt(noun); thing != nil && Property(noun) == "" {
		return thing.Any
	}
	return Property(noun)
}

// untilJoint returns the words before one that joins another thing to them.
func untilJoint(words []string) []string {
	if at := slices.IndexFunc(words, func(w string) bool { return Is("options joints", w) }); at > 0 {
		return words[:at]
	}
	return words
}

// identifies is an option whose value is the name of something.
var identifies = regexp.MustCompile(`^--(bucket|[a-z-]+-(name|id|ids|identifier|arn|url))(=|$)`)

// ids are the options under which a command names a thing.
func ids(noun string) []string {
	out := []string{"--" + noun}
	for _, end := range []string{"s", "-name", "name", "-id", "-ids", "-identifier", "-url", "-arn"} {
		out = append(out, "--"+noun+end)
	}
	for _, pair := range known().lists["options short"] {
		if short, long, _ := strings.Cut(pair, "="); long == "--"+noun {
			out = append(out, short)
		}
	}
	return out
}

// titles are the options that say what something new is about.
func titles() []string { return []string{"--title", "--summary", "--subject"} }

// placeOf returns what an option for a place names: not the variables of an environment.
func placeOf(words []string, noun string) []string {
	return slices.DeleteFunc(slices.Clone(behind(words, ids(noun)...)), func(at string) bool { return strings.ContainsAny(at, "={") })
}

// circumstances says where something is done, and to which value a property is set, by the options
// that tell. The object's own option says neither.
func circumstances(object string, words []string) wording.Sentence {
	var out wording.Sentence
	for _, noun := range known().lists["options place"] {
		if at := placeOf(words, noun); !strings.HasSuffix(object, noun) && len(at) > 0 && len(out) == 0 {
			out = out.And("in %s", at[0])
		}
	}
	if title := behind(words, titles()...); len(title) > 0 {
		return out.And(": %s", strings.Join(title, " "))
	}
	var telling []string
	for _, w := range words {
		option, _, _ := strings.Cut(w, "=")
		if value := behind([]string{w}, option); Is("options telling", strings.TrimLeft(option, "-")) && strings.HasPrefix(w, "-") {
			if len(value) == 0 {
				value = behind(words, option)
			}
			said := append([]string{strings.TrimLeft(option, "-")}, value[:min(1, len(value))]...)
			if said[0] == object {
				said = said[1:]
			}
			telling = append(telling, strings.Join(said, " "))
		}
	}
	if len(telling) == 0 {
		return out
	}
	return append(out, wording.Clause{Phrase: ": %s", Args: []wording.Clause{wording.List(telling)}})
}

// called names one thing, or several.
func (t *Thing) called(names []string, several bool) wording.Clause {
	phrase := t.One
	if several {
		phrase = t.Several
	}
	return wording.Clause{Phrase: phrase, Args: []wording.Clause{wording.List(names)}}
}

// alone returns the operands that do not follow an option, whose value they may be.
func alone(operands, words []string) []string {
	return slices.DeleteFunc(slices.Clone(operands), func(operand string) bool {
		at := slices.Index(words, operand)
		return at > 0 && strings.HasPrefix(words[at-1], "-") && !strings.Contains(words[at-1], "=")
	})
}

// verbStands is how many operands may be the verb or precede it.
const verbStands = 5

// behind returns the words after one of the options, up to the next option: several, unless it is for
// just one name.
func behind(words []string, options ...string) []string {
	for at, w := range words {
		if option, value, ok := strings.Cut(w, "="); ok && slices.Contains(options, option) {
			return []string{value}
		}
		if slices.Contains(options, w) {
			words = words[at+1:]
			if end := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "-") }); end >= 0 {
				words = words[:end]
			}
			if strings.HasPrefix(w, "--") && identifies.MatchString(w) && !strings.HasSuffix(w, "s") {
				words = words[:min(1, len(words))]
			}
			return words
		}
	}
	return nil
}

// cmdlet is how PowerShell names its commands: a verb, and what it does that to.
var cmdlet = regexp.MustCompile(`^([A-Z][a-z]+)-([A-Z]\w+)$`)

// Cmdlet says what a command of PowerShell does by its name, to the one thing that an option or
// its first word names: "stops the virtual machine web". It returns nil if that is not known. verb
// is the name's verb in lower case.
func Cmdlet(name string, words []string, split func(string) []string) (said wording.Sentence, verb string) {
	m := cmdlet.FindStringSubmatch(name)
	if m == nil {
		return nil, ""
	}
	act, at, _ := ActIn([]string{strings.ToLower(m[1])})
	thing, _, before := ThingOf(split(m[2]))
	if at != 0 || thing == nil {
		return nil, ""
	}
	_, options := asOptions(dashed(words), split)
	noun := strings.Join(split(m[2])[len(before):], "-")
	named := behind(options, append(ids(noun), "--name", "--identity", "--id")...)
	if len(named) == 0 && len(words) > 0 && !strings.HasPrefix(words[0], "-") {
		named = words[:1]
	}
	object := thing.called(named, false)
	host := behind(options, "--computer-name")
	switch {
	case len(named) == 0 && !slices.ContainsFunc(words, func(w string) bool { return !strings.HasPrefix(w, "-") && !slices.Contains(host, w) }):
		object = wording.Clause{Phrase: thing.Several, Args: []wording.Clause{{Phrase: "that another command lists"}}}
	case len(named) != 1:
		return nil, ""
	}
	said = wording.Sentence{{Phrase: act.To(thing).Phrase, Args: []wording.Clause{object}}}
	if said = append(said, circumstances(noun, options)...); len(host) > 0 {
		said = append(said, wording.Clause{Phrase: "on %s", Args: []wording.Clause{wording.List(host)}})
	}
	return said, strings.ToLower(m[1])
}

// dashed returns the words with two dashes before each option.
func dashed(words []string) []string {
	out := slices.Clone(words)
	for i, w := range out {
		if len(w) > 1 && w[0] == '-' && w[1] != '-' {
			out[i] = "-" + w
		}
	}
	return out
}
