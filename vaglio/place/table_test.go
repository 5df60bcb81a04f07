package place

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func load(t *testing.T) *Table {
	t.Helper()
	table, err := Load("/home/ann", false)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// instance returns a path that a pattern matches, and one that it just misses.
func instance(pattern string) (hit, nearMiss string) {
	hit = expand(pattern)
	return hit, missOf(pattern)
}

// expand returns a path that matches a pattern.
func expand(pattern string) string {
	steps := strings.Split(strings.Replace(pattern, "~/", "/home/ann/", 1), "/")
	for i, s := range steps {
		if s == "**" {
			s = "deep/down"
		}
		steps[i] = strings.NewReplacer("*", "x", "?", "1").Replace(s)
	}
	if strings.HasPrefix(pattern, "**") {
		return "/srv/" + strings.Join(steps, "/")
	}
	return strings.Join(steps, "/")
}

// missOf is expand with another name for the last step that has one.
func missOf(pattern string) string {
	if folder, below := strings.CutSuffix(pattern, "/*/**"); below {
		hit, _ := instance(folder)
		return hit
	}
	steps := strings.Split(pattern, "/")
	for i, s := range slices.Backward(steps) {
		if strings.Trim(s, "*") == "" {
			continue
		}
		switch opens, closes := strings.ContainsAny(s[:1], "*?"), strings.HasSuffix(s, "*"); {
		case opens && closes:
			steps[i] = "another"
		case closes:
			steps[i] = "miss" + s
		default:
			steps[i] = s + "miss"
		}
		break
	}
	return expand(strings.Join(steps, "/"))
}

// TestEveryPattern checks every pattern of the table with a path that it matches and one that
// it just misses. This row must not match the miss, but others may.
func TestEveryPattern(t *testing.T) {
	t.Parallel()
	all, err := readRows()
	if err != nil {
		t.Fatal(err)
	}
	patterns := 0
	for _, row := range all {
		for _, text := range row.Where {
			patterns++
			one := *row
			one.Where = []string{text}
			table := newTable([]*Row{&one}, false).of("/home/ann")
			hit, miss := instance(text)
			if row.Class&variables != 0 {
				if table.Variable(hit) != row.Class || table.Variable("plain") != 0 {
					t.Errorf("%s: %q is not found as a variable, or all are", row.What, hit)
				}
				continue
			}
			if row.Class&shapes != 0 {
				continue // checked by TestTrees and TestDisks
			}
			class := func(p string) Class {
				return (table.classed.classes(strings.ToLower(p), table) | table.made.classes(strings.ToLower(p), table)) & row.Class
			}
			if class(hit) != row.Class {
				t.Errorf("%s: %s does not find %s", row.What, text, hit)
			}
			if class(miss) != 0 {
				t.Errorf("%s: %s finds %s", row.What, text, miss)
			}
			for op, rule := range map[Op]string{Reads: row.Reading, Writes: row.Writing, Removes: row.Removing, Uses: row.Reading, Empties: row.Removing} {
				if got := table.Rule(hit, op); got != rule {
					t.Errorf("%s: operation %d on %s is %q, not %q", row.What, op, hit, got, rule)
				}
				if got := table.Rule(miss, op); got != "" {
					t.Errorf("%s: operation %d on %s is %q", row.What, op, miss, got)
				}
			}
		}
		for _, text := range row.Except {
			hit, _ := instance(text)
			table := newTable([]*Row{row}, false).of("/home/ann")
			if row.Class&(variables|shapes) == 0 && table.classed.classes(strings.ToLower(hit), table) != 0 {
				t.Errorf("%s: the free %s is found", row.What, hit)
			}
		}
	}
	if patterns < 1000 {
		t.Errorf("only %d patterns were tried", patterns)
	}
}

// eachRow reads a file of cases: a path, a tab, and the expectation.
func eachRow(t *testing.T, name string, try func(path, want string)) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(strings.Trim(string(data), "\n"), "\n") {
		p, want, ok := strings.Cut(line, "\t")
		if !ok {
			t.Fatalf("%s: %q has no tab", name, line)
		}
		try(p, want)
	}
}

// marks replaces the placeholders in a path from testdata by marks.
func marks(p string) string {
	return strings.NewReplacer("<any>", string(AnyText), "<one>", string(AnyByte),
		"<unknown>", string(Unknown), "<perhaps>", string(Perhaps), "<folders>", AnyFolders).Replace(p)
}

