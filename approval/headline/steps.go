package headline

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/wording"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

// step is what a tool does that is given a list of operations: one of them, or several that differ only in
// their object.
type step struct {
	// words are the verb, and the nouns if it has any.
	words []string
	// args are those of the operation; several have a list for each.
	args map[string]any
	// times is how many operations it is.
	times int
	said  wording.Sentence
	undo  operation.Reversibility
}

// mostSteps is how many kinds of operations are read, those that cannot be undone before all others: each takes a
// reading of its own.
const mostSteps = 32

// stepped says what a tool does that is given a list of operations, each with its verb: the worst of them, and how
// many others there are. It returns nil unless the tool's name leaves it to the list what is done.
func (c *call) stepped(worst *one) (said wording.Sentence, others int) {
	switch {
	case worst == nil:
		return nil, 0
	case worst.says(byGraphQL):
		c.steps = c.mutations
	case c.command != "" || !worst.byName() && !worst.unheardOf():
		return nil, 0
	}
	for i := range c.steps {
		if i < mostSteps {
			c.steps[i].read(c)
		}
		others += c.steps[i].times
	}
	first, open := heaviest(c.steps)
	if first == nil {
		return nil, 0
	}
	worst.open()
	worst.undo, worst.general = cmp.Or(first.undo, worst.undo), open
	if c.server > 0 && worst.reach == "" {
		worst.reach = operation.ReachShared
	}
	return first.said, others - first.times
}

// heaviest returns the step that can be undone least of those that are known, and whether anything about any is open.
func heaviest(steps []step) (first *step, open bool) {
	for i := range steps {
		s := &steps[i]
		open = open || s.said == nil || s.undo == ""
		if s.said != nil && (first == nil || undoRank(s.undo) > undoRank(first.undo)) {
			first = s
		}
	}
	return first, open
}

// read finds out what the step does, and whether it can be undone. What the tool works in says nothing of a step
// whose verb stands alone: it is no name of its object.
func (s *step) read(c *call) {
	inner, all := s.call(c, s.args), s.call(c, s.with(c))
	did := one{kind: operation.KindUnknown}
	if said := all.documents(&did); said != nil {
		said[0].Phrase = s.eachOf(said[0].Phrase)
		s.said, s.undo = said, did.undo
		return
	}
	does, _, n := inner.leading()
	if does == nil {
		return
	}
	own, key := inner.ends([]string{""}, func(string) bool { return false })
	of := all
	if n == len(s.words) {
		of = inner
	}
	said, t := of.object()
	switch {
	case n == len(s.words) && len(own) > 0 && key != "":
		said, t = wording.Sentence{{Phrase: does.Phrase, Args: []wording.Clause{named(own)}}}, &toolName{act: does}
	case said == nil:
		said, _ = inner.ownWords()
		t = &toolName{act: does}
	}
	if s.said = said; said != nil {
		s.undo = t.alone()
	}
}

// eachOf returns what is done to one document in the form for several, if the step is for several.
func (s *step) eachOf(does wording.Phrase) wording.Phrase {
	switch {
	case s.times > 1 && does == "deletes a document of %s":
		return "deletes documents of %s"
	case s.times > 1 && does == "updates a document of %s":
		return "updates documents of %s"
	default:
		return does
	}
}

// with returns the arguments of the step, and those that all steps share.
func (s *step) with(c *call) map[string]any {
	args := maps.Clone(s.args)
	if len(c.inner) > 0 {
		return args // what names the whole names no part of it
	}
	for _, key := range c.keys {
		if values := c.args[key]; len(values) == 1 && args[key] == nil && !spoken.Is("texts run", key) {
			args[key] = values[0]
		}
	}
	return args
}

// call returns the step as a call of a tool of the same server.
func (s *step) call(c *call, args map[string]any) *call {
	return callOf(vaglio.Proposal{Executor: strings.Join(slices.Concat(c.words[:c.server], []string{"", ""}, s.words), "_"), Args: args})
}

