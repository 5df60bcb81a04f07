package commands

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/golden"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/shell"
)

func load(tb testing.TB) *Base {
	tb.Helper()
	b, err := Load()
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// tell returns what the tables say of a command line without quotes. A word that begins with
// $ is unknown.
func tell(b *Base, line string) Told {
	line, input, _ := strings.Cut(line, " <<< ")
	line, fed := strings.CutSuffix(line, " <")
	var assigns []shell.Assign
	for {
		first, rest, _ := strings.Cut(line, " ")
		name, value, ok := strings.Cut(first, "=")
		if !ok || rest == "" {
			break
		}
		line, assigns = rest, append(assigns, shell.Assign{Name: name, Value: shell.Text(value)})
	}
	fields := strings.Fields(line)
	words := make([]shell.Word, len(fields)-1)
	for i, f := range fields[1:] {
		words[i] = word(f)
	}
	return b.Tell(Command{Name: fields[0], Words: words, Fed: fed, Assigns: assigns, Input: shell.Text(input)})
}

// word reads $NAME in a text as an unknown part, and · as a space.
func word(s string) shell.Word {
	s = strings.ReplaceAll(s, "·", " ")
	text, rest, ok := strings.Cut(s, "$")
	if !ok {
		return shell.Text(s)
	}
	name, rest, _ := strings.Cut(rest, ".")
	return shell.NewWord(shell.Part{Text: text}, shell.Part{Kind: shell.PartUnknown, Name: name, MayBeEmpty: true}, shell.Part{Text: rest})
}

func shown(o *operation.Operation) string {
	var b strings.Builder
	b.WriteString(string(o.Verb))
	if o.Recursive {
		b.WriteString(" all of")
	}
	if o.Object.Kind != operation.Whole {
		b.WriteString(" " + o.Object.Word.String())
	}
	if !o.To.Is("") {
		b.WriteString(" to " + o.To.String())
	}
	if o.Object.Host {
		b.WriteString(" elsewhere")
	}
	for i, w := range o.With {
		b.WriteString([]string{" with ", " "}[min(i, 1)] + w.String())
	}
	if o.Role != "" {
		b.WriteString(" (" + string(o.Role) + ")")
	}
	if o.Phase != operation.Both {
		b.WriteString(", " + string(o.Phase))
	}
	return b.String()
}

// TestOperations compares the operations of the commands in testdata/operations.txt with the
// lines below each.
func TestOperations(t *testing.T) {
	t.Parallel()
	const file = "testdata/operations.txt"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b := load(t)
	var got strings.Builder
	for line := range strings.Lines(string(text)) {
		command, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "$ ")
		if !ok {
			continue
		}
		got.WriteString("$ " + command + "\n")
		for _, one := range does(b, command) {
			got.WriteString("    " + one + "\n")
		}
	}
	golden.Check(t, file, got.String())
}

// does returns the operations of a command line as texts.
func does(b *Base, command string) (all []string) {
	told := tell(b, command)
	if !told.Known {
		all = append(all, "not known")
	}
	for i := range told.Operations {
		all = append(all, shown(&told.Operations[i]))
	}
	return all
}

// TestWhichWordsDecide leaves out each word of the commands in testdata/operations.txt in
// turn, doubles it, and moves it to the end: below each change are the operations that
// go (-) and that come (+). After an intended change, run it with -update, and read what has
// moved.
func TestWhichWordsDecide(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/operations.txt")
	if err != nil {
		t.Fatal(err)
	}
	b := load(t)
	var got strings.Builder
	for line := range strings.Lines(string(text)) {
		command, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "$ ")
		if !ok {
			continue
		}
		got.WriteString("$ " + command + "\n")
		words := strings.Fields(command)
		was := does(b, command)
		for i := 1; i < len(words); i++ {
			without := slices.Delete(slices.Clone(words), i, i+1)
			for _, changed := range [][]string{without, slices.Insert(slices.Clone(words), i, words[i]), append(without, words[i])} {
				line := strings.Join(changed, " ")
				if apart := differences(was, does(b, line)); apart != "" {
					got.WriteString("  " + line + "\n" + apart)
				}
			}
		}
	}
	golden.Check(t, "testdata/decides.txt", got.String())
}

// differences tells what is only in one of two lists; nothing if only their order differs.
func differences(was, now []string) string {
	var b strings.Builder
	for _, one := range was {
		if !slices.Contains(now, one) {
			b.WriteString("    - " + one + "\n")
		}
	}
	for _, one := range now {
		if !slices.Contains(was, one) {
			b.WriteString("    + " + one + "\n")
		}
	}
	return b.String()
}

// TestBudget has commands put together more names than they may. The rest is a gap, never a
// pass.
func TestBudget(t *testing.T) {
	t.Parallel()
	b := load(t)
	folder := strings.Repeat("d/", 1<<14)
	for name, words := range map[string][]string{
		"cp":  {"-t", folder},
		"tar": {"-c", "-C", folder},
	} {
		c := Command{Name: name}
		for _, w := range words {
			c.Words = append(c.Words, shell.Text(w))
		}
		for i := range 1 << 10 {
			c.Words = append(c.Words, shell.Text(fmt.Sprint("f", i)))
		}
		told := b.Tell(c)
		if !told.Spent {
			t.Errorf("%s: %d operations, and the budget is not spent", name, len(told.Operations))
		}
		// Of what is put together, no more is told than fits.
		if n := len(told.Operations) - 1<<10; n > 1<<9 {
			t.Errorf("%s: %d names beyond its words are told", name, n)
		}
	}
	long := tell(b, "rm -"+strings.Repeat("f", 1<<20)+"r a")
	if len(long.Operations) != 1 || !long.Operations[0].Recursive {
		t.Errorf("rm with a long bundle: %d operations, want one that recurses", len(long.Operations))
	}
	if told := tell(b, "cp a b c"); told.Spent {
		t.Error("cp a b c spends the budget")
	}
}