func className(c Class) string {
	var names []string
	for name := range strings.FieldsSeq("secret own authority control temporary nowhere perimeter cache") {
		if c&classNames()[name] != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}

func TestClasses(t *testing.T) {
	t.Parallel()
	table := load(t)
	eachRow(t, "classes.txt", func(p, want string) {
		if got := className(table.Classes(marks(p))); got != want {
			t.Errorf("%s is %q, not %q", p, got, want)
		}
	})
}

func TestBelow(t *testing.T) {
	t.Parallel()
	table := load(t)
	eachRow(t, "below.txt", func(p, want string) {
		if got := className(table.Below(marks(p)) & (Secret | Own)); got != want {
			t.Errorf("below %s lies %q, not %q", p, got, want)
		}
	})
}

func TestTrees(t *testing.T) {
	t.Parallel()
	table := load(t)
	names := map[Tree]string{NoTree: "none", RootTree: "root", HomeTree: "home", SystemTree: "system"}
	eachRow(t, "trees.txt", func(p, want string) {
		if got := names[table.TreeAt(marks(p))]; got != want {
			t.Errorf("%s is %s, not %s", p, got, want)
		}
	})
	for _, p := range whereOf(table, tree) {
		hit, miss := instance(p)
		if got := table.TreeAt(hit); got != SystemTree {
			t.Errorf("%s is %s", hit, names[got])
		}
		if got := table.TreeAt(miss + "/a/b/c"); got != NoTree {
			t.Errorf("%s is %s", miss, names[got])
		}
	}
}

// whereOf returns the patterns of a class.
func whereOf(table *Table, class Class) (all []string) {
	for _, r := range table.rows {
		if r.Class == class {
			all = append(all, r.Where...)
		}
	}
	return all
}

func TestDisks(t *testing.T) {
	t.Parallel()
	table := load(t)
	for _, p := range whereOf(table, disk) {
		if hit, _ := instance(p); !table.IsDisk(hit) {
			t.Errorf("%s is not a disk", hit)
		}
	}
	eachRow(t, "disks.txt", func(p, want string) {
		if got := table.IsDisk(marks(p)); got != (want == "disk") {
			t.Errorf("%s: disk is %t", p, got)
		}
	})
}

func TestRules(t *testing.T) {
	t.Parallel()
	table := load(t)
	ops := map[string]Op{"use": Uses, "read": Reads, "write": Writes, "replace": Replaces, "remove": Removes, "empty": Empties, "copy": Copies}
	eachRow(t, "rules.txt", func(p, want string) {
		op, rule, _ := strings.Cut(want, " ")
		if got := table.Rule(marks(p), ops[op]); got != rule {
			t.Errorf("to %s %s is %q, not %q", op, p, got, rule)
		}
	})
}

func TestRebuilt(t *testing.T) {
	t.Parallel()
	table := load(t)
	eachRow(t, "rebuilt.txt", func(p, want string) {
		if got := table.Rebuilt(p); got != (want == "yes") {
			t.Errorf("%s: rebuilt is %t", p, got)
		}
	})
}

// TestFolding checks that case counts exactly where the system distinguishes it.
func TestFolding(t *testing.T) {
	t.Parallel()
	strict := load(t)
	folded, err := Load("/Users/Ann", true)
	if err != nil {
		t.Fatal(err)
	}
	if got := strict.Rule("/ETC/SHADOW", Reads); got != "" {
		t.Errorf("where case counts, another name is %q", got)
	}
	if got := folded.Rule("/ETC/SHADOW", Reads); got != "path.auth_read" {
		t.Errorf("where case does not count, the accounts are %q", got)
	}
	if strict.Classes("/ETC/SHADOW")&Secret == 0 {
		t.Error("a judge is not told of /ETC/SHADOW")
	}
	for p, want := range map[string]Tree{
		"/USR": SystemTree, "/usr/BIN": SystemTree, "/SYSTEM/library": SystemTree, "/HOME/bob": HomeTree, "/USERS/bob": HomeTree, "/Root": HomeTree,
		"/Users/\x04": HomeTree, "/USERS/bob/x": NoTree, "/x/USR": NoTree,
	} {
		if got := folded.TreeAt(p); got != want {
			t.Errorf("where case does not count, %q is %v, want %v", p, got, want)
		}
		if got := strict.TreeAt(p); p != "/Users/\x04" && got != NoTree && p != "/usr/BIN" {
			t.Errorf("where case counts, %q is %v", p, got)
		}
	}
	for _, home := range []string{"/Users/Ann", "/users/ann", "/USERS/ANN"} {
		if got := folded.Rule(home+"/.AWS/credentials", Reads); got != "path.secrets" {
			t.Errorf("below %s, the home in other letters, is %q", home, got)
		}
		if got := folded.TreeAt(home); got != HomeTree {
			t.Errorf("%s, the home in other letters, is %v", home, got)
		}
	}
}

// TestHomesElsewhere checks a home outside the usual folders.
func TestHomesElsewhere(t *testing.T) {
	t.Parallel()
	for _, fold := range []bool{false, true} {
		table, err := Load("/srv/Ann", fold)
		if err != nil {
			t.Fatal(err)
		}
		for p, want := range map[string]bool{"/srv/Ann": true, "/srv/Ann/x": true, "/srv/ann/x": true, "/srv": false, "/srv/Bob": false, "srv/Ann": false, "/c:/users/bob": true, "/c:/users": false, "/users/bob": true, "/users": false} {
			if got := table.InHome(p); got != want {
				t.Errorf("folded %v: %s is in a home: %v", fold, p, got)
			}
		}
		for p, want := range map[string]bool{"/srv/Ann": true, "/srv/ann": fold, "/SRV/ANN": fold, "/srv/bob": false} {
			if got := table.TreeAt(p) == HomeTree; got != want {
				t.Errorf("folded %v: %s is a home: %v", fold, p, got)
			}
		}
	}
}

// TestWhatIsNoHome takes neither the root nor a path that does not begin there for the user's home.
func TestWhatIsNoHome(t *testing.T) {
	t.Parallel()
	for _, home := range []string{"", "/", "//", "srv/ann", "."} {
		table, err := Load(home, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []string{"/", "/srv", "/srv/ann", "/srv/ann/x"} {
			if table.InHome(p) {
				t.Errorf("with the home %q, %s is in it", home, p)
			}
		}
	}
}

// TestAboveAHomeElsewhere holds that what lies in a home lies below the folders above that
// home.
func TestAboveAHomeElsewhere(t *testing.T) {
	t.Parallel()
	table, err := Load("/srv/people/ann", false)
	if err != nil {
		t.Fatal(err)
	}
	if homeless, err := Load("", false); err != nil || homeless.Below("/") != table.Below("/") || homeless.Below("/srv")&Secret != 0 {
		t.Errorf("without a home, homes are below the root alone: %v", err)
	}
	for p, want := range map[string]bool{"/": true, "/srv": true, "/srv/people": true, "/srv/people/ann": true, "/srv/people/bob": false, "/srv/peoples": false, "/srv/x": false} {
		if got := table.Below(p)&Secret != 0; got != want {
			t.Errorf("secrets lie below %s: %v", p, got)
		}
	}
}

// TestMistakes checks that a mistake in the data is reported with its position.
func TestMistakes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"secret read=path.keys\n\t/a":           "x.txt:1:1: a row needs its name",
		"secret |   \n\t/a":                     "x.txt:1:1: a row needs its name",
		"secrets | keys\n\t/a":                  `x.txt:1:1: there is no class "secrets"`,
		"secret raed=path.keys | keys\n\t/a":    `x.txt:1:8: nothing is done`,
		"secret read=keys | keys\n\t/a":         `x.txt:1:8: "keys" is not a rule`,
		"secret read=a.b read=a.c | keys\n\t/a": "x.txt:1:17: read is said twice",
		"\t/a\n":                                "x.txt:1:1: a pattern stands before",
		"secret | keys\n\t/a//b":                `x.txt:2:2: "/a//b" is not a path`,
		"secret | keys\n\t/a /../b":             `x.txt:2:5: "/../b" is not a path`,
		"secret | keys\n\t/a **":                `x.txt:2:5: "**" is not a path`,
		"secret | keys\n\t\"/a b":               "x.txt:2:2: the quote",
		"secret | keys\n\t/{a,b":                `x.txt:2:2: "/{a,b" is not a pattern`,
		"secret | keys\n\nsecret | more\n\t/a":  `the row "keys" has no pattern`,
		"secret | keys\n\t/a{b":                 `x.txt:2:2: "/a{b" is not a pattern`,
		" | keys\n\t/a":                         "x.txt:1:1: a pattern stands before",
		"\u00a0 | keys\n\t/a":                   "x.txt:1:1: a row begins with its class",
	} {
		_, err := parseRows("x.txt", text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, not %s", text, err, want)
		}
	}
}

