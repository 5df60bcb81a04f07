package powershell

import (
	"maps"
	"slices"
	"strings"
)

// arguments reads the arguments of a function in parentheses.
func (r *reader) arguments(toks []token) []value {
	if !r.step(1 + len(toks)) {
		return nil
	}
	var out []value
	for _, part := range splitAt(toks, tokComma) {
		out = append(out, r.statements(part))
	}
	return out
}

func splitAt(toks []token, k kind) [][]token {
	if len(toks) == 0 {
		return nil
	}
	var out [][]token
	start := 0
	for i := range toks {
		if toks[i].kind == k {
			out = append(out, toks[start:i])
			start = i + 1
		}
	}
	return append(out, toks[start:])
}

// indexed reads an element, and what is run to find out which.
func (r *reader) indexed(v value, t *token) value {
	at := t.text
	if t.open == openIndex {
		if len(t.kids) == 0 {
			r.unread("a bracket has no partner")
		}
		at, _ = r.statements(t.kids).text()
	}
	switch {
	case v.table != nil:
		if found, ok := v.table[strings.ToLower(strings.Trim(at, `'"`))]; ok {
			return found
		}
		return r.merged(r.list(r.values(v.table)).element(), unknownValue(""))
	case v.isNothing() || len(v.items) == 1 && !v.files:
		return madeOf(v, "") // a character of a text
	}
	return v.element()
}

// values are what a table holds, in the order of the names.
func (r *reader) values(table map[string]value) []value {
	if !r.afford(len(table), 0) {
		return nil
	}
	out := make([]value, 0, len(table))
	for _, name := range slices.Sorted(maps.Keys(table)) {
		out = append(out, table[name])
	}
	return out
}

// property reads a member that is no function.
func (r *reader) property(v value, name string) value {
	name = strings.ToLower(name)
	if found, ok := v.table[name]; ok {
		return found
	}
	switch name {
	case "value", "path":
		return v
	case "fullname", "pspath", "providerpath", "psobject", "literalpath", "name", "basename", "pschildname":
		if v.files {
			return v
		}
	}
	return madeOf(v, "")
}

// text reads a text in quotes.
func (r *reader) text(t *token) value {
	if len(t.kids) == 1 && t.kids[0].kind == tokWord {
		return text(t.kids[0].text)
	}
	if len(t.kids) == 0 {
		return text("")
	}
	parts := make([]value, len(t.kids))
	for i := range t.kids {
		switch k := &t.kids[i]; k.kind {
		case tokWord:
			parts[i] = text(k.text)
		case tokVar:
			parts[i] = r.variable(k.text)
		default:
			parts[i] = r.group(k)
		}
	}
	v := r.glue(parts)
	v.files = false
	return v
}

// group reads what stands in brackets.
func (r *reader) group(t *token) value {
	switch t.open {
	case openBlock:
		if t.kids == nil {
			return value{block: []token{}}
		}
		return value{block: t.kids}
	case openHash:
		return r.hash(t.kids)
	}
	return r.statements(t.kids)
}

// hash reads @{name=value; …}.
func (r *reader) hash(toks []token) value {
	if !r.step(1+len(toks)) || !r.enter() {
		return unknownValue("")
	}
	defer r.leave()
	v := value{table: map[string]value{}}
	for _, entry := range splitAt(toks, tokEnd) {
		if name, rest := hashKey(entry); name != "" || len(rest) > 0 {
			v.table[strings.ToLower(strings.TrimSpace(name))] = r.statements(rest)
		}
	}
	return v
}

// hashKey splits name = value.
func hashKey(entry []token) (string, []token) {
	for i, t := range entry {
		left, right, ok := strings.Cut(t.text, "=")
		switch {
		case t.kind == tokAssign:
			return keyText(entry[:i]), entry[i+1:]
		case t.kind != tokWord || !ok:
		case right != "":
			t.text = right
			return keyText(entry[:i]) + left, append([]token{t}, entry[i+1:]...)
		default:
			return keyText(entry[:i]) + left, entry[i+1:]
		}
	}
	return "", entry
}

func keyText(toks []token) string {
	for _, t := range toks {
		if t.kind == tokText && len(t.kids) == 1 {
			return t.kids[0].text
		}
		if t.kind == tokWord {
			return t.text
		}
	}
	return ""
}
