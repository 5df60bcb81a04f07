package unfold_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/metnos/vaglio/vaglio/code/unfold"
)

func kind(name string) unfold.Kind {
	switch last := name[strings.LastIndexAny(name, ".:")+1:]; {
	case name == "Files.delete":
		return unfold.First
	case name == "move":
		return unfold.Acts
	case last == "delete":
		return unfold.Object
	case last == "deleteTree":
		return unfold.Below
	case last == "File", last == "cwd":
		return unfold.Makes
	case last == "temp":
		return unfold.Temp
	}
	return unfold.None
}

// TestSource holds what calls are said to act on.
func TestSource(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		`f = File("a"); f.delete();`:                                                  `*.delete(File("a"));`,
		`void rm(File f) { f.delete(); } rm(new File("a"));`:                          `*.delete(new File("a"));`,
		`for (File c : File("a").list()) c.delete();`:                                 `*.delete(File("a") .list());`,
		`File("a").list().forEach(File::delete);`:                                     `*.delete(File("a") .list(), );`,
		`File("a").let { it.delete() }`:                                               `*.delete(File("a"));`,
		`var d = b ? "x" : "y"; Files.delete(d);`:                                     `Files.delete("y");`,
		`var d = "x" + "y"; Files.delete(d);`:                                         `Files.delete("xy");`,
		`String d() { return "x"; } Files.delete(d());`:                               `Files.delete("x", ());`,
		`var n = "x"; cwd().deleteTree(n);`:                                           `*.deleteTree(cwd(), "x");`,
		`Files.delete(join(temp(), id));`:                                             `Files.delete(join(temp(), "{}", id));`,
		`var n = "y"; Files.delete("x/$n");`:                                          `Files.delete("x/y");`,
		`var d = "x"; d = d + "/y"; Files.delete(d)`:                                  `Files.delete(d + "/y");`,
		`client.delete("/x"); b.delete(0, 1);`:                                        "",
		"var q = \"\"\"\n a \" b (\n\"\"\"; var n = \"x\"; Files.delete(n);":          `Files.delete("x");`,
		"var n = \"x\"; var a = @\"\"\"\n\"; Files.delete(n); var b = @\"\"\"\n\";":   `Files.delete("x");`,
		"var n = \"x\"; var a = @\"y\"\"\"\n; Files.delete(n); var b = @\"z\"\"\"\n;": `Files.delete("x");`,
		`// it's ("` + "\n" + `f = File("a")` + "\n" + `f.delete()`:                   `*.delete(File("a"));`,
	} {
		out, whole := unfold.Source(src, kind)
		if more := strings.TrimPrefix(out, out[:len(src)]); !whole || !strings.Contains(more, want) || want == "" && more != "" {
			t.Errorf("%s: %q, %v, want %q", src, more, whole, want)
		}
	}
}

// TestSourceIsWhole holds that what is beyond a bound is told: too many values of a name, too many calls, what
// stands behind more than is kept of an expression or an argument, and where it is open how a text ends.
func TestSourceIsWhole(t *testing.T) {
	t.Parallel()
	var values, calls strings.Builder
	for i := range 200 {
		values.WriteString("d = \"" + strconv.Itoa(i) + "\";\n")
		calls.WriteString("Files.delete(\"" + strconv.Itoa(i) + "\");\n")
	}
	pad := strings.Repeat(`"" + `, 500)
	for _, src := range []string{
		values.String() + "Files.delete(d);", calls.String(), "Files.delete(" + pad + `"x");`, "d = " + pad + `"x"; Files.delete(d);`,
		"File(" + pad + `"x").delete();`, `void rm(` + strings.Repeat("int a, ", 30) + `File f) { f.delete(); } rm(` + strings.Repeat("1, ", 30) + `File("x"));`,
		"var q = \"\"\"\n \\\"\"\"; Files.delete(d); var b = \"\"\"\n\"\"\";",
	} {
		if _, whole := unfold.Source(src, kind); whole {
			t.Errorf("%.40s… is said to be whole", src)
		}
	}
}

// FuzzSource holds that nothing that looks like a program stops the reading.
func FuzzSource(f *testing.F) {
	f.Add(`a = b + b; b = a + a; for (c : a) { c.delete() } x("]"). delete ) ( { File::delete`)
	f.Fuzz(func(_ *testing.T, src string) { unfold.Source(src, kind) })
}