// TestNamedPlaces checks a path for every pattern against the whole table, so that no row
// disappears or changes its class unnoticed: its classes, whether it is rebuilt, and the
// rules about reading, writing and removing it.
func TestNamedPlaces(t *testing.T) {
	t.Parallel()
	table := load(t)
	eachRow(t, "named.txt", func(p, want string) {
		if got := said(table, p); got != want {
			t.Errorf("%s is %q, not %q", p, got, want)
		}
	})
}

func said(table *Table, p string) string {
	words := []string{(table.Classes(p) | table.Purpose(p) | table.Variable(p)).String(), "fixed"}
	if table.Rebuilt(p) {
		words[1] = "rebuilt"
	}
	for _, op := range []Op{Reads, Writes, Removes} {
		words = append(words, table.Rule(p, op))
	}
	return strings.Join(words, " | ")
}

// TestTablesAreSharedNotTheirHomes loads tables for two homes from one compilation. Each
// knows its own home, and not the other.
func TestTablesAreSharedNotTheirHomes(t *testing.T) {
	t.Parallel()
	homes := []string{"/home/ann", "/srv/people/ben"}
	for _, fold := range []bool{false, true} {
		var tables []*Table
		for _, home := range homes {
			table, err := Load(home, fold)
			if err != nil {
				t.Fatal(err)
			}
			tables = append(tables, table)
		}
		if tables[0].classed != tables[1].classed || tables[0].ruled != tables[1].ruled {
			t.Errorf("fold %v: the patterns are compiled anew for each home", fold)
		}
		if got := tables[1].TreeAt(homes[1]); got != HomeTree {
			t.Errorf("fold %v: %s is %d in its own table", fold, homes[1], got)
		}
		if got := tables[0].TreeAt(homes[1]); got == HomeTree {
			t.Errorf("fold %v: %s is a home in the table of %s", fold, homes[1], homes[0])
		}
	}
}

