package strictjson

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// field is a member of a struct, possibly of an embedded one.
type field struct {
	index     []int
	name      string
	quoted    string // including the colon
	omitZero  func(reflect.Value) bool
	omitEmpty bool
	plan      plan
}

// fieldsOf returns the members of a struct in order. It returns false if a tag or a type needs the
// library.
func fieldsOf(t reflect.Type, below []int) (fields []field, ok bool) {
	for f := range t.Fields() {
		tag := f.Tag.Get("json")
		if tag == "-" || !f.IsExported() && !f.Anonymous && tag == "" {
			continue
		}
		f.Index = append(slices.Clone(below), f.Index...)
		var more []field
		if f.Anonymous && tag == "" {
			more, ok = embedded(&f)
		} else {
			more, ok = member(&f, tag)
		}
		if !ok {
			return nil, false
		}
		fields = append(fields, more...)
	}
	return fields, true
}

// embedded returns the members of an embedded struct.
func embedded(f *reflect.StructField) ([]field, bool) {
	in := f.Type
	if in.Kind() == reflect.Pointer {
		in = in.Elem()
	}
	if in.Kind() != reflect.Struct || !f.IsExported() || hasMethods(in) || len(f.Index) > 1 {
		return nil, false
	}
	return fieldsOf(in, f.Index)
}

// member returns the member for a field with a name of its own.
func member(f *reflect.StructField, tag string) ([]field, bool) {
	name, options, _ := strings.Cut(tag, ",")
	out := field{index: f.Index, name: cmp.Or(name, f.Name), plan: planOf(f.Type)}
	out.quoted = strconv.Quote(out.name) + ":"
	known := f.IsExported() && !strings.ContainsAny(out.name, "'\"\\`<>&") && out.takes(options, f.Type)
	return []field{out}, known
}

// takes applies the options of a field's tag, and reports whether it knows them all.
func (f *field) takes(options string, t reflect.Type) bool {
	itself := reflect.TypeFor[zeroer]()
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "":
		case "omitempty":
			f.omitEmpty = true
		case "omitzero":
			f.omitZero = reflect.Value.IsZero
			switch {
			case t.Kind() == reflect.Interface || t.Kind() == reflect.Pointer:
				if t.Implements(itself) {
					return false
				}
			case t.Implements(itself):
				f.omitZero = isZero
			case reflect.PointerTo(t).Implements(itself):
				return false
			}
		default:
			return false
		}
	}
	return true
}

// isZero calls the value's IsZero.
func isZero(v reflect.Value) bool {
	of, ok := reflect.TypeAssert[zeroer](v)
	return ok && of.IsZero()
}

// unique reports whether no two fields have the same name, and there is at least one.
func unique(fields []field) bool {
	seen := make(map[string]bool, len(fields))
	for i := range fields {
		if seen[fields[i].name] {
			return false
		}
		seen[fields[i].name] = true
	}
	return len(fields) > 0
}

func structPlan(fields []field) plan {
	return func(w *writer, v reflect.Value) bool {
		if w.depth++; w.depth > deepest {
			return false
		}
		w.buf = append(w.buf, '{')
		first := true
		for i := range fields {
			f := &fields[i]
			member, there := f.of(v)
			if !there || f.omitZero != nil && f.omitZero(member) {
				continue
			}
			before := len(w.buf)
			if !first {
				w.buf = append(w.buf, ',')
			}
			w.buf = append(w.buf, f.quoted...)
			value := len(w.buf)
			if !f.plan(w, member) {
				return false
			}
			if f.omitEmpty && isEmpty(w.buf[value:]) {
				w.buf = w.buf[:before]
				continue
			}
			first = false
		}
		w.buf = append(w.buf, '}')
		w.depth--
		return true
	}
}

// of returns the field in a value; false if an embedded pointer on the way is nil.
func (f *field) of(v reflect.Value) (reflect.Value, bool) {
	v = v.Field(f.index[0])
	for _, i := range f.index[1:] {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return v, false
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	return v, true
}

// isEmpty reports whether an encoded value is empty in the sense of omitempty.
func isEmpty(value []byte) bool {
	switch string(value) {
	case "null", `""`, "{}", "[]":
		return true
	}
	return false
}
