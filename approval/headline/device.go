package headline

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/wording"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

// orders recognizes a command that is just a verb for the device that another argument names: unlock.
func (c *call) orders() {
	verb := strings.Join(reading.Words(nameOf(c.first("command"))), "-")
	c.ordered = c.code == "" && spoken.Is("devices verbs", verb) && c.gives("operated keys")
	if c.ordered {
		c.command = ""
	}
}

// obeyed says that a command is one for a device, whatever program has its name, or for the agent's client.
func (c *call) obeyed(o *operations) {
	if len(o.list) > 0 && strings.HasPrefix(c.command, "/") && c.speaksOf("texts typed") && !o.list[0].says("follows instructions that are installed here") {
		o.list = []one{{said: wording.Sentence{wording.Say("gives the agent’s client the command %s", c.command)}, kind: operation.KindUnknown, score: o.list[0].score, stands: 1}}
	}
	if c.ordered && len(o.list) > 0 {
		o.list = []one{{kind: operation.KindPhysical, undo: operation.Irreversible, reach: operation.ReachShared, score: o.list[0].score, stands: 1}}
	}
}

// device says which device a tool operates.
func (c *call) device(kind operation.Kind) wording.Sentence {
	what := c.first(append(spoken.List("operated keys"), "entity", "name", "id", "target", "area", "floor", "site", "location", "zone")...)
	if kind != operation.KindPhysical || what == "" || !c.operates() && !c.ordered {
		return nil
	}
	how := cmp.Or(c.first("service", "action", "operation", "command", "state"), c.operated(), strings.Join(c.words[c.server:], " "))
	words := reading.Words(how)
	if act := toldTo(words, what); act != nil {
		return c.opening(act, what) // "open_cover" of "cover.garage"
	}
	if how == "" {
		return wording.Sentence{wording.Say("operates %s", what)}
	}
	property := strings.Join(words[min(1, len(words)):], "")
	to := c.first(property, "data"+property, "servicedata"+property)
	if said := spoken.Property(property); said != "" && words[0] == "set" && to != "" {
		return setTo(said, what, to)
	}
	return operates(what, how, to)
}

// toldTo returns what a device is told to do by words of which the first are the verb, and the rest say no more than its
// name does; nil if they say more.
func toldTo(words []string, what string) *spoken.Act {
	act, at, n := spoken.ActIn(words)
	if at != 0 || !strings.HasPrefix(what, strings.Join(words[n:], "_")+".") && (n < len(words) || act.Partly && !spoken.Is("devices verbs", strings.Join(words, "-"))) {
		return nil
	}
	return act
}

// opening says what is done to a device as the tool's name speaks of it, if what the arguments call it does not tell: "the
// garage door g-1", or the trunk of a vehicle. That lights are lights, the room tells.
func (c *call) opening(opens *spoken.Act, what string) wording.Sentence {
	does, at, n := c.verb()
	nouns := c.words[at+n:]
	if does != opens || !does.Partly || len(nouns) == 0 || strings.Contains(strings.ToLower(what), nouns[len(nouns)-1]) {
		if strings.Trim(what, "0123456789") == "" {
			return wording.Sentence{{Phrase: opens.Phrase, Args: []wording.Clause{wording.Say(spoken.ThingAt("device").One, what)}}}
		}
		return wording.Sentence{wording.Say(opens.Phrase, what)}
	}
	for _, key := range c.keys {
		whole := spoken.ThingAt(key)
		if whole != nil && c.first(key) == what && !slices.ContainsFunc(whole.Words, func(w string) bool {
			return slices.Contains(nouns, w) || spoken.Is("things-that generic", w) || w == "device"
		}) {
			part := []wording.Clause{{Text: strings.Join(nouns, " ")}, wording.Say(whole.One, what)}
			return wording.Sentence{{Phrase: opens.Phrase, Args: []wording.Clause{{Phrase: "the %s of %s", Args: part}}}}
		}
	}
	return wording.Sentence{{Phrase: opens.Phrase, Args: []wording.Clause{unlisted(nouns, []string{what})}}}
}

// operates says what a device is told, and to what it is set: "set_fan_mode auto".
func operates(what, how, to string) wording.Sentence {
	if to != "" && to != what {
		how += " " + to
	}
	return wording.Sentence{wording.Say("operates %s: %s", what, how)}
}

// parts says of a change of a page or a notebook which of its parts a tool changes.
func (c *call) parts(said wording.Sentence) wording.Sentence {
	switch {
	case c.command != "":
	case said[0].Phrase == "fills in a field of a web page" && len(c.fields) > 0:
		if slices.Contains(c.fields, "") { // not every one has a name that a person reads
			if len(c.fields) == 1 {
				return said
			}
			return wording.Sentence{wording.Say("fills in %s fields of a web page", strconv.Itoa(len(c.fields)))}
		}
		return wording.Sentence{{Phrase: "types into a web page: %s", Args: []wording.Clause{named(c.fields)}}}
	case said[0].Phrase == "edits" && len(said) == 2 && c.first("editmode") == "delete":
		return c.cell(said[1].Text)
	}
	return said
}

// cell says which cell of a notebook a tool deletes.
func (c *call) cell(of string) wording.Sentence {
	if id := c.first("cellid", "cellnumber", "cellindex"); id != "" {
		return wording.Sentence{wording.Say("deletes the cell %s of %s", id, of)}
	}
	return wording.Sentence{wording.Say("deletes a cell of %s", of)}
}

// fieldsIn returns what the fields of a web page are called into which a tool types, "" for one that has no
// name.
func fieldsIn(args map[string]any) (names []string) {
	list := []any{args}
	for _, key := range []string{"fields", "elements", "inputs"} {
		switch held := args[key].(type) {
		case []any:
			list = held
		case map[string]any: // what is typed, by the field's name
			return slices.Sorted(maps.Keys(held))
		}
	}
	for _, e := range list {
		field, _ := e.(map[string]any)
		name := ""
		for _, key := range []string{"name", "label", "element", "selector"} {
			if name == "" {
				name, _ = field[key].(string)
			}
		}
		names = append(names, name)
	}
	return names
}

// setTo says to what a property of a device is set.
func setTo(property wording.Phrase, what, value string) wording.Sentence {
	return withText(wording.Sentence{{Phrase: sets, Args: []wording.Clause{{Phrase: property}}}, wording.Say("of %s", what)}, value)
}

// operated returns what the tool's name tells a device to do, or "".
func (c *call) operated() string {
	own := c.words[min(c.server, len(c.words)):]
	for at := range own {
		for n := min(2, len(own)-at); n > 0; n-- {
			if how := own[at : at+n]; spoken.Is("devices verbs", strings.Join(how, "-")) {
				return strings.Join(how, " ")
			}
		}
	}
	return ""
}
