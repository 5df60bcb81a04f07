package headline

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/wording"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

// property says to which value a property of a thing is changed: "updates the price of the product
// p1: 0.01". It returns nil unless the arguments have the value, and name that one thing.
func (c *call) property(t *toolName) wording.Sentence {
	nouns, of := t.nouns, []wording.Clause(nil)
	if whole := c.propertyOf(t); whole != nil {
		nouns, of = nouns[len(nouns)-1:], []wording.Clause{*whole}
	}
	if t.queue() && t.act.Phrase != sets {
		return nil // a topic that passes on messages is no text
	}
	property, value := c.valueOf(t, nouns)
	if value == "" || !t.act.Partly || t.act.Makes || spoken.Property(property) == "" {
		return c.ownProperty(t)
	}
	if of == nil {
		of = c.bearers(t, strings.ReplaceAll(property, "-", ""))
	}
	what := wording.Clause{Phrase: spoken.Property(property)}
	if len(of) != 1 {
		return t.ofNothing(len(of)+len(nouns), what, value)
	}
	return wording.Sentence{{Phrase: t.act.Phrase, Args: []wording.Clause{what}}, {Phrase: "of %s", Args: of}, {Phrase: ": %s", Args: []wording.Clause{prose(value)}}}
}

// ofNothing says what a property is set to of which no argument says of what it is one.
func (t *toolName) ofNothing(named int, what wording.Clause, value string) wording.Sentence {
	if named != 1 || t.act.Phrase != sets {
		return nil
	}
	return withText(wording.Sentence{{Phrase: sets, Args: []wording.Clause{what}}}, value)
}

// ownProperty says to which values something is set that is no listed property and of which the nouns and a key speak:
// "updates nameservers of the domain acme.example: ns1.example".
func (c *call) ownProperty(t *toolName) wording.Sentence {
	key := strings.Join(t.nouns, "")
	if last := t.nouns[len(t.nouns)-1]; len(c.values([]string{key})) == 0 && t.act.Phrase == sets {
		key = last // the mode of set_ssl_mode
	}
	values, of := c.values([]string{key}), c.bearers(t, key)
	if t.thing != nil || len(t.others) > 0 || !t.act.Partly || t.act.Makes || len(values) == 0 || len(of) != 1 || isDocument(values[0]) {
		return nil
	}
	said := named(values)
	if sums := c.sums(key); len(sums) == 1 && spoken.Is("things-that sums", t.nouns[len(t.nouns)-1]) {
		said = sums[0]
	}
	return wording.Sentence{
		{Phrase: t.act.Phrase, Args: []wording.Clause{wording.Say(ownNoun, strings.Join(t.nouns, " "))}}, {Phrase: "of %s", Args: of}, {Phrase: ": %s", Args: []wording.Clause{said}},
	}
}

// sets says that something gets a value.
const sets wording.Phrase = "sets %s"

// valueOf returns the property that the nouns mean and its value, which may be an amount of money, or those
// of what is set on a device.
func (c *call) valueOf(t *toolName, nouns []string) (property, value string) {
	property, value = strings.Join(nouns, "-"), c.first(valueKeys(strings.Join(nouns, ""))...)
	if sum := c.sumOf(property, nouns[len(nouns)-1]); sum != "" {
		return property, sum
	}
	if to := c.first(property + "id"); value == "" && spoken.Is("things-that attributes", property) && (len(t.owner) > 0 || c.has("change", "switch")) {
		value = to // the plan_id of change_plan
	}
	if value != "" && spoken.Property(property) != "" {
		return property, value
	}
	if only := c.setting(); t.act.Phrase == sets && only != "" && c.operates() {
		return only, c.first(only)
	}
	return property, ""
}

// sumOf returns the amount of money that a property is, with its currency: the only one whose key ends with it, or
// that the tool is given; "" for any other property.
func (c *call) sumOf(property, noun string) string {
	if !spoken.Is("things-that sums", noun) {
		return ""
	}
	keys := slices.DeleteFunc(slices.Clone(c.keys), func(k string) bool { return !strings.HasSuffix(k, property) || c.first(k) == "" })
	sums := c.amount()
	if len(keys) == 1 {
		sums = c.sums(keys[0])
	}
	if len(sums) != 1 {
		return ""
	}
	return sums[0].String()
}

// setting returns the only property of which an argument has a value, or "".
func (c *call) setting() (only string) {
	for _, key := range c.keys {
		if spoken.Property(key) == "" || key == "name" || c.first(key) == "" {
			continue
		}
		if only != "" {
			return ""
		}
		only = key
	}
	return only
}

