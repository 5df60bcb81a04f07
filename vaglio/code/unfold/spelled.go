package unfold

import (
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

const quotedText = "\"(?:\\\\.|[^\"\\\\\n])*\"|'(?:\\\\.|[^'\\\\\n])*'|`(?:\\\\.|[^`\\\\])*`"

// In any language: a statement, which goes on after a line that ends with an open bracket or a
// comma; the quoted texts and names in it; and one that sets a variable to texts.
var (
	statementIn = regexp.MustCompile("(?:" + quotedText + "|[\\[({,][ \t]*\n|[^;\n])*[;\n]?")
	tokenIn     = regexp.MustCompile(quotedText + "|[A-Za-z_]\\w*")
	setTexts    = regexp.MustCompile("(?s)^(.*?)(?:([A-Za-z_]\\w*)\\s*(?::[^=:\"'`]+)?(?:=|:=|<-)\\s*[^\"'`=>~]*[\"'`]" +
		"|(?:\\(def\\w*\\s+|::path\\s+)(\\w+)\\s*[\\s({][^\"]*\")")
)

// makesPath matches a call that makes a path of texts, which are then only parts of it.
var makesPath = regexp.MustCompile(`(?i)(?:join|path|tmp|temp|dir|expand|resolve|file|child)\w*[!?]?\(`)

// isPath matches a statement that makes a path of one text, which is all of it.
var isPath = regexp.MustCompile(`(?:^|[=\s(:])(?:new\s+)?(?:File|Path|DirectoryInfo|FileInfo)\(\s*(?:"[^"]*"|'[^']*')\s*\)[\s;]*$`)

// subscripted matches what stands before the key of an element.
var subscripted = regexp.MustCompile(`[\w)\]]\[\s*$`)

// maxSpelled limits how much longer a program may become, in bytes.
const maxSpelled = 64 << 10

// Spelled returns a program, in any language, with the texts in place of the variables that
// were set to them, on the same lines. It is for programs of which only calls are known.
func Spelled(program string) string {
	var out strings.Builder
	set, left := map[string]string{}, len(program)+maxSpelled
	for _, stmt := range statementIn.FindAllString(program, -1) {
		name, from, ofAnother := setIn(stmt)
		if name == "" && len(set) == 0 {
			out.WriteString(stmt)
			continue
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
		if name != "" {
			if delete(set, name); !ofAnother && (!makesPath.MatchString(said) || isPath.MatchString(said)) {
				set[name] = strings.Join(texts, ",")
			}
		}
		out.WriteString(stmt[:from] + said)
	}
	return out.String()
}

// setIn returns the variable that a statement sets to a text, where its name ends, and whether an element is set.
func setIn(stmt string) (name string, from int, ofAnother bool) {
	if !strings.ContainsAny(stmt, "\"'`") {
		return "", 0, false
	}
	m := setTexts.FindStringSubmatchIndex(stmt)
	if m == nil {
		return "", 0, false
	}
	from = max(m[5], m[7])
	return stmt[max(m[4], m[6]):from], from, subscripted.MatchString(stmt[from : m[1]-1])
}

// The ways in which programs write the folder and the variables that a command is given.
var (
	givenFolder = regexp.MustCompile(`(?i)\b(?:cwd|cd|dir|chdir|current_?dir(?:ectory)?(?:url)?|directory|work(?:ing)?_?dir(?:ectory)?)["']?` +
		`\s*(?:=>|[=:(,]|\s)+(?:[\w.]+[(\s]+)*(?:\w+:\s*)?["']([^"'\n]+)["']`)
	givenVariable = regexp.MustCompile(`\b([A-Z_][A-Z0-9_]*)["'\])]*\s*(?:=>|[=:,])\s*["']([^"'\n]*)["']|["']([A-Z_][A-Z0-9_]*)=([^"'\n]*)["']`)
)

// Surroundings returns the variables and the folders that a program may give to the commands which it starts, in any language: each
// name in capitals that is given a text, and each text that what is named as a folder is given.
func Surroundings(text string) (variables []shell.Assign, folders []string) {
	const most = 16
	for _, m := range givenVariable.FindAllStringSubmatch(text, most) {
		variables = append(variables, shell.Assign{Name: m[1] + m[3], Value: shell.Text(m[2] + m[4])})
	}
	for _, m := range givenFolder.FindAllStringSubmatch(text, most) {
		if !slices.Contains(folders, m[1]) {
			folders = append(folders, m[1])
		}
	}
	return variables, folders
}
