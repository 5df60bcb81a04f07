package guard

import (
	"strings"

	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/place"
)

// run is for a command line, or for a program with its words.
func (l *look) run(o *operation.Operation, spot string) string {
	if o.With == nil {
		return l.lineRule(spot)
	}
	if l.depth > 1 || l.narrow {
		return ""
	}
	name, _, _ := strings.Cut(spot, "@")
	in := *l
	in.depth, in.args, in.tests = l.depth+1, nil, nil
	for _, w := range o.With {
		in.args = append(in.args, spotOf(w))
	}
	return in.program(place.Base(name))
}

// carries is for the words of a program that is not known.
func (l *look) carries(*operation.Operation, string) string { return l.unknownProgram() }

// lineRule gives the rule that a word breaks if it is a command line.
func (l *look) lineRule(text string) string {
	if !strings.Contains(text, " ") || strings.ContainsAny(text, vague) || l.depth > 1 {
		return ""
	}
	o := l.options("")
	if len(l.cwds) == 1 && !place.IsVague(l.cwds[0]) {
		o.Cwd = l.cwds[0]
	}
	id, problems := l.g.readLine(text, o, l.s.t)
	l.s.t.note("", problems, "", 0, false)
	if id == faultID {
		return "" // no line that this program would run
	}
	return id
}
