package powershell

import (
	"encoding/base64"
	"maps"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/metnos/vaglio/vaglio/shell"
)

// primary reads one operand.
func (e *expression) primary() value {
	t := &e.toks[e.i]
	e.i++
	switch t.kind {
	case tokText:
		return e.r.text(t)
	case tokVar:
		return e.r.variable(t.text)
	case tokGroup:
		return e.r.group(t)
	case tokType:
		return e.typed(t)
	case tokWord:
		return text(t.text)
	case tokIndex:
		return e.r.indexed(unknownValue(""), t)
	case tokMember:
		return unknownValue("")
	default:
		e.r.unread("an expression of a form that is not read")
		return unknownValue("")
	}
}

// typed reads what stands behind the name of a type: a static member, or what
// is turned into the type.
func (e *expression) typed(t *token) value {
	if e.more() && e.toks[e.i].kind == tokMember {
		member := e.toks[e.i].text
		e.i++
		if e.more() && e.toks[e.i].kind == tokGroup && e.toks[e.i].open == openParen && e.toks[e.i].glued {
			e.i++
			return e.r.static(t.text, member, e.r.arguments(e.toks[e.i-1].kids))
		}
		return e.r.staticValue(t.text, member)
	}
	if !e.more() || e.toks[e.i].kind == tokOp && e.toks[e.i].text != "-" {
		return unknownValue("")
	}
	return e.r.cast(t.text, e.unary())
}

// cast turns a value into a type: characters out of numbers matter, for words
// are hidden so.
func (r *reader) cast(typ string, v value) value {
	switch typ {
	case "char", "char[]", "string":
		out := value{either: v.either}
		for _, w := range v.items {
			item := one(w)
			n, ok := item.number()
			if s, static := w.Text(); ok && n >= 0 && n < 0x110000 && static && (typ != "char[]" || len(v.items) > 1) && typ != "string" {
				out.items = append(out.items, shell.Text(string(rune(n))))
			} else if static && typ == "char[]" {
				for _, c := range s {
					out.items = append(out.items, shell.Text(string(c)))
				}
			} else {
				out.items = append(out.items, w)
			}
		}
		if typ == "string" {
			return one(joined(out.items, shell.Text(" ")))
		}
		return r.bounded(out)
	case "scriptblock":
		return v
	}
	if !strings.Contains(typ, "int") && !strings.Contains(typ, "string") && typ != "array" && typ != "io.fileinfo" && typ != "io.directoryinfo" &&
		typ != "void" && typ != "object[]" && typ != "uri" {
		if strings.HasSuffix(typ, "webclient") || strings.HasSuffix(typ, "httpclient") {
			v.client = true
		}
	}
	v.files = v.files || typ == "io.fileinfo" || typ == "io.directoryinfo"
	return v
}

// postfix reads members and elements of a value.
func (e *expression) postfix(v value) value {
	for e.more() {
		t := &e.toks[e.i]
		switch {
		case t.kind == tokMember:
			e.i++
			if e.more() && e.toks[e.i].kind == tokGroup && (e.toks[e.i].open == openParen || e.toks[e.i].open == openBlock) && e.toks[e.i].glued {
				e.i++
				v = e.r.method(v, t.text, e.r.callArguments(&e.toks[e.i-1]))
			} else {
				v = e.r.property(v, t.text)
			}
		case t.kind == tokIndex:
			e.i++
			v = e.r.indexed(v, t)
		case t.kind == tokWord && t.glued:
			e.i++
			v = e.r.glue([]value{v, text(t.text)})
		default:
			return v
		}
	}
	return v
}

func (r *reader) callArguments(t *token) []value {
	if t.open == openBlock {
		return []value{{block: t.kids}}
	}
	return r.arguments(t.kids)
}

// arguments reads the arguments of a function in parentheses.
func (r *reader) arguments(toks []token) []value {
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
	if t.open == 0 {
		return r.index(v, t.text)
	}
	if len(t.kids) == 0 {
		r.unread("a bracket has no partner")
	}
	at, _ := r.statements(t.kids).text()
	return r.index(v, at)
}

