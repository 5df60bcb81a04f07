package reading

import (
	"encoding/base64"
	"strings"

	"github.com/metnos/vaglio/internal/hosts"
	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/vaglio/shell/powershell"
	"github.com/metnos/vaglio/vaglio/wordclass"
	"github.com/metnos/vaglio/vaglio/wording"
)

// add keeps a command line or program that was read, up to maxTexts of them.
func (w *walk) add(c Command) {
	if w.texts++; w.texts > maxTexts {
		if w.texts == maxTexts+1 {
			w.gap(c.At, wording.Say("holds more command lines than are read"))
		}
		return
	}
	w.rd.Commands = append(w.rd.Commands, c)
}

// text reads one text according to the roles of its key.
func (w *walk) text(key, text string, role Role, sc *scope, at string, depth int) {
	if role&(RoleRuns|RoleTyped|RoleProse|RoleProgram|RoleInput|RoleWords) == 0 || strings.TrimSpace(text) == "" {
		return
	}
	if role&RoleRuns != 0 && encoded(key) {
		plain, ok := decoded(text)
		if !ok {
			w.gap(at, wording.Say("is said to be written in base64 and is not"))
			return
		}
		text = plain
	}
	// A shell would also read the braces of JSON, and what is in them.
	isFile := role&RoleContent != 0 && len(sc.files) > 0 && !w.class.runs
	doubt := !isFile && role&(RoleRuns|RoleTyped|RoleInput|RoleProse) != 0 && w.embedded(key, text, role, sc, at, depth)
	w.run(key, text, role, sc, at, doubt)
}

// run reads one text that runs, or may run.
func (w *walk) run(key, text string, role Role, sc *scope, at string, doubt bool) {
	switch {
	case role&RoleProgram != 0 && (role&RoleCommand == 0 || w.dialect(key, text, sc) == powershell.Posix) && w.named(text, role, sc, at):
	case role&RoleCommand != 0:
		w.command(key, text, sc, at, doubt)
	case role&(RoleScript|RoleCode) != 0 && doubt:
		w.line(text, sc, at, mood{doubt: true})
	case role&(RoleScript|RoleCode) != 0:
		w.program(key, text, role, sc, at)
	case !doubt && w.isTyped(text, role, sc):
		w.typed(text, role, sc, at)
	}
}

// decoded decodes base64, in any spelling that programs accept.
func decoded(text string) (string, bool) {
	text = strings.TrimRight(strings.NewReplacer("-", "+", "_", "/", "\n", "", "\r", "", " ", "").Replace(text), "=")
	plain, err := base64.RawStdEncoding.DecodeString(text)
	return string(plain), err == nil
}

// named reads a program whose words are in another argument.
func (w *walk) named(text string, role Role, sc *scope, at string) bool {
	alone := sc.words == nil && sc.more == "" || !isOneWord(text)
	if alone || role&RoleRuns == 0 && (!w.class.runs && !sc.argv || w.class.elsewhere) {
		return false
	}
	doubt := role&RoleRuns == 0 && sc.commands // the words may belong to another command
	if sc.words == nil {
		w.line(text+" "+sc.more, sc, at, mood{final: w.class.shell && !doubt, doubt: doubt})
		return true
	}
	w.argv(append([]string{text}, sc.words...), sc, at, doubt)
	return true
}

// isTyped reports whether an executor runs a text that nothing else runs.
func (w *walk) isTyped(text string, role Role, sc *scope) bool {
	switch {
	case w.class.elsewhere || sc.commands:
		return false
	case role&(RoleTyped|RoleInput) != 0 && role&RolePath == 0:
		return w.class.runs || w.class.types
	case role&RoleProse == 0:
		return false
	default:
		return w.class.types || w.class.shell || w.class.language != "" && isOther(shapeOf(text))
	}
}

// typed reads what is passed to an executor that runs its input.
func (w *walk) typed(text string, role Role, sc *scope, at string) {
	if w.class.cells {
		if text = w.cell(text, sc, at); strings.TrimSpace(text) == "" {
			return
		}
	}
	switch {
	case sc.lang != "" && sc.lang != langShell && (!sc.claimed || role&(RoleTyped|RoleInput) != 0):
		w.inline(text, sc, at)
	case isOther(shapeOf(text)):
		in := *sc
		in.lang = shapeOf(text)
		w.inline(text, &in, at)
	default:
		w.line(text, sc, at, mood{doubt: !w.class.shell && !w.class.types})
	}
}