// TestMistakesAreFound checks the file, line and column that the loader reports.
func TestMistakesAreFound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[a]\n> operands = remove":              "x.txt:2:14: unknown verb \"remove\"",
		"[a]\n> operandes = read":               "x.txt:2:3: unknown place \"operandes\"",
		"[a]\n> a with b = read":                "x.txt:2:3: unknown place \"a\"",
		"[a]\n> here with b = read":             "x.txt:2:13: unknown place \"b\"",
		"[a]\nx = read of operandes":            "x.txt:2:10: unknown word \"of\" in \"read of operandes\"",
		"[a]\n> in:perl = read":                 "x.txt:2:3: no number of an operand in \"in:perl\"",
		"[a]\n> operand:x = read":               "x.txt:2:3: no number of an operand in \"operand:x\"",
		"# b\n[a b a]\nx = read":                "x.txt:2:2: a stands twice in one section",
		"[a] walues=-x\nx = read":               "x.txt:1:5: unknown attribute \"walues=-x\"",
		"[a]\n  x = reads":                      "x.txt:2:7: unknown effect \"reads\"",
		"[a]\nx = delete user forever":          "x.txt:2:17: unknown word \"forever\" in \"delete user forever\"",
		"x = read":                              "x.txt:1:1: line outside a section: \"x = read\"",
		"[a]\nx = @rule of operandes":           "x.txt:2:11: unknown place \"of\"",
		"[a]\nx = @rule with operandes":         "x.txt:2:16: unknown place \"operandes\"",
		"[a]\nx ?says:nobody = read":            "x.txt:2:9: unknown class of words \"nobody\"",
		"[a]\nx":                                "x.txt:2:1: want pattern = effect or > where = verb, got \"x\"",
		"[a]\n> operands = read always":         "x.txt:2:19: unknown word \"always\" behind the verb",
		"[a]\nx ?outside > here = read":         "x.txt:2:1: what is done to what asks for no fact: \"x ?outside\"",
		"[a]\nx ?outside:nowhere = read":        "x.txt:2:12: unknown place \"nowhere\"",
		"[a]\nx ?outside:nowhere > here = read": "x.txt:2:12: unknown place \"nowhere\"",
		"[a]\nx ?nothing = read":                "x.txt:2:3: unknown fact \"nothing\"",
		"[a]\nx > = read":                       "x.txt:2:7: nothing is said of what is done by \"read\"",
		"[a]\nx = ; why":                        "x.txt:2:5: no effect in \"; why\"",
		"[a]\nx @nobody = read":                 "x.txt:2:3: unknown class of words \"@nobody\"",
	} {
		if err := newBase().read("x.txt", text); err == nil || err.Error() != want {
			t.Errorf("%q:\n got %v\nwant %s", text, err, want)
		}
	}
}

// TestIsRare tells tests of a search that few files pass from those that most pass.
func TestIsRare(t *testing.T) {
	t.Parallel()
	for test, want := range map[string]bool{
		"empty": true, "few": true, "name *.go": false, "owner ann": true, "owner root": false, "owner 0": false,
		"size +1G": true, "size +0": false, "size 0c": false, "age -1": true, "age +30": false, "age 5": false,
		"mode 4000": true, "mode -0022": true, "mode /002": true, "mode 644": false, "mode -u+w": false, "mode 0755": false,
		"mode 777": true, "mode 6": true, "mode 3": true, "mode 5": false, "mode u+s": true, "mode +t": true, "mode o+w": true, "mode a+w": true, "mode -": false, "mode 000": false,
	} {
		class, value, _ := strings.Cut(test, " ")
		if IsRare(class, value) != want {
			t.Errorf("%s: want %t", test, want)
		}
	}
}

// TestWhoseWorkIsGraded tells programs of which judges learn what is done from those of which
// only the guard does.
func TestWhoseWorkIsGraded(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{"rm a": true, "bun install a": false} {
		if told := tell(load(t), line); told.Graded != want {
			t.Errorf("%q is graded: %t", line, told.Graded)
		}
	}
}

// FuzzTell holds that nothing breaks the evaluator, and that what it names stands in the
// command.
func FuzzTell(f *testing.F) {
	f.Add("cp -t /x a b")
	f.Add("tar cfC x.tar /d a")
	f.Add("rsync -a --delete a/ h:/b")
	f.Add("sed -i.bak -e s/a/b/ $X./f")
	f.Add("sgdisk -Zo /dev/sda <")
	b := load(f)
	f.Fuzz(func(t *testing.T, line string) {
		if len(strings.Fields(line)) < 1 || strings.Fields(line)[0] == "<" {
			return
		}
		for _, o := range tell(b, line).Operations {
			if !o.Verb.Known() {
				t.Errorf("%q: unknown verb %q", line, o.Verb)
			}
			if s, ok := o.Object.Word.Text(); ok && o.Role != operation.Inside && !strings.Contains(line, s[strings.LastIndexByte(s, '/')+1:]) {
				t.Errorf("%q: %q is not of it", line, s)
			}
		}
	})
}
