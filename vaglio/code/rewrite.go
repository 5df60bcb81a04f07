package code

import (
	"regexp"
	"strings"
)

const quotedText = "\"(?:\\\\.|[^\"\\\\\n])*\"|'(?:\\\\.|[^'\\\\\n])*'|`(?:\\\\.|[^`\\\\])*`"

// In any language: a statement, which goes on after a line that ends with an open bracket or a
// comma; the quoted texts and names in it; and one that sets a variable to texts.
var (
	statementIn = regexp.MustCompile("(?:" + quotedText + "|[\\[({,][ \t]*\n|[^;\n])*[;\n]?")
	tokenIn     = regexp.MustCompile(quotedText + "|[A-Za-z_]\\w*")
	setTexts    = regexp.MustCompile("(?s)^(.*?)(?:([A-Za-z_]\\w*)\\s*(?::[^=:\"'`]+)?(?:=|:=|<-)\\s*[^\"'`=>~]*[\"'`]|\\(def\\w*\\s+(\\w+)\\s[^\"]*\")")
)

// makesPath matches a call that makes a path of texts, which are then only parts of it.
var makesPath = regexp.MustCompile(`(?i)(?:join|path|tmp|temp|dir|expand|resolve|file)\w*[!?]?\(`)

// maxSpelled limits how much longer a program may become, in bytes.
const maxSpelled = 64 << 10

// Spelled returns a program, in any language, with the texts in place of the variables that
// were set to them, on the same lines. It is for programs of which only calls are known.
func Spelled(program string) string {
	var out strings.Builder
	set, left := map[string]string{}, len(program)+maxSpelled
	for _, stmt := range statementIn.FindAllString(program, -1) {
		name, from := "", 0
		if m := setTexts.FindStringSubmatchIndex(stmt); m != nil {
			from = max(m[5], m[7])
			name = stmt[max(m[4], m[6]):from]
		}
		var texts []string
		said := tokenIn.ReplaceAllStringFunc(stmt[from:], func(token string) string {
			if as := set[token]; as != "" && len(as) <= left {
				left -= len(as)
				token = as
			}
			if strings.ContainsAny(token[:1], "\"'`") {
				texts = append(texts, token)
			}
			return token
		})
		switch {
		case name == "":
		case makesPath.MatchString(said):
			delete(set, name)
		default:
			set[name] = strings.Join(texts, ",")
		}
		out.WriteString(stmt[:from] + said)
	}
	return out.String()
}
