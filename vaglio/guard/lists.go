package guard

import (
	"strings"

	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/place"
)

// processList is what a line has found out about the processes that run.
type processList struct {
	// all says that it lists all of them, filtered that it then picks some.
	all, filtered bool
	// init says that it asks for the first one.
	init bool
}

// lists notes the names of a folder that are printed. What is printed with its
// folder may be fed to another command.
func (s *survey) lists(_ *look, _ *operation.Operation, spot string) {
	s.listed = append(s.listed, spot)
	if place.IsVague(spot) {
		s.shown = append(s.shown, spot)
	}
}

// shows notes a name that is printed as it stands.
func (s *survey) shows(_ *look, _ *operation.Operation, spot string) { s.shown = append(s.shown, spot) }

// seeks notes a search for processes.
func (s *survey) seeks(l *look, o *operation.Operation, spot string) {
	if o.Object.Kind == operation.Whole || picksAll(spot) {
		s.processes.init = true
		return
	}
	s.asksVaglio = s.asksVaglio || l.namesOwn(spot)
}

// traces notes a search for who has a name or uses a file.
func (s *survey) traces(l *look, _ *operation.Operation, spot string) {
	s.asksVaglio = s.asksVaglio || s.g.itself.Picked(spot, false) || spot != "" && s.g.isOwnAt(l.absolute(spot), uses) || s.g.itself.HasPort(spot)
}

// census notes a list of all processes.
func (s *survey) census(*look, *operation.Operation, string) { s.processes.all = true }

// mounts notes that the line asks where file systems are mounted.
func (s *survey) mounts(*look, *operation.Operation, string) { s.asksMounts = true }

// picks notes that a list of processes is cut down, by itself or by a command
// behind it that keeps some lines only. One that does something to every line
// keeps them all.
func (s *survey) picks(l *look, o *operation.Operation, spot string) {
	if o.Object.Kind == operation.Whole {
		s.processes.filtered = true
		return
	}
	everyLine := strings.HasPrefix(strings.TrimSpace(spot), "{") && !strings.Contains(spot, "if")
	if !l.c.Stdin.Piped || !s.processes.all || everyLine || spot == "" || spot[0] == '-' {
		return
	}
	s.processes.filtered = true
	name, _, _ := strings.Cut(spot, "{")
	s.asksVaglio = s.asksVaglio || s.g.itself.Picked(strings.Trim(name, "/^$ "), false)
}
