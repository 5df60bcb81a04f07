package vaglio_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/metnos/vaglio/vaglio"
)

// machineOf holds processes in memory.
type machineOf struct {
	all   []vaglio.Process
	users map[uint16][]int
	fails error
}

func (m machineOf) List() ([]vaglio.Process, error) {
	out := slices.Clone(m.all)
	for i := range out {
		if out[i].Started.IsZero() {
			out[i].Started = time.Now() // it began just before the look
		}
	}
	return out, m.fails
}

func (m machineOf) Users(port uint16) ([]int, error) { return m.users[port], m.fails }

func (m machineOf) Free(port uint16) (bool, error) { return len(m.users[port]) == 0, m.fails }

// TestWhatASessionStartedIsItsOwn tells a session's processes from all others.
func TestWhatASessionStartedIsItsOwn(t *testing.T) {
	t.Parallel()
	at := time.Now()
	const app = "/home/u/app"
	machine := machineOf{all: []vaglio.Process{
		{PID: 1, Name: "init", Words: []string{"/sbin/init"}},
		{PID: 10, Parent: 1, Name: "npm run dev", Words: []string{"npm run dev"}, Cwd: app, Started: at.Add(time.Second)},
		{PID: 11, Parent: 10, Name: "sh", Words: []string{"sh", "-c", "vite"}, Cwd: app, Started: at.Add(time.Second)},
		{PID: 12, Parent: 11, Name: "node", Words: []string{"node", app + "/node_modules/.bin/vite"}, Cwd: app, Started: at.Add(2 * time.Second)},
		{PID: 13, Parent: 1, Name: "sh", Words: []string{"/bin/sh", "./run.sh"}, Cwd: app + "/web", Started: at.Add(time.Second)},
		{PID: 14, Parent: 1, Name: "python3", Words: []string{"/usr/bin/python3", "-m", "http.server", "8000"}, Cwd: app, Started: at},
		{PID: 20, Parent: 1, Name: "npm run dev", Words: []string{"npm run dev"}, Cwd: app, Started: at.Add(-time.Hour)},
		{PID: 21, Parent: 1, Name: "npm run dev", Words: []string{"npm run dev"}, Cwd: "/home/u/other", Started: at.Add(time.Second)},
		{PID: 22, Parent: 1, Name: "npm run dev", Words: []string{"npm run dev"}, Cwd: app, Started: at.Add(time.Hour)},
		{PID: 23, Parent: 1, Name: "vim", Words: []string{"vim", "./run.sh"}, Cwd: app + "/web", Started: at.Add(time.Second)},
		{PID: 24, Parent: 1, Name: "npm run dev", Words: []string{"npm run dev"}, Started: at.Add(time.Second)},
		{PID: 25, Parent: 26, Name: "x", Words: []string{"x"}, Cwd: app, Started: at},
		{PID: 26, Parent: 25, Name: "x", Words: []string{"x"}, Cwd: app, Started: at},
	}, users: map[uint16][]int{5173: {12}, 5432: {30}, 8000: {14, 30}}}
	facts := vaglio.Facts{
		{Deed: vaglio.Started, Path: app, Words: []string{"npm", "run", "dev"}, At: at},
		{Deed: vaglio.Started, Path: app + "/web", Words: []string{"./run.sh", "PORT=3000"}, At: at},
		{Deed: vaglio.Started, Path: app, Words: []string{"python3", "-m", "http.server", "8000"}, At: at},
	}
	own := vaglio.NewRunning(facts, machine)
	for pid, want := range map[string]bool{
		"10": true, "11": true, "12": true, "13": true, "14": true,
		"20": false, "21": false, "22": false, "23": false, "24": false, "25": false,
		"0": false, "1": false, "-10": false, "99": false, "": false, "10x": false,
	} {
		if own.Started(pid) != want {
			t.Errorf("%s: want %t", pid, want)
		}
	}
	for _, tt := range []struct {
		program string
		words   []string
		want    bool
	}{
		{"pkill", []string{"vite", "-f"}, true},
		{"pkill", []string{"node"}, true},
		{"killall", []string{"python3"}, true},
		{"killall", []string{"node"}, true},
		{"pkill", []string{"npm run dev", "-f"}, false}, // others run it, too
		{"pkill", []string{"sh", "-9f"}, false},         // vim ./run.sh
		{"pkill", []string{"init"}, false},
		{"killall", []string{"p.*"}, false},
		{"pkill", []string{"["}, false},
		{"fuser", []string{"5173/tcp"}, true},
		{"fuser", []string{"5432/tcp"}, false},
		{"fuser", []string{"9999/tcp"}, false},
	} {
		if own.Stops(tt.program, tt.words[:1], tt.words) != tt.want {
			t.Errorf("%s %q: want %t", tt.program, tt.words, tt.want)
		}
	}
	call := own.Fork()
	call.Begin(vaglio.StartedBy(app, []string{"node", "x.js"}))
	if !call.Stops("fuser", []string{"9999/tcp"}, nil) || !call.Stops("pkill", []string{"node x.js"}, []string{"-f", "node x.js"}) ||
		call.Stops("fuser", []string{"5432/tcp"}, nil) || own.Stops("fuser", []string{"9999/tcp"}, nil) {
		t.Error("what a call starts is not its own, or more than that is")
	}
	for name, none := range map[string]*vaglio.Running{
		"a session that started nothing": vaglio.NewRunning(vaglio.Facts{{Deed: vaglio.Wrote, Path: app + "/x"}}, machine),
		"a machine that tells nothing":   vaglio.NewRunning(facts, machineOf{all: machine.all, users: machine.users, fails: errors.New("no such folder")}),
		"no machine":                     vaglio.NewRunning(facts, nil),
	} {
		if none.Started("10") || none.Stops("pkill", []string{"vite"}, []string{"-f", "vite"}) || none.Stops("fuser", []string{"5173/tcp"}, nil) {
			t.Errorf("%s: something is the session's own", name)
		}
	}
}