// alone returns whether what the verb does to the thing can be undone, going by the name alone; empty if that
// says nothing of it.
func (t *toolName) alone() operation.Reversibility {
	thing := cmp.Or(t.thing, &spoken.Thing{})
	switch {
	case t.ends(false), (t.act.Kept || t.act.Lasts) && !t.leaves(thing):
		return operation.Irreversible
	case t.act.Turns, t.act.Partly && t.thing != nil && !thing.Final:
		return operation.Partial
	default:
		return ""
	}
}

// stepsOf returns the operations that a tool is given a list of, with those together that do the same to several
// things. There are none if the tool's name says itself what is done.
func (c *call) stepsOf(args map[string]any) (steps []step) {
	nouns, open := c.leftOpen(c.words[min(c.server, len(c.words)):])
	if !open {
		c.inner = stepsIn(args, nil)
		return nil
	}
	return stepsIn(args, nouns)
}

// stepsIn returns the operations that lists among the arguments hold. Nouns are what each of them is done to, if the
// tool's name says that.
func stepsIn(args map[string]any, nouns []string) (steps []step) {
	at := map[string]int{}
	for _, list := range lists(args) {
		for _, e := range list {
			part, _ := e.(map[string]any)
			if s, ok := stepOf(part); ok && (nouns == nil || len(s.words) == 1) {
				if nouns != nil {
					s.words, s.args = append(s.words, nouns...), held(s.args)
				}
				steps = joinedBy(steps, s, at)
			}
		}
	}
	slices.SortStableFunc(steps, func(a, b step) int { return a.rank() - b.rank() })
	return steps
}

// withSteps says what the operations of a list do to the one thing that an update is of: the worst of them, and how many others.
func (c *call) withSteps(said wording.Sentence, t *toolName) wording.Sentence {
	all := 0
	for i := range c.inner[:min(mostSteps, len(c.inner))] {
		c.inner[i].read(c)
		all += c.inner[i].times
	}
	first, _ := heaviest(c.inner)
	if first == nil {
		return said
	}
	t.ruins = first.undo == operation.Irreversible
	said = slices.Concat(said, wording.Sentence{{Phrase: ":"}}, first.said)
	if more := all - first.times; more > 0 {
		return said.And("and %s more", strconv.Itoa(more))
	}
	return said
}

// leftOpen reports whether a tool's name leaves it to a list what is done, and returns to what, if it says that:
// change_record_sets.
func (c *call) leftOpen(own []string) (nouns []string, open bool) {
	named := func(w string) bool { return spoken.Is("steps names", w) }
	if slices.ContainsFunc(own, func(w string) bool { return spoken.Is("steps many", w) }) || !slices.ContainsFunc(own, func(w string) bool { return !named(w) }) {
		return nil, true
	}
	act, at, n := c.verb()
	if act == nil || n == 0 || !named(c.words[at]) {
		return nil, false
	}
	thing, several, before := spoken.ThingOf(c.words[at+n:])
	if thing == nil || !several || len(before) > 0 {
		return nil, false
	}
	return c.words[at+n:], true
}

// held returns what the only object among the arguments holds, which is the thing itself, or else the arguments.
func held(args map[string]any) map[string]any {
	for _, v := range args {
		if inner, ok := v.(map[string]any); ok && len(args) == 1 {
			return inner
		}
	}
	return args
}

// lists returns the lists of operations among the arguments, and those in an object that holds nothing else.
func lists(args map[string]any) (all [][]any) {
	for _, key := range slices.Sorted(maps.Keys(args)) {
		switch v := args[key].(type) {
		case []any:
			if spoken.Is("steps keys", reading.Normal(key)) {
				all = append(all, v)
			}
		case map[string]any:
			if len(v) == 1 {
				all = append(all, lists(v)...)
			}
		}
	}
	return all
}

// rank returns 0 for an operation whose verb may say that it cannot be undone, and 1 for any other.
func (s *step) rank() int {
	act, _, _ := spoken.ActIn(s.words)
	if act == nil || act.Kept || act.Final || act.Lasts || act.Ends {
		return 0
	}
	return 1
}

