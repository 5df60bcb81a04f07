package effects

import "slices"

// hinted weighs what an executor's maker says of it, where no more is known
// than its name. Nobody vouches for a hint: one that calls a tool read-only
// counts only if neither the name nor the arguments say otherwise, one that
// calls it destructive always.
func (t *tool) hinted(out []Effect) []Effect {
	a := t.known.Annotations
	if a == nil {
		return out
	}
	if len(out) == 1 && out[0].Kind == KindUnknown {
		if v, _ := t.verbIn(taskWords(a.Title)); v.effect.Kind != "" && v.effect.Kind != KindRead && !v.light && !v.weak {
			return t.verbEffect(v)
		}
		if isTrue(a.ReadOnlyHint) && !isTrue(a.DestructiveHint) {
			return []Effect{t.readOnly()}
		}
	}
	if isTrue(a.DestructiveHint) && t.alone(out) {
		e := usual(KindUnknown).with(t.about(say("calls the tool %s", t.name)).And(", which its maker calls destructive"), t.target())
		e.Sure = 0.5
		return append(out, e)
	}
	return out
}

// readOnly is the effect of a tool of which only its maker's word is known.
func (t *tool) readOnly() Effect {
	if s, ok := t.secret(); ok {
		return usual(KindCredentials).with(t.about(say("reads secrets by the tool %s", t.name)), s)
	}
	e := usual(KindRead).with(t.about(say("calls the tool %s", t.name)).And(", which its maker says only reads"), "")
	e.Sure = 0.5
	return e
}

// alone reports whether nothing was found yet that a person would be asked.
func (t *tool) alone(out []Effect) bool {
	return !slices.ContainsFunc(out, func(e Effect) bool { return e.score(nil) < Threshold })
}

func isTrue(b *bool) bool { return b != nil && *b }
