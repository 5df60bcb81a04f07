package shell

import (
	"encoding/base32"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/internal/strictjson"
)

// jqOutput is the output of jq -r for the filters that pick a value and decode
// it: literals, .a.b, .[0], @base64d, tostring, join.
func jqOutput(in Word, args []Word) (Word, bool) {
	opts, rest := grammar{permute: true, long: "indent"}.parse(args)
	if len(rest) == 0 {
		return Word{}, false
	}
	filter, ok := rest[0].Text()
	if !ok {
		return Word{}, false
	}
	return onText(in, func(s string) (string, bool) {
		var v any
		if strictjson.UnmarshalLoose([]byte(s), &v) != nil {
			return "", false
		}
		for stage := range strings.SplitSeq(filter, "|") {
			if v, ok = jqStage(v, strings.TrimSpace(stage)); !ok {
				return "", false
			}
		}
		end := "\n"
		if opts.any("j", "join-output") {
			end = ""
		}
		if text, isText := v.(string); isText && opts.any("r", "raw-output", "j", "join-output") {
			return text + end, true
		}
		out, err := strictjson.Marshal(v)
		return string(out) + end, err == nil
	})
}

// jqStage applies one stage of a filter.
func jqStage(v any, stage string) (any, bool) {
	switch {
	case stage == ".":
		return v, true
	case strings.HasPrefix(stage, `"`) || strings.HasPrefix(stage, "[") || strings.HasPrefix(stage, "{"):
		var out any
		err := strictjson.UnmarshalLoose([]byte(stage), &out)
		return out, err == nil
	case stage == "@base64d":
		s, ok := v.(string)
		out, decoded := decode64(s)
		return out, ok && decoded
	case stage == "@text" || stage == "tostring" || stage == "@sh":
		return v, true
	case strings.HasPrefix(stage, "join("):
		return jqJoin(v, stage)
	case strings.HasPrefix(stage, "."):
		return jqPath(v, stage)
	}
	return nil, false
}

func jqJoin(v any, stage string) (any, bool) {
	list, ok := v.([]any)
	var sep string
	if !ok || strictjson.UnmarshalLoose([]byte(strings.TrimSuffix(strings.TrimPrefix(stage, "join("), ")")), &sep) != nil {
		return nil, false
	}
	words := make([]string, len(list))
	for i, e := range list {
		if words[i], ok = e.(string); !ok {
			return nil, false
		}
	}
	return strings.Join(words, sep), true
}

// jqPath follows .a.b[0]["c"].
func jqPath(v any, path string) (any, bool) {
	path = strings.NewReplacer(`["`, ".", `"]`, "", "[", ".", "]", "", `"`, "").Replace(path)
	for key := range strings.SplitSeq(path, ".") {
		if key == "" {
			continue
		}
		switch t := v.(type) {
		case map[string]any:
			v = t[key]
		case []any:
			n, err := strconv.Atoi(key)
			if n < 0 {
				n += len(t)
			}
			if err != nil || n < 0 || n >= len(t) {
				return nil, false
			}
			v = t[n]
		default:
			return nil, false
		}
	}
	return v, true
}

// substituted is the output of envsubst.
func (r *reader) substituted(in Word) (Word, bool) {
	s, ok := in.Text()
	if !ok {
		return Word{}, false
	}
	var b builder
	for {
		before, rest, found := strings.Cut(s, "$")
		b.addText(before)
		if !found {
			return b.word(), true
		}
		name := strings.TrimPrefix(rest, "{")
		n := 0
		for n < len(name) && isNameByte(name[n]) {
			n++
		}
		s = strings.TrimPrefix(name[n:], "}")
		if n == 0 {
			b.addText("$")
			continue
		}
		v, _ := r.variable(name[:n])
		b.addWord(v.value())
	}
}

// basenc is the output of basenc.
func basenc(in Word, args []Word) (Word, bool) {
	switch {
	case hasWord(args, "--base16"):
		return decodeFlag(in, args, unhex, func(s string) (string, bool) { return strings.ToUpper(hex.EncodeToString([]byte(s))) + "\n", true })
	case hasWord(args, "--base32"):
		return decodeFlag(in, args, decode32, encode32)
	case hasWord(args, "--base32hex"):
		return decodeFlag(in, args, func(s string) (string, bool) {
			out, err := base32.HexEncoding.DecodeString(strings.TrimSpace(s))
			return string(out), err == nil
		}, func(string) (string, bool) { return "", false })
	}
	return decodeFlag(in, args, decode64, encode64)
}