// stepOf reads one operation: an object with an argument for the verb, or one whose only key is the verb.
func stepOf(part map[string]any) (step, bool) {
	for _, key := range slices.Sorted(maps.Keys(part)) {
		verb, args := key, maps.Clone(part)
		inner, _ := part[key].(map[string]any)
		switch {
		case spoken.Is("steps verbs", reading.Normal(key)):
			verb, _ = part[key].(string)
			delete(args, key)
		case len(part) == 1 && inner != nil:
			args = inner
		default:
			continue
		}
		args = opened(args)
		words := reading.Words(verb)
		if act, _, _ := spoken.ActIn(words); act != nil || spoken.Statement(strings.Join(words, "")) != "" {
			return step{words: words, args: args, times: 1}, true
		}
	}
	return step{}, false
}

// opened returns arguments with those that lie in an envelope among them.
func opened(args map[string]any) map[string]any {
	out := maps.Clone(args)
	for key, value := range args {
		if inner, ok := value.(map[string]any); ok && spoken.Is("texts envelopes", reading.Normal(key)) {
			delete(out, key)
			maps.Copy(out, inner)
		}
	}
	return out
}

// joinedBy adds a step to a list, or to the step of it that does the same to another thing. at is where the list has
// what is done to things that are described by these keys.
func joinedBy(steps []step, s step, at map[string]int) []step {
	kind := strings.Join(append(slices.Sorted(maps.Keys(s.args)), s.words...), "\x00")
	i, ok := at[kind]
	if !ok {
		at[kind] = len(steps)
		return append(steps, s)
	}
	same := &steps[i]
	same.times++
	for key, value := range s.args {
		if before, ok := same.args[key].([]any); ok && same.times > 2 {
			same.args[key] = append(before, value)
		} else {
			same.args[key] = []any{same.args[key], value}
		}
	}
	return steps
}

// specified takes what an argument says the tool does, and to what, for its name: one that is called
// actions_run_trigger may be told to delete_workflow_run_logs, and manage_access to grant. A name without a verb whose
// arguments say what becomes of a thing updates that.
func (c *call) specified() {
	if len(c.urls) == 0 && c.request(operation.KindDelete) != nil {
		return // the method is that of the request
	}
	if c.has("review") && strings.EqualFold(c.first("event"), "approve") { // the review only says so
		c.words = append(slices.Clip(c.words[:c.server]), "approve", "pull", "request")
		delete(c.args, "event")
		return
	}
	named := slices.DeleteFunc(slices.Clone(c.words[c.server:]), func(w string) bool { return spoken.Is("verbs generic", w) || c.service(w) })
	does, _, _ := spoken.ActIn(named)
	for _, key := range spoken.List("verbs keys") {
		if words := specifies(nameOf(c.first(key)), named, does != nil); words != nil {
			c.words = slices.Concat(c.words[:c.server], words)
			delete(c.args, key)
			return
		}
	}
	if does == nil && len(named) > 0 && len(named) < len(c.words[c.server:]) && c.turnsByArgument() {
		c.words = slices.Concat(c.words[:c.server], []string{"update"}, named)
	}
}

// specifies returns what the value of an argument for verbs makes of a tool's name, nil if it says nothing. verb says that
// the name has one of its own.
func specifies(value string, named []string, verb bool) []string {
	words := reading.Words(value)
	act, at, n := spoken.ActIn(words)
	if act == nil || at != 0 || strings.ContainsAny(value, " (/:") {
		return nil
	}
	thing, _, _ := spoken.ThingOf(words[n:])
	switch {
	case thing != nil, len(words) > n+1, len(words) == n+1 && spoken.Property(words[n]) != "":
		return words
	case len(named) > 0 && spoken.Is("texts shown", named[0]): // get_presigned_url is told for which method
		return nil
	case !verb && (len(named) > 0 || act.Phrase != "posts %s"): // POST alone is the method of a request
		return slices.Concat(words[:n], named)
	default:
		return nil
	}
}

// turnsByArgument reports whether an argument says what becomes of a thing, as status=resolved does.
func (c *call) turnsByArgument() bool {
	for key, values := range c.args {
		if slices.ContainsFunc(values, func(value string) bool { return spoken.Turned(key, value) != nil }) {
			return true
		}
	}
	return false
}