// TestASessionStopsByNumber kills processes by PID, as an agent does that has read one: some
// that the session started, and some that it did not.
func TestASessionStopsByNumber(t *testing.T) {
	t.Parallel()
	files := folderOf{"/home/u/app/main.c": "x"}
	machine := machineOf{all: []vaglio.Process{
		{PID: 4242, Parent: 1, Name: "node", Words: []string{"node", "server.js"}, Cwd: "/home/u/app"},
		{PID: 4243, Parent: 1, Name: "node", Words: []string{"node", "other.js"}, Cwd: "/home/u/app"},
	}, users: map[uint16][]int{8080: {4242}, 8081: {4243}, 8082: {4242, 4243}}}
	engine, _ := sessionEngineOn(t, files, machine)
	const server = "node server.js > log 2>&1 &"
	for _, tt := range []struct {
		calls []string
		pass  bool
	}{
		{[]string{server, "kill 4242"}, true},
		{[]string{server, "kill -9 4242; sleep 1; ls"}, true},
		{[]string{server, "kill %1"}, true},
		{[]string{server, "kill $(lsof -ti:8080)"}, true},
		{[]string{server, "lsof -ti:8080 | xargs kill -9"}, true},
		{[]string{server, "pkill -f server.js"}, true},
		{[]string{server + " sleep 1; curl localhost:9090; kill $(lsof -ti:9090)"}, true},
		{[]string{"(node x.js &); sleep 1; pkill -f 'node x.js'"}, true},
		{[]string{"(node other.js &); sleep 1; pkill -f 'node other.js'"}, false},
		{[]string{server + " sleep 1; kill $(lsof -ti:8081)"}, false},
		{[]string{"sleep 1; kill $(lsof -ti:9090)"}, false},
		{[]string{server, "kill 4243"}, false},
		{[]string{server, "kill 4242 4243"}, false},
		{[]string{server, "kill -9 -4242"}, false},
		{[]string{server, "sudo kill 4242"}, false},
		{[]string{server, "ssh host kill 4242"}, false},
		{[]string{server, "docker exec box kill 4242"}, false},
		{[]string{server, "kill $(lsof -ti:8081)"}, false},
		{[]string{server, "kill $(lsof -ti:8082)"}, false},
		{[]string{server, "killall node"}, false},
		{[]string{server, "kill 1"}, false},
		{[]string{"node server.js", "kill 4242"}, false},
		{[]string{"kill 4242"}, false},
	} {
		v := inSessionOf(t, engine, tt.calls...)
		if v.Approved != tt.pass {
			t.Errorf("%q: want %t, %s", tt.calls, tt.pass, v.Reason)
		}
	}
}

// TestTwoSessionsOfOneProgram starts the same program in the same folder in two sessions:
// then nothing tells whose a process is.
func TestTwoSessionsOfOneProgram(t *testing.T) {
	t.Parallel()
	now := time.Now()
	fact := vaglio.Facts{{Deed: vaglio.Started, Path: "/home/u/app", Words: []string{"node", "server.js"}}}
	machine := machineOf{all: []vaglio.Process{{PID: 42, Parent: 1, Name: "node", Words: []string{"node", "server.js"}, Cwd: "/home/u/app", Started: now}}}
	one, two, third := vaglio.Proposal{Session: "1"}, vaglio.Proposal{Session: "2"}, vaglio.Proposal{Session: "3", Agent: "other"}
	var sessions vaglio.Sessions
	owns := func(p *vaglio.Proposal) bool { return vaglio.NewRunning(sessions.Facts(p), machine).Started("42") }
	sessions.Note(&one, now, fact)
	sessions.Note(&two, now, vaglio.Facts{{Deed: vaglio.Started, Path: "/home/u/app", Words: []string{"node", "worker.js"}}})
	elsewhere := fact[0]
	elsewhere.Path = "/home/u/lib"
	sessions.Note(&vaglio.Proposal{Session: "4"}, now, vaglio.Facts{elsewhere})
	before := sessions.Facts(&one)
	if !owns(&one) || owns(&two) {
		t.Error("what one started is not its own alone")
	}
	sessions.Note(&third, now, fact)
	if owns(&one) || owns(&two) || owns(&third) {
		t.Error("what two started is somebody's own")
	}
	if !vaglio.NewRunning(before, machine).Started("42") {
		t.Error("the facts that were given out before changed")
	}
}

// TestWhichPortsAreFree asks for a port that a new container wants.
func TestWhichPortsAreFree(t *testing.T) {
	t.Parallel()
	machine := machineOf{users: map[uint16][]int{5432: {10}}}
	for port, want := range map[string][2]bool{"5432": {false, true}, "5433": {true, true}, "70000": {false, false}, "x": {false, false}} {
		if free, known := vaglio.NewRunning(nil, machine).Free(port); free != want[0] || known != want[1] {
			t.Errorf("%s: free %v, known %v, want %v", port, free, known, want)
		}
	}
	machine.fails = errors.New("no such folder")
	if free, known := vaglio.NewRunning(nil, machine).Free("5433"); free || !known {
		t.Errorf("a port of which nothing is told is free: %v, known: %v", free, known)
	}
	if free, known := vaglio.NewRunning(nil, nil).Free("5433"); free || known {
		t.Errorf("without a machine, a port is free: %v, known: %v", free, known)
	}
}