// mood says how certain a reading is, with the meanings of [Command].
type mood struct{ final, doubt, verb bool }

func (w *walk) command(key, text string, sc *scope, at string, doubt bool) {
	if d := w.dialect(key, text, sc); d != powershell.Posix {
		w.windows(d, text, sc, at)
		return
	}
	m := mood{final: w.class.shell && !doubt && w.role(key)&RoleTyped == 0, doubt: doubt}
	if !w.class.shell {
		if w.statement(text, sc, at) {
			return
		}
		if lang := w.otherLanguage(text, sc); lang != "" {
			in := *sc
			in.lang = lang
			w.inline(text, &in, at)
			return
		}
		m.verb = isWord(text)
		m.doubt = m.doubt || isWord(text) && Normal(key) != "command" && Normal(key) != "cmd"
	}
	w.withWords(withProgram(key, text), sc, at, m)
}

// dialect returns the shell that a text is a command line of.
func (w *walk) dialect(key, text string, sc *scope) powershell.Dialect {
	if isOther(languageWord(Normal(key))) || sc.lang == langPowerShell {
		return powershell.PowerShell
	}
	return powershell.Of(w.name, text)
}

// withProgram prepends the program that a key names to its text.
func withProgram(key, text string) string {
	program := keyProgram(key)
	if first, _, _ := strings.Cut(strings.TrimSpace(text), " "); program != "" && first != program {
		return program + " " + text
	}
	return text
}

// windows reads a line of a Windows shell.
func (w *walk) windows(d powershell.Dialect, text string, sc *scope, at string) {
	if sc.more != "" {
		text += " " + sc.more
	}
	if len(sc.words) > 0 {
		text += " " + strings.Join(sc.words, " ")
	}
	w.add(Command{At: at, Text: text, Language: langPowerShell, Env: sc.env, Script: powershell.ReadAs(d, text, sc.o)})
}

// otherLanguage returns the language of a text that is clearly not a command line, or "".
func (w *walk) otherLanguage(text string, sc *scope) string {
	if lang := shapeOf(text); isOther(lang) {
		if lang == langPython && isOther(sc.lang) {
			return sc.lang
		}
		return lang
	}
	return ""
}

// isOther reports whether a language is known and not the shell's.
func isOther(lang string) bool { return lang != "" && lang != langShell }

// isWord reports whether a text is one plain word, such as a verb.
func isWord(text string) bool {
	const longest = 40
	odd := func(c rune) bool { return c >= 0x80 || !isAlnum(byte(c&0x7f)) && c != '_' && c != '-' }
	return text != "" && len(text) <= longest && !strings.ContainsFunc(text, odd)
}

// withWords reads a line alone, and with the words beside it that its tool may append.
func (w *walk) withWords(text string, sc *scope, at string, m mood) {
	blank := strings.ContainsAny(strings.TrimSpace(text), " \t\n;|&")
	if sc.more == "" || blank {
		w.line(text, sc, at, m)
	}
	switch {
	case sc.more != "":
		w.line(text+" "+sc.more, sc, at, m)
	case len(sc.words) > 0:
		m.doubt = true
		w.line(text+" "+quoted(sc.words), sc, at, m)
	}
}

// line reads a command line in its surroundings.
func (w *walk) line(text string, sc *scope, at string, m mood) {
	const stops = "\x03\x04\x1c" // ^C, ^D and ^\ end what runs in a terminal, and run nothing
	text = strings.TrimRight(text, stops)
	c := Command{At: at, Text: text, Language: langShell, Env: sc.env, Final: m.final, Doubt: m.doubt, Verb: m.verb}
	if sc.input != "" && sc.commands {
		mark := "VAGLIO_INPUT"
		for strings.Contains(sc.input, mark) {
			mark += "_"
		}
		c.Shift = len("{ ")
		text = "{ " + text + "\n} <<'" + mark + "'\n" + sc.input + "\n" + mark + "\n"
	}
	if plain := strings.ReplaceAll(text, "\r\n", "\n"); plain != text {
		raw := c
		raw.Script, raw.Final, raw.Doubt = ReadLine(text, sc.o), false, true
		w.add(raw)
		text = plain
	}
	c.Script = ReadLine(text, sc.o)
	w.everywhere(c, sc)
}

