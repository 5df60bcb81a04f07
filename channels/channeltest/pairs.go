package channeltest

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/vaglio"
)

// wantedPairs returns how many pairs of calls every channel shows; `make injective` asks for
// 100,000.
func wantedPairs(t *testing.T, wanted string) int {
	t.Helper()
	n, err := strconv.Atoi(cmp.Or(wanted, "300"))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// atOnce is how many pairs one platform shows; the next ones get another.
const atOnce = 250

// pairs shows pairs of calls that differ in one thing, drawn anew for each pair from a fixed seed:
// no two different calls may look the same, on one card or with its file. Calls are different if
// their fingerprints are; what has none is refused before it is asked.
func pairs(t *testing.T, facts Facts, with func(t *testing.T, test func(t *testing.T, h Harness))) {
	race.Alone(t)
	type call struct {
		print approval.Fingerprint
		p     vaglio.Proposal
	}
	seen := map[[sha256.Size]byte]call{}
	shown, masked, wanted := 0, 0, wantedPairs(t, facts.Pairs)
	for first := 0; first < wanted && !t.Failed(); first += atOnce {
		with(t, func(t *testing.T, h Harness) {
			t.Helper()
			for n := first; n < min(first+atOnce, wanted); n++ {
				d := drawing{rand.New(rand.NewPCG(18, uint64(n)))}
				for _, p := range lengthened(d.pair(), facts.Long*(n%2)) {
					is, err := approval.Secret{1}.Fingerprint(p, nil)
					if err != nil {
						t.Fatal(err)
					}
					a := openFor(t, h.Channel.Name(), p.Agent, "clean up", p)
					ref, pic := h.post(t, &a)
					text := bare(&pic, &a)
					sum := sha256.Sum256([]byte(text))
					if other, ok := seen[sum]; ok && other.print != is {
						t.Errorf("pair %d: two calls look the same:\n%q %q %q %+v\n%q %q %q %+v\n%.2000q", n, p.Agent, p.Executor, p.Args, p.Context, other.p.Agent, other.p.Executor, other.p.Args, other.p.Context, text)
					}
					seen[sum] = call{is, p}
					if shown++; strings.Contains(text, "‹masked") {
						masked++
					}
					h.elsewhere(t, &a, approval.ChoiceDeny, "")
					h.amend(t, ref, &a)
				}
			}
			h.Desk.Forget()
		})
	}
	t.Logf("%d pairs, %d cards that were shown, %d different ones, %d with a mask", wanted, shown, len(seen), masked)
}

// drawing draws calls.
type drawing struct{ *rand.Rand }

func pick[T any](d drawing, from []T) T { return from[d.IntN(len(from))] }

// pair draws two calls that can be asked for, which differ in one thing.
func (d drawing) pair() []vaglio.Proposal {
	for {
		one := d.call()
		other := d.changed(one)
		was, err := approval.Secret{1}.Fingerprint(one, nil)
		is, fault := approval.Secret{1}.Fingerprint(other, nil)
		if err == nil && fault == nil && was != is && other.Agent != "" {
			return []vaglio.Proposal{one, other}
		}
	}
}

// lengthened returns the calls with the same long text added to one argument of each.
func lengthened(pair []vaglio.Proposal, by int) []vaglio.Proposal {
	for _, p := range pair {
		for _, name := range slices.Sorted(maps.Keys(p.Args)) {
			if s, ok := p.Args[name].(string); ok && by > 0 {
				p.Args[name] = strings.Repeat("word ", by/5) + "\n" + s
				break
			}
		}
	}
	return pair
}

// call draws a call of a shell or of another tool.
func (d drawing) call() vaglio.Proposal {
	p := vaglio.Proposal{
		Agent: pick(d, []string{"coder", "c", "claude-code", d.text(8)}), Executor: pick(d, []string{"shell_exec", "send_mail", "http_request", d.text(12)}),
		Args: vaglio.Args{}, Context: vaglio.Context{Cwd: pick(d, []string{"", "/home/u", "/srv/" + d.text(6)})},
	}
	for range d.IntN(3) {
		p.Context.Mounts = append(p.Context.Mounts, "/"+d.text(5))
	}
	if p.Executor == "shell_exec" {
		p.Args["command"] = d.line()
		return p
	}
	for range 1 + d.IntN(3) {
		p.Args[pick(d, []string{"to", "body", "token", "api_key", "url", "amount", d.text(5)})] = d.value(2)
	}
	return p
}

// line draws a command line, about every second one with a secret.
func (d drawing) line() string {
	line := pick(d, []string{"rm ", "echo ", "git push ", "make\n", ""}) + d.text(20)
	if d.IntN(40) == 0 {
		line += strings.Repeat(pick(d, []string{"x", " ", "\n", "ab ", "é"}), 3000+d.IntN(6000))
	}
	if d.IntN(2) == 0 {
		line += pick(d, []string{" ", "; ", "\n"}) + d.secret()
	}
	return line
}

// secret draws something that is masked, in one of the forms in which secrets are given.
func (d drawing) secret() string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	random := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteByte(letters[d.IntN(len(letters))])
		}
		return b.String()
	}
	return fmt.Sprintf(pick(d, []string{
		"curl -H 'Authorization: Bearer ghp_%s' https://example.org", "mysql -p%s -u root shop", "export API_KEY=%s", "api_key=%s; echo $api_key | sh",
		"git clone https://ann:%s@example.org/a.git", "TOKEN='%s' make", "sshpass -p %s ssh web",
	}), random(36+d.IntN(3)))
}

