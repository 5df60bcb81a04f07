package templates

import "strings"

// Guard says why the guard has a rule, by the rule's id; empty for a rule that
// there are no words for, as a record of a later release may name.
func (t *Texts) Guard(rule string) string {
	if key := Key("guard." + rule); t.Has(key) {
		return t.Plain(key, nil)
	}
	return ""
}

// Told says in the reader's language sentences that agents are told in English,
// such as what to do instead of a refused call. ok is false, and they come back
// as they are, when one of them is none of ours: then somebody else wrote it.
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

// Judged says in the reader's language what the judges that ship say of a call in
// fixed words, with their values filled in. ok is false, and the text comes back
// as it is, when some of it is none of them.
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

// ruled is what a person is told where the rule-based judge writes one of the fixed
// notes that audit logs have; empty for any other text.
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

// Undo says whether an effect can be undone and whom it touches, from the effects
// judge's words; empty where Effect is.
func (t *Texts) Undo(reversibility, reach string) string {
	undo, touches := Key("undo."+reversibility), Key("reach."+reach)
	if t.lang == English || !t.Has(undo) || !t.Has(touches) {
		return ""
	}
	return t.Plain(undo, nil) + ", " + t.Plain(touches, nil)
}

// told finds the sentences that agents are told by their embedded English.
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

// Effect says what a call would do, whether that can be undone, and whom it
// touches, from the effects judge's words for them; empty for an effect that
// there are no words for, and in English, in which the judge says it itself.
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

// EffectName names a category of signals in the reader's language, if it is one
// that there are words for; the judge's own name is English already.
func (t *Texts) EffectName(category string) string {
	if key := Key("effect." + category); t.lang != English && t.Has(key) {
		return t.Plain(key, nil)
	}
	return category
}