func (w *walk) argv(argv []string, sc *scope, at string, doubt bool) {
	if sc.input != "" && sc.commands {
		w.line(quoted(argv), sc, at, mood{final: w.class.shell && !doubt, doubt: doubt})
		return
	}
	c := Command{At: at, Text: quoted(argv), Language: langShell, Env: sc.env, Final: w.class.shell && !doubt, Doubt: doubt, Script: ReadArgv(argv, sc.o)}
	w.everywhere(c, sc)
}

// everywhere keeps a line, and once more as run on the host or in the container that an argument beside
// it names. The line may still run here: tools ignore arguments that they do not know.
func (w *walk) everywhere(c Command, sc *scope) {
	w.add(w.byClient(c, sc))
	var argv []string
	switch {
	case sc.host != "" && !hosts.Loopback(sc.host) && !strings.ContainsAny(sc.host, " \t\n"):
		argv = []string{"ssh", "--", sc.host, c.Text}
	case sc.pod && sc.box != "" && !strings.ContainsAny(sc.box, " \t\n"):
		argv = []string{"kubectl", "exec", sc.box, "--", "sh", "-c", c.Text}
	case sc.box != "" && !strings.ContainsAny(sc.box, " \t\n"):
		argv = []string{"docker", "exec", sc.box, "sh", "-c", c.Text}
	default:
		return
	}
	c.Script, c.Final = ReadArgv(argv, sc.o), false
	w.add(c)
}

// byClient keeps a line that a server takes by its client as one of that client, and returns the line, which is in doubt then.
func (w *walk) byClient(c Command, sc *scope) Command {
	if client := w.class.client; client != "" && !c.Doubt && !strings.HasPrefix(c.Text, client) {
		of := c
		of.Text, of.Verb = client+" "+c.Text, false
		of.Script = ReadLine(of.Text, sc.o)
		w.add(of)
		c.Doubt, c.Final = true, false
	}
	return c
}

// quoted joins words, quoted so that a shell reads exactly these words.
func quoted(argv []string) string {
	odd := func(c rune) bool {
		return c >= 0x80 || !isAlnum(byte(c&0x7f)) && !strings.ContainsRune("%+,-./:=@_", c)
	}
	return strings.Join(lists.Each(argv, func(a string) string {
		if a != "" && !strings.ContainsFunc(a, odd) {
			return a
		}
		return "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
	}), " ")
}

// fewLines is how many lines of a list are also read one by one; longer lists are only read as one script.
const fewLines = 64

// sequence reads a list of texts: as lines, if the key or the first text suggests so, and as words.
func (w *walk) sequence(key string, list []string, role Role, sc *scope, at string, depth int) {
	if role&(RoleCommand|RoleWords) == 0 {
		w.text(key, wholeOf(list), role, sc, at, depth+1)
		return
	}
	lines := len(list) == 1 || strings.HasSuffix(strings.ToLower(key), "s") && role&RoleWords == 0 ||
		strings.ContainsAny(strings.TrimSpace(list[0]), " \t\n;|&")
	if lines {
		w.lines(key, list, role, sc, at, depth)
	}
	if len(list) == 1 {
		return
	}
	if wordclass.Any("shell-operator", list) {
		w.line(strings.Join(list, " "), sc, at, mood{doubt: lines})
		w.argv(list, sc, at, true)
		return
	}
	if role&RoleCommand != 0 && role&RoleWords == 0 {
		list = append(list, sc.words...)
	}
	w.argv(list, sc, at, lines)
}

// wholeOf joins the lines of a program, which may or may not end with newlines.
func wholeOf(list []string) string {
	if strings.HasSuffix(list[0], "\n") {
		return strings.Join(list, "")
	}
	return strings.Join(list, "\n")
}

// lines reads each line of a list, and all of them as one script.
func (w *walk) lines(key string, list []string, role Role, sc *scope, at string, depth int) {
	if len(list) <= fewLines {
		for _, text := range list {
			w.text(key, text, role|RoleCommand, sc, at, depth+1)
		}
	}
	if len(list) > 1 {
		w.line(strings.Join(list, "\n"), sc, at, mood{doubt: len(list) <= fewLines})
	}
}
