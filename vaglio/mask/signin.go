package mask

import (
	"regexp"
	"slices"
	"strings"
)

// signsIn reports whether an option of a program that is not in the table takes a password,
// judging by its neighbors: -u NAME -p SECRET, in either order. v is the option's value.
func (sc *scanner) signsIn(option string, v value) bool {
	if option != "p" && option != "P" && option != "pw" || v.to == v.from || strings.Trim(sc.text[v.from:v.to], "0123456789.:,/-") == "" {
		return false
	}
	before := strings.Fields(sc.text[max(0, sc.at-mostBeside):sc.at])
	if n := len(before); n > 1 && isSignIn(before[n-2]) && !strings.HasPrefix(before[n-1], "-") {
		return !sc.known(before[:n-2])
	}
	_, to := sc.token(v.from)
	behind := strings.Fields(sc.text[to:min(len(sc.text), to+mostBeside)])
	return len(behind) > 1 && isSignIn(behind[0]) && !strings.HasPrefix(behind[1], "-") && !sc.known(before)
}

// mostBeside bounds how much text next to a word is examined, in bytes.
const mostBeside = 200

// isSignIn reports whether an option names the user who signs in.
func isSignIn(word string) bool {
	switch word {
	case "-u", "-U", "-l", "--user", "--username", "--login", "-user", "-username":
		return true
	}
	return false
}

// known reports whether the command that ends with these words has a program that is in the
// table, which then says where its secrets are, or one that runs another program.
func (sc *scanner) known(words []string) bool {
	for i, word := range slices.Backward(words) {
		if strings.Trim(word, ";|&") == "" {
			break
		}
		word = strings.TrimLeft(word[strings.LastIndexByte(word, '/')+1:], `("'$`)
		if word == "exec" || word == "run" {
			return true
		}
		takes := takers()[word]
		if len(takes) == 0 {
			continue
		}
		// Of a program with subcommands, the table knows only those it lists.
		operands := slices.DeleteFunc(slices.Clone(words[i+1:]), func(word string) bool { return word[0] == '-' })
		if slices.ContainsFunc(takes, func(one taker) bool {
			return len(one.words) <= len(operands) && slices.Equal(one.words, operands[:len(one.words)])
		}) {
			return true
		}
	}
	return false
}

// fiveParts matches a line of a .pgpass file: host, port, database, user, password.
const fiveParts = `[^\s:'"\\]+:(?:[0-9]{2,5}|\*):[^\s:'"]+:[^\s:'"]+:([^\s:'"\\]+)`

var (
	passWord  = regexp.MustCompile(`(?:^|[\s'"])` + fiveParts)
	passWhole = regexp.MustCompile(`\A(?:` + fiveParts + `\s*)+\z`)
)

// Where scripts of interactive logins hold a password.
var (
	ftpSays    = regexp.MustCompile(`(?m)^[ \t]*(?:quote[ \t]+)?(?:user[ \t]+[^\s"']+|(?i:pass))[ \t]+([^\s"']+)[ \t]*$`)
	expectSays = regexp.MustCompile(`(?i)expect\s+(?:-\w+\s+)*["{]?[^"};]*(?:assw|pass|pin)[^"};]*["}]?[\s;{]*send\s+(?:--\s+)?"([^"\\$]+)`)
)

// talked records the passwords of such scripts.
func (sc *scanner) talked() {
	for name, says := range map[string]*regexp.Regexp{"ftp": ftpSays, "expect": expectSays} {
		if !strings.Contains(sc.text, name) || name == "expect" && !strings.Contains(sc.text, "send") {
			continue
		}
		for _, m := range says.FindAllStringSubmatchIndex(sc.text, -1) {
			sc.secretIn(m[2], m[3], 0)
		}
	}
}

// passLines records the passwords of a .pgpass file, in a text that names the file or is
// one.
func (sc *scanner) passLines() {
	if !strings.Contains(sc.text, "pgpass") && !passWhole.MatchString(sc.text) {
		return
	}
	for _, m := range passWord.FindAllStringSubmatchIndex(sc.text, -1) {
		sc.secretAt(m[2], 0)
	}
}
