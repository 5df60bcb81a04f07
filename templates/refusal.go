package templates

import "strings"

// Guard explains the guard's rule with the given id. It returns "" for a rule that has no
// text, which the record of a later release may name.
func (t *Texts) Guard(rule string) string {
	if key := Key("guard." + rule); t.Has(key) {
		return t.Plain(key, nil)
	}
	return ""
}

// Told translates sentences that agents are told in English, such as what to do instead of
// a refused call. If one of them is not ours, somebody else wrote it: ok is false, and Told
// returns the sentences unchanged, joined by spaces.
func (t *Texts) Told(sentences ...string) (said string, ok bool) {
	var all []string
	for _, s := range sentences {
		key, ok := t.told()[s]
		if !ok {
			return strings.Join(sentences, " "), false
		}
		all = append(all, t.Plain(key, nil))
	}
	return strings.Join(all, " "), true
}

// Judged translates the fixed wording in which the built-in judges speak about a call, and
// fills in the values. If any part of the text is not fixed wording, ok is false and Judged
// returns the text unchanged.
func (t *Texts) Judged(text string) (said string, ok bool) {
	parts := strings.Split(text, "; ")
	for i, part := range parts {
		key, named := strings.CutPrefix(part, "anomalous args key: '")
		key, closed := strings.CutSuffix(key, "'")
		if named && closed {
			parts[i] = t.Plain("rules.key", Values{"key": Theirs(key)})
			continue
		}
		if rule := ruled(part); rule != "" {
			parts[i] = t.Plain(rule, nil)
			continue
		}
		if parts[i], ok = t.Told(part); !ok {
			return text, false
		}
	}
	return strings.Join(parts, "; "), true
}

// ruled returns the key of the text for a fixed note that the rule-based judge writes to
// audit logs, or "" for any other text.
func ruled(note string) Key {
	switch note {
	case "intent matches executor":
		return "rules.intent"
	case "possible path traversal ('..' in path)":
		return "rules.traversal"
	case "the executor is declared not critical":
		return "rules.critical"
	case "base score":
		return "rules.nothing"
	default:
		return ""
	}
}

// Undo says whether an effect can be undone and whom it touches, given the effects judge's
// words. It returns "" in English, and for words that have no text.
func (t *Texts) Undo(reversibility, reach string) string {
	undo, touches := Key("undo."+reversibility), Key("reach."+reach)
	if t.lang == English || !t.Has(undo) || !t.Has(touches) {
		return ""
	}
	return t.Plain(undo, nil) + ", " + t.Plain(touches, nil)
}

// told maps the sentences that agents are told to their keys.
func told(english *book) map[string]Key {
	keys := map[string]Key{}
	for _, key := range english.keys("told.") {
		var b strings.Builder
		if tmpl := english.text(key); tmpl != nil && tmpl.Execute(&b, nil) == nil {
			keys[strings.TrimSpace(b.String())] = key
		}
	}
	return keys
}

// Effect says what a call would do, whether that can be undone, and whom it touches, given
// the effects judge's words. It returns "" for an effect that has no text, and in English,
// in which the judge says it itself.
func (t *Texts) Effect(effect, reversibility, reach string) string {
	if t.lang == English || !t.Has(Key("effect."+effect)) {
		return ""
	}
	var said []string
	for _, key := range []Key{Key("effect." + effect), Key("undo." + reversibility), Key("reach." + reach)} {
		if t.Has(key) {
			said = append(said, t.Plain(key, nil))
		}
	}
	return strings.Join(said, ", ")
}

// EffectName returns the name of a category of signals in the reader's language: the kind of
// an effect, or what another built-in judge or a gateway noticed. A category that has no
// text keeps the judge's own name.
func (t *Texts) EffectName(category string) string {
	for _, key := range []Key{Key("effect." + category), Key("category." + category)} {
		if t.Has(key) {
			return t.Plain(key, nil)
		}
	}
	return category
}