// bearers returns the things in the arguments that may have the property under the key. A device may
// be named just by its name.
func (c *call) bearers(t *toolName, key string) (of []wording.Clause) {
	for _, k := range c.keys {
		if thing := spoken.ThingAt(k); thing != nil && thing != t.thing && k != key && len(c.args[k]) > 0 && !thing.Means() {
			one := wording.Clause{Phrase: thing.One, Args: []wording.Clause{named(c.args[k])}}
			if spoken.Is("things-that generic", thing.Words[0]) {
				one = one.Args[0]
			}
			of = append(of, one)
		}
	}
	if name := c.first("name", "area", "room", strings.Join(t.nouns, "")); len(of) == 0 && name != "" && c.operates() {
		return []wording.Clause{{Text: name}}
	}
	return of
}

// propertyOf returns the thing whose property the last noun names, if the nouns before it name the
// thing and the arguments say which one: set_node_text.
func (c *call) propertyOf(t *toolName) *wording.Clause {
	thing, _, before := spoken.ThingOf(t.nouns[:max(0, len(t.nouns)-1)])
	if owner, owned := c.owner(t, ""); owned && spoken.Property(t.nouns[len(t.nouns)-1]) != "" {
		return &owner
	}
	if thing == nil || slices.ContainsFunc(before, func(w string) bool { return !c.service(w) }) || t.thing != nil && spoken.Property(t.nouns[len(t.nouns)-1]) == "" {
		return nil
	}
	names, _ := c.names(&spoken.Thing{}, false, strings.Join(t.nouns[:len(t.nouns)-1], ""))
	if len(names) != 1 || names[0] == c.first(valueKeys(t.nouns[len(t.nouns)-1])...) {
		return nil
	}
	return &wording.Clause{Phrase: c.paying(thing).One, Args: []wording.Clause{named(names)}}
}

// changed says which properties an update gives which values, if those are all that its arguments change:
// the keys that are left, besides the one that names the thing, only say where it is. Of more than two it
// says nothing.
func (c *call) changed(t *toolName, key string) (what, value wording.Clause, ok bool) {
	if t.act.Phrase != "updates %s" {
		return what, value, false
	}
	for _, k := range c.keys {
		values := c.values([]string{k})
		if k == key || len(values) == 0 || c.places(k) {
			continue
		}
		property, of := wording.Clause{Phrase: spoken.Property(k)}, prose(values[0])
		switch {
		case property.Phrase == "" || len(values) > 1 || what.Phrase == "%s and %s", ok && unclearer(of.Text, value.Text):
			return what, value, false
		case !ok:
			what, value, ok = property, of, true
		default:
			what = wording.Clause{Phrase: "%s and %s", Args: []wording.Clause{what, property}}
			value = wording.Clause{Phrase: "%s, %s", Args: []wording.Clause{value, of}}
		}
	}
	return what, value, ok
}

// unclearer reports whether one of two values is a number, of which nobody would know what it is.
func unclearer(a, b string) bool { return counts.MatchString(a) || counts.MatchString(b) }

// with adds what an update sets to what is said of it, if few arguments do so of which nothing is said yet:
// "updates the reservation r1 (party size: 6)".
func (c *call) with(said wording.Sentence, t *toolName) wording.Sentence {
	if t.act.Phrase != "updates %s" {
		return said
	}
	if len(c.inner) > 0 {
		return c.withSteps(said, t)
	}
	_, things := shapeOf(said)
	sets := slices.DeleteFunc(slices.Clone(c.keys), func(k string) bool {
		values := c.values([]string{k})
		return len(values) == 0 || c.places(k) || c.manner(k) || slices.Contains(things, named(values).String()) || slices.ContainsFunc(c.also, func(a also) bool { return strings.Join(a.words, "") == k })
	})
	if len(sets) > mostNamed || len(sets) == 1 && spoken.Property(sets[0]) != "" || c.shownToAll() || slices.ContainsFunc(sets, c.holdsMore) {
		return said
	}
	return append(slices.Clip(said), c.inBrackets(sets)...)
}

// manner reports whether an argument says how an update is done, which is told otherwise.
func (c *call) manner(key string) bool {
	return spoken.Is("texts tells", key) || c.replaces && replacing(reading.Words(c.spelled[key]))
}

