package mask_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/golden"
)

// TestHowFarRulesReach puts ever more of a filler between what reveals a secret and the
// secret, and writes between which amounts the secret is hidden. It proves that each bound
// on the work leaves room for what people write, and that none grows unnoticed. After an
// intended change, run it with -update, and read which bounds have moved.
func TestHowFarRulesReach(t *testing.T) {
	t.Parallel()
	const most = 4200 // bytes of the filler
	var b strings.Builder
	for _, row := range reaches() {
		form, filler := row[0], row[1]
		hidden := func(n int) bool {
			return !showsSecret("", masker.Mask(strings.ReplaceAll(form, "%", strings.Repeat(filler, n))))
		}
		fmt.Fprintf(&b, "%-64q %-8q%s\n", form, filler, ranges(powers(most/len(filler)), hidden))
	}
	words := func(n int) bool {
		argv := append([]any{"mysql"}, slices.Repeat([]any{"x"}, n)...)
		return !showsSecret("", fmt.Sprint(masker.Object(map[string]any{"argv": append(argv, "-phunter2x")})))
	}
	// Each variable is only known to hold a secret once the next one is.
	variables := func(n int) bool {
		text := "V0=hunter2x"
		for i := range n {
			text += fmt.Sprintf("; V%d=$V%d", i+1, i)
		}
		return !showsSecret("", masker.Mask(text+fmt.Sprintf("; mysql -u root -p$V%d", n)))
	}
	fmt.Fprintf(&b, "words of a list %s\nvariables that hand on a secret %s\n", ranges(powers(100), words), ranges(powers(100), variables))
	golden.Check(t, "testdata/reach.txt", b.String())
}