// value draws an argument.
func (d drawing) value(deep int) any {
	switch n := d.IntN(9); {
	case n == 0:
		return d.IntN(12)
	case n == 1:
		return pick(d, []any{nil, true, false, 0.5, 1e300})
	case n == 2 && deep > 0:
		return []any{d.value(deep - 1), d.value(deep - 1)}
	case n == 3 && deep > 0:
		return map[string]any{d.text(3): d.value(deep - 1)}
	case n == 4:
		return d.secret()
	case n == 5:
		return pick(d, []string{"", "1", "null", "true", "[]", "{}", `"`, `\`})
	default:
		return d.text(12)
	}
}

// strange are pieces that are not seen, look like others, or are what a card itself writes.
func strange() []string {
	return []string{
		"a", "b", " ", "  ", "\n", "\t", "\r\n", "\u200b", "\u200d", "\u202e", "\u2066", "\u00a0", "\u00ad", "\ufeff", "\ufe0f", "\U000e0041", "а", "е", "ѕ", "ａ", "é", "e\u0301", "\u0301",
		"…", "...", "… 5 more characters", "⟨1 space⟩", "⟨U+200B⟩", "⟨newline⟩", "‹masked 36 chars #0011223344›", "<b>", "&lt;", "*", "`", "_", "\\", "\"", "'", "{", "}", "[", ",", ":",
		"Mount /a", "In /home/u", "😀", "\x00", "\x1b[2J", "\u2028", "\ufffd", "0", "1", "\n\nIn /srv", "    ", "\n    ",
	}
}

// text draws a text of at most so many pieces, most of them plain.
func (d drawing) text(most int) string {
	var b strings.Builder
	for range 1 + d.IntN(most) {
		if d.IntN(3) > 0 {
			b.WriteString(pick(d, []string{"a", "b", "main", "origin", "-f", " ", "/", "./x", "2019"}))
		} else {
			b.WriteString(pick(d, strange()))
		}
	}
	return b.String()
}

// changed returns the call with one thing changed.
func (d drawing) changed(p vaglio.Proposal) vaglio.Proposal {
	p.Args, p.Context.Mounts = maps.Clone(p.Args), slices.Clone(p.Context.Mounts)
	names := slices.Sorted(maps.Keys(p.Args))
	name := pick(d, names)
	switch d.IntN(11) {
	case 0:
		p.Agent = d.edited(p.Agent)
	case 1:
		p.Executor = d.edited(p.Executor)
	case 2:
		p.Context.Cwd = d.edited(p.Context.Cwd)
	case 3:
		p.Context.Mounts = append(p.Context.Mounts, "/"+d.text(2))
	case 4: // The folder becomes a mount, or the other way round.
		if n := len(p.Context.Mounts); n > 0 {
			p.Context.Cwd, p.Context.Mounts[n-1] = p.Context.Mounts[n-1], p.Context.Cwd
		} else {
			p.Context.Cwd, p.Context.Mounts = "", []string{p.Context.Cwd}
		}
	case 5: // What is there once is there as another type.
		p.Args[name] = pick(d, []any{[]any{p.Args[name]}, fmt.Sprint(p.Args[name]), nil, map[string]any{name: p.Args[name]}})
	case 6: // A name is another's.
		p.Args[d.edited(name)] = p.Args[name]
		delete(p.Args, name)
	case 7:
		delete(p.Args, name)
	case 8: // What the card would show in place of the call is typed by the agent.
		p.Args = approval.NewMasker(approval.Secret{1}).Proposal(p).Args
	default:
		if s, ok := p.Args[name].(string); ok {
			p.Args[name] = d.edited(s)
		} else {
			p.Args[name] = d.value(2)
		}
	}
	return p
}

// edited returns the text with a piece more, less, or in place of another, anywhere in it or,
// often, at its end.
func (d drawing) edited(s string) string {
	r := []rune(s)
	at := d.IntN(len(r) + 1)
	if d.IntN(3) == 0 {
		at = len(r)
	}
	before, after := string(r[:at]), string(r[at:])
	switch d.IntN(4) {
	case 0:
		return before
	case 1:
		if len(r) > at {
			after = string(r[at+1:])
		}
		return before + pick(d, strange()) + after
	default:
		return before + pick(d, strange()) + after
	}
}