func (r *reader) index(v value, at string) value {
	if n, ok := text(at).number(); ok && !v.either {
		if n < 0 {
			n += len(v.items)
		}
		if len(v.items) > 1 && n >= 0 && n < len(v.items) {
			return one(v.items[n])
		}
		if s, static := v.text(); static && n >= 0 && n < len(s) && !v.files {
			return merged(text(s[n:n+1]), v)
		}
	}
	if v.table != nil {
		if found, ok := v.table[strings.ToLower(at)]; ok {
			return found
		}
		out := value{}
		for _, name := range slices.Sorted(maps.Keys(v.table)) {
			out = merged(out, v.table[name])
		}
		return merged(out, unknownValue(""))
	}
	if v.isNothing() {
		return unknownValue("")
	}
	return v.element()
}

// property reads a member that is no function.
func (r *reader) property(v value, name string) value {
	name = strings.ToLower(name)
	if v.table != nil {
		if found, ok := v.table[name]; ok {
			return found
		}
	}
	switch name {
	case "fullname", "path", "pspath", "providerpath", "value", "psobject", "literalpath":
		if v.files || name == "value" || name == "path" {
			return v
		}
	case "name", "basename", "pschildname":
		if v.files {
			return v
		}
	}
	for _, w := range v.items {
		if w.Remote() {
			return remoteValue("")
		}
	}
	return unknownValue("")
}

// text reads a text in quotes.
func (r *reader) text(t *token) value {
	if len(t.kids) == 1 && t.kids[0].kind == tokWord {
		return text(t.kids[0].text)
	}
	parts := make([]value, 0, len(t.kids))
	for i := range t.kids {
		k := &t.kids[i]
		switch k.kind {
		case tokWord:
			parts = append(parts, text(k.text))
		case tokVar:
			parts = append(parts, r.variable(k.text))
		default:
			parts = append(parts, r.group(k))
		}
	}
	if len(parts) == 0 {
		return text("")
	}
	v := r.glue(parts)
	v.files = false
	return v
}

// group reads what stands in brackets.
func (r *reader) group(t *token) value {
	switch t.open {
	case openBlock:
		return value{block: append([]token{}, t.kids...)}
	case openHash:
		return r.hash(t.kids)
	}
	return r.statements(t.kids)
}

// hash reads @{name=value; …}.
func (r *reader) hash(toks []token) value {
	v := value{table: map[string]value{}}
	for _, entry := range splitAt(toks, tokEnd) {
		if len(entry) == 0 {
			continue
		}
		name, rest := hashKey(entry)
		if name == "" && len(rest) == 0 {
			continue
		}
		v.table[strings.ToLower(strings.TrimSpace(name))] = r.statements(rest)
	}
	return v
}

// hashKey splits name = value.
func hashKey(entry []token) (string, []token) {
	for i, t := range entry {
		switch {
		case t.kind == tokAssign:
			return keyText(entry[:i]), entry[i+1:]
		case t.kind == tokWord && strings.Contains(t.text, "="):
			left, right, _ := strings.Cut(t.text, "=")
			name := keyText(entry[:i]) + left
			rest := entry[i+1:]
			if right != "" {
				t.text = right
				rest = append([]token{t}, rest...)
			}
			return name, rest
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

// decodeBase64 reads base64 as PowerShell does; the bytes stay bytes.
func decodeBase64(s string) (string, bool) {
	s = strings.Join(strings.Fields(s), "")
	data, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		data, err = base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	}
	return string(data), err == nil
}

// decodeUTF16 reads bytes as UTF-16 with the low byte first.
func decodeUTF16(s string) string {
	units := make([]uint16, 0, len(s)/2)
	for i := 0; i+1 < len(s); i += 2 {
		units = append(units, uint16(s[i])|uint16(s[i+1])<<8)
	}
	return string(utf16.Decode(units))
}
