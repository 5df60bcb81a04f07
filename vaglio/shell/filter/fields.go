package filter

import (
	"encoding/base64"
	"regexp"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/internal/strictjson"
)

func cut(f *Filter, args []string) bool {
	o, files, ok := parse("cut", args, "d=delimiter f=fields")
	if !ok || len(o["f"]) != 1 {
		return false
	}
	mark, at := "\t", strings.TrimPrefix(o["f"][0], "=")
	if len(o["d"]) == 1 {
		mark = strings.TrimPrefix(o["d"][0], "=")
	}
	n, err := strconv.Atoi(at)
	if err != nil || n < 1 || len(mark) != 1 {
		return false
	}
	f.Files, f.Fields = files, true
	f.apply = always(func(text string) string {
		var b strings.Builder
		for _, l := range lines(text) {
			fields := strings.Split(l, mark)
			switch {
			case len(fields) == 1: // a line without the mark is printed whole
				b.WriteString(l)
			case n <= len(fields):
				b.WriteString(fields[n-1])
			}
			b.WriteByte('\n')
		}
		return b.String()
	})
	return true
}

// jqPath is a program that takes one value by its path, and may decode it.
var jqPath = regexp.MustCompile(`^\s*((?:\.?(?:\[\s*(?:"[^"\\]*"|\d+)\s*\]|[A-Za-z_]\w*|"[^"\\]*")|\.)+)\s*(?:\|\s*(@base64d)\s*)?$`)

var jqStep = regexp.MustCompile(`"([^"]*)"|(\d+)\s*\]|([A-Za-z_]\w*)`)

// jq follows a call that prints one text of a document.
func jq(f *Filter, args []string) bool {
	o, words, ok := parse("jq", args, "r=raw-output j=join-output")
	if !ok || len(words) == 0 || !o.has("r") && !o.has("j") {
		return false
	}
	m := jqPath.FindStringSubmatch(words[0])
	if m == nil {
		return false
	}
	f.Files = words[1:]
	f.apply = func(text string) (string, bool) {
		var v any
		if strictjson.UnmarshalLoose([]byte(text), &v) != nil {
			return "", false
		}
		for _, step := range jqStep.FindAllStringSubmatch(m[1], -1) {
			if v = member(v, step[1]+step[3], step[2]); v == nil {
				return "", false
			}
		}
		s, is := v.(string)
		if is && m[2] != "" {
			out, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
			return string(out) + "\n", err == nil
		}
		return s + "\n", is
	}
	return true
}

// member returns what an object has under a key, or a list at a place.
func member(v any, key, at string) any {
	switch v := v.(type) {
	case map[string]any:
		return v[key]
	case []any:
		if n, err := strconv.Atoi(at); err == nil && n < len(v) {
			return v[n]
		}
	}
	return nil
}