// reaches returns forms in which % stands for ever more of a filler.
func reaches() [][2]string {
	return [][2]string{
		{"app set%_password hunter2x", "x"},
		{"app user:%password hunter2x", "x"},
		{"x %password hunter2x9", "x"},
		{"%word hunter2x9", "pass"},
		{"read%password hunter2x9", " "},
		{"<%password>hunter2x</a>", "x"},
		{"%password=hunter2x", "x"},
		{"password%= hunter2x", " "},
		{"password=%hunter2x", " "},
		{"a %=mysql -u root -phunter2x", "x"},
		{"A=%x mysql -phunter2x", "x"},
		{"sudo %mysql -phunter2x", "-x "},
		{"sudo mysql %-phunter2x", "-x "},
		{"sudo mysql -u %-phunter2x", "x"},
		{"mysql -u %'x' -phunter2x", "x"},
		{"mysql -u '%' -phunter2x", "x"},
		{"docker %login -p hunter2x", "-x "},
		{"docker -x %login -p hunter2x", "x "},
		{"docker %login -p hunter2x", "login "},
		{"echo %hunter2x | docker login --password-stdin", "x "},
		{"echo hunter2x | %docker login --password-stdin", "sudo "},
		{"echo hunter2x | %docker login --password-stdin", "-x "},
		{"echo hunter2x | ssh %docker login --password-stdin", "x "},
		{"echo hunter2x | ssh %docker login --password-stdin", "sudo "},
		{"echo hunter2x | docker login %--password-stdin", "-x "},
		{"echo hunter2x%| docker login --password-stdin", " "},
		{"echo hunter2x |%docker login --password-stdin", " "},
		{"echo hunter2x >%/run/secrets/db_password", " "},
		{"chpasswd <<EOF\n%root:hunter2x\nEOF", "x\n"},
		{"chpasswd <<EOF\n%root:hunter2x\nEOF", "\n"},
		{"chpasswd %<<EOF\nroot:hunter2x\nEOF", "-x "},
		{"chpasswd <<<%'root:hunter2x'", " "},
		{"echo 'root:x%ann:hunter2x' | chpasswd", "\\nx:y"},
		{"gh auth login %<<< hunter2x", "x "},
		{"read %TOKEN <<< hunter2x", "x "},
		{"read TOKEN%<<< hunter2x", " "},
		{"x --password-file%<(echo hunter2x)", " "},
		{"x --password-file=%echo hunter2x)", "$("},
		{"x --password%-file=<(echo hunter2x)", "_"},
		{"x --token-command 'echo %hunter2x'", "x "},
		{"set password for %= 'hunter2x'", "x"},
		{"alter user u identified with %by 'hunter2x'", "x "},
		{"password%'hunter2x'", " "},
		{"machine x login %password hunter2x", "x "},
		{"machine x login me%password 'hunter2x'", " "},
		{"app config DB_PASSWORD %--value hunter2x9", "x "},
		{"{\"name\":\"DB_PASSWORD\",%\"value\":\"hunter2x\"}", " "},
		{"{\"name\":%\"DB_PASSWORD\",\"value\":\"hunter2x\"}", " "},
		{"app secrets%set A=hunter2x", " "},
		{"app secrets set %A=hunter2x", "x "},
		{"app config set DB_PASSWORD %hunter2x9", "x "},
		{"app reset-password %hunter2x9", "x "},
		{"set('password', '%hunter2x')", "1"},
		{"login(%'hunter2x')", "'x', "},
		{"login(%'me', 'hunter2x')", " "},
		{"x -u %-p hunter2x", "x "},
		{"x -u me%-p hunter2x", " "},
		{"x -p hunter2x %-u me", " "},
		{"x -p hunter2x -u%me", " "},
		{"x -u %-p hunter2x", "x"},
		{"%x -u me -p hunter2x", "x "},
		{"x --password%hunter2x", " "},
		{"curl %-u me:hunter2x x", "x "},
		{"curl -H 'Authorization: Bearer%hunter2x'", " "},
		{"https://%:hunter2x@x.example/", "x"},
		{"https://x.example/%webhook/hunter2x-abcdef-987654", "x/"},
		{"-----BEGIN %PRIVATE KEY-----\nMIhunter2xhunter2xhunter2xhunter2x", "X "},
		{"-----BEGIN PRIVATE KEY-----%MIhunter2xhunter2xhunter2xhunter2x", "\n"},
		{"-----BEGIN PRIVATE KEY-----%MIhunter2xhunter2xhunter2xhunter2x", "\\r\\n"},
		{"Private-Lines:%4\nhunter2xhunter2xhunter2xhunter2x", " "},
		{"PASSWORD=%hunter2x}", "${A:-"},
		{"PASSWORD=%hunter2x}", "${A:="},
		{"PASSWORD='$%hunter2x'", "x"},
		{"PASSWORD='/%/hunter2x'", "x"},
		{"eyJ%.eyJhIjoxfQ.hunter2x", "x"},
		{"Cookie: %=hunter2x", "x"},
		{"Cookie: %b=hunter2x", "a=b; "},
		{"expect %password send \"hunter2x\"", "x "},
		{"ftp\nuser %hunter2x\n", "x "},
		{"h:5432:%:u:hunter2x pgpass", "x"},
		{"%h:5432:d:u:hunter2x", "h:5432:d:u:x9\n"},
	}
}

// powers returns 0, the powers of two up to a number, and the number.
func powers(most int) (all []int) {
	all = []int{0}
	for n := 1; n < most; n *= 2 {
		all = append(all, n)
	}
	return append(all, most)
}

// ranges returns between which amounts, of those between the first and the last one, a fact
// holds. It tries the given ones, and halves what lies between two of which only one holds.
func ranges(amounts []int, holds func(int) bool) string {
	var b strings.Builder
	is := false
	for i, n := range amounts {
		if holds(n) == is {
			continue
		}
		low, high := amounts[max(i-1, 0)], n
		for high-low > 1 {
			if mid := (low + high) / 2; holds(mid) == is {
				low = mid
			} else {
				high = mid
			}
		}
		if is = !is; is {
			fmt.Fprintf(&b, " %d-", high)
		} else {
			fmt.Fprint(&b, low)
		}
	}
	if is {
		fmt.Fprint(&b, amounts[len(amounts)-1])
	}
	return b.String()
}