// inBrackets returns the values of arguments in brackets, with the words of their keys, unless they are too long.
func (c *call) inBrackets(keys []string) wording.Sentence {
	told := make([]wording.Clause, len(keys))
	for i, k := range keys {
		told[i] = c.labelled(k, prose(c.args[k][0]))
	}
	if list := bracketed(told); utf8.RuneCountInString(list.String()) <= longestThing {
		return list
	}
	return nil
}

// holdsMore reports whether an argument holds more than a value to which something is set: a text, a name, several values,
// or all or a part of what a secret or a variable holds.
func (c *call) holdsMore(key string) bool {
	return kindOf(key) != otherKey || len(c.args[key]) > 1 || strings.HasSuffix(key, "value") || strings.HasPrefix(key, "value")
}

// places reports whether the argument under a key says where a thing is, not what becomes of it.
func (c *call) places(key string) bool {
	if spoken.Property(key) != "" {
		return key == "owner" && c.repository() != ""
	}
	return kindOf(key) == idKey || spoken.Is("things-that classes", key) || spoken.Is("places bare", key) || spoken.Is("places named", key)
}

// onlyThere reports whether the arguments say no more than where a thing is that only loses what it holds and fills
// again, such as the cache of a zone.
func (c *call) onlyThere(t *toolName) bool {
	return !t.plural && t.thing.Renews(t.act) && !t.act.Kept && !slices.ContainsFunc(c.keys, func(k string) bool {
		return !c.places(k) && slices.ContainsFunc(c.args[k], func(s string) bool { return !empty(s) })
	})
}

// valueKeys are the keys that may hold the new value of a property.
func valueKeys(property string) []string {
	keys := []string{property, "new" + property}
	if spoken.Is("things-that amounts", property) {
		keys = append(keys, spoken.List("things-that amounts")...)
	}
	return keys
}

// withoutMany returns nouns without a word at their end that says only that there are several: variable_bulk.
func withoutMany(nouns []string) []string {
	if last := len(nouns) - 1; last > 0 && spoken.Is("steps many", nouns[last]) {
		return nouns[:last]
	}
	return nouns
}

// generic reports whether a noun does not say of what kind a thing is.
func generic(noun string) bool { return spoken.Is("things-that generic", noun) }

// owned reports whether the name says of what kind the thing is, and whose.
func (t *toolName) owned() bool {
	return t.thing != nil && len(t.owner) > 0 && !slices.ContainsFunc(t.thing.Words, generic)
}

// valuedEnv takes an env that is given a value for a variable: no environment has one.
func (c *call) valuedEnv(t *toolName) {
	if slices.Equal(t.nouns, []string{"env"}) && c.first("value") != "" {
		t.thing, _, t.owner = spoken.ThingOf([]string{"env-var"})
	}
}

// ofNoCell reports whether the name speaks of a value that is no cell's.
func (t *toolName) ofNoCell() bool {
	value := slices.Contains(t.thing.Words, "range") && strings.HasPrefix(t.nouns[len(t.nouns)-1], "value")
	return value && !spoken.Is("things-that cells", cmp.Or(strings.Join(t.owner, ""), "sheet"))
}

// withValue takes what has the value that a tool sets for what the tool changes: a secret, a setting, a column of an item.
func (t *toolName) withValue() {
	t.nouns = t.nouns[:len(t.nouns)-1]
	t.thing, t.plural, t.owner = spoken.ThingOf(t.nouns)
}

// labelled says a value behind words, in the reader's language if these are known.
func labelled(words string, value wording.Clause) wording.Clause {
	if label := cmp.Or(spoken.Label(words), spoken.Label(numbering.ReplaceAllString(words, ""))); label != "" {
		return wording.Clause{Phrase: label, Args: []wording.Clause{value}}
	}
	return wording.Clause{Phrase: "%s: %s", Args: []wording.Clause{{Text: words}, value}}
}

// appended says of a tool that writes a file that it only adds to that, if its name or an argument says so.
func (c *call) appended(said wording.Sentence) wording.Sentence {
	if c.command != "" || len(said) != 2 || said[0].Phrase != "writes" || said[1].Text == "" || !c.appends() {
		return said
	}
	return wording.Sentence{{Phrase: "adds to %s", Args: said[1:]}}
}

// appends reports whether the tool's name, or an argument that says how it writes, has it put something beside what is there.
func (c *call) appends() bool {
	beside := func(w string) bool { return spoken.Is("texts beside", w) }
	return slices.ContainsFunc(c.words[min(c.server, len(c.words)):], beside) || beside(c.first("mode", "writemode", "operation", "action", "command"))
}
