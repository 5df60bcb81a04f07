package approval

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/metnos/vaglio/approval/visible"
	"github.com/metnos/vaglio/vaglio"
)

// maxText is the greatest length of [Refusal.Text], in characters: agents cut
// what their hooks say not far above.
const maxText = 9000

// Text returns the refusal as plain text for an agent, at most 9,000
// characters. What others wrote stands in it as quotations on one line.
func (r Refusal) Text() string {
	var b strings.Builder
	b.WriteString("vaglio: this call did not run.\n")
	b.WriteString("Wanted: " + visible.Text(oneLine(clip(r.Wanted, maxWanted))) + "\n")
	b.WriteString(r.heading() + " " + clip(oneLine(r.Why), 4*maxReasoning) + "\n")
	if r.Words != "" {
		b.WriteString("The person's words: " + clip(quote(r.Words, MaxWords), 2*MaxWords) + "\n")
	}
	switch {
	case r.Final:
		b.WriteString("This is final: nobody can allow this call.\n")
	case r.Allow != "":
		b.WriteString("This is not final. " + oneLine(clip(r.Allow, maxAlternative)) + "\n")
	}
	if len(r.Alternatives) > 0 {
		b.WriteString("What can be done instead:\n")
	}
	for i, alternative := range r.Alternatives {
		if i == 8 {
			break
		}
		b.WriteString("- " + oneLine(clip(alternative, maxAlternative)) + "\n")
	}
	b.WriteString("Do not retry the same call, as it is or in another spelling, unless this text says so.")
	return clip(b.String(), maxText)
}

func (r Refusal) heading() string {
	switch {
	case r.Phase == vaglio.PhaseGuard && r.Rule != "":
		return "Denied by the guard (rule " + oneLine(clip(r.Rule, maxName)) + ")."
	case r.Phase == vaglio.PhaseGuard:
		return "Denied by the guard."
	case r.Phase == vaglio.PhaseJudge && !r.Final:
		return "Not allowed so far."
	default:
		return "Not allowed."
	}
}

// clip is [visible.Clip].
func clip(s string, n int) string { return visible.Clip(s, n) }

// quote is [visible.Quote].
func quote(s string, n int) string { return visible.Quote(s, n) }

// oneLine spells out line ends and everything else that is not printed.
func oneLine(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return !strconv.IsPrint(r) || r == utf8.RuneError }) < 0 {
		return s
	}
	quoted := strings.ReplaceAll(strconv.Quote(s), `\"`, `"`)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\\`, `\`)
}