// TestTheIndexLeavesNothingOut marks each step of paths that rows match as unknown, in whole or in part,
// and compares what the index finds with a walk through all rows.
func TestTheIndexLeavesNothingOut(t *testing.T) {
	table := load(t)
	matching := func(x *index, clean string) (rows []*Row) {
		var r room
		steps := stepsOf(clean, &r)
		at := table.homeOf(steps)
		for _, p := range x.all {
			if p.matches(clean, steps, at) {
				rows = append(rows, p.row)
			}
		}
		return rows
	}
	found := 0
	for n, p := range table.ruled.all {
		if testing.Short() && n%10 > 0 {
			continue
		}
		hit, _ := instance(strings.Join(p.steps, "/"))
		steps := strings.Split("/"+strings.TrimPrefix(hit, "/"), "/")
		for i := range steps {
			for _, mark := range Marks {
				for _, step := range []string{string(mark), steps[i] + string(mark), string(mark) + steps[i], AnyFolders} {
					marked := slices.Clone(steps)
					marked[i] = step
					clean := strings.Join(marked, "/")
					rows := matching(table.ruled, clean)
					for _, op := range []Op{Reads, Writes, Replaces, Removes} {
						want := slices.ContainsFunc(rows, func(r *Row) bool { return r.ruleFor(op) != "" })
						if got := table.Rule(clean, op) != ""; got != want {
							t.Errorf("%q, operation %d: a rule %v, want %v", clean, op, got, want)
						}
					}
					var want Class
					for _, r := range matching(table.classed, clean) {
						want |= r.Class
					}
					if got := table.classed.classes(clean, table); got != want {
						t.Errorf("%q has the classes %b, want %b", clean, got, want)
					}
					if want != 0 {
						found++
					}
				}
			}
		}
	}
	if found < 100 {
		t.Errorf("only %d paths have a class", found)
	}
}
