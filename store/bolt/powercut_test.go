//go:build unix

package bolt_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/store/bolt"
	"github.com/metnos/vaglio/store/storetest"
)

// The tests simulate a power cut from the file system calls of a process, in the order in
// which strace sees them. A write is on disk once its file was synced after it, and a name
// once its directory was. A cut at any instant leaves that for certain, and anything of all
// else.

// liveUntilCut uses a store as a service and its owner do: it opens, writes, closes,
// reopens and compacts the store, with an audit log beside it. It prints what was acknowledged.
func liveUntilCut(path string) error {
	n := 0
	for round := range 4 {
		db, err := bolt.Open(path, bolt.Options{})
		if err != nil {
			return err
		}
		line, end, err := auditing(filepath.Dir(path))
		if err != nil {
			return err
		}
		for range 3 {
			n++
			id := fmt.Sprint("r", n%4)
			_, err := db.Update(context.Background(), approval.KindAsk, id, func(r approval.Record) (approval.Record, error) {
				r.Body, r.Keys = fmt.Appendf(nil, "%d%s", n, strings.Repeat(" ", n*977%5000)), []string{id + "-key"}
				r.Leaves = [][]byte{fmt.Appendf(nil, "leaf %d", n)}
				return r, nil
			})
			if err != nil {
				return err
			}
			fmt.Fprintf(os.Stdout, "record %s %d\n", id, n)
			e := approval.JournalEntry{At: time.Now(), Key: "turn", Note: []byte("note"), Body: fmt.Appendf(nil, "entry %d", n)}
			if err := db.Append(context.Background(), &e); err != nil {
				return err
			}
			fmt.Fprintf(os.Stdout, "entry turn %d\n", n)
			for i := range linesEach {
				line((n-1)*linesEach + i + 1)
			}
		}
		if err := end(); err != nil {
			return err
		}
		fmt.Fprintf(os.Stdout, "audited round %d\n", n*linesEach)
		if err := db.Close(); err != nil {
			return err
		}
		fmt.Fprintf(os.Stdout, "closed round %d\n", n)
		if round == 1 || round == 2 {
			if _, _, err := bolt.Compact(path, bolt.Options{}); err != nil {
				return err
			}
			fmt.Fprintf(os.Stdout, "compacted round %d\n", n)
		}
	}
	return nil
}

// linesEach is how many lines of the audit log follow each record.
const linesEach = 5

// disk is a directory as a process has written it, and the part of it that a power cut is
// certain to leave.
type disk struct {
	dir   string
	names map[string]*inode // by their paths below dir, as they are now
	kept  map[string]*inode // as they are on disk
	// pending holds the changes of names since their directory was synced, oldest first.
	pending []naming
	acked   []string
	// marks maps a mark of a proper close to the file's content at that time.
	marks map[string][]byte
}

// inode is a file: the writes to it, the first synced of which are on disk.
type inode struct {
	writes []written
	synced int
	at     int64 // where the next write without an offset goes
}

// written is one write, or a change of the file's length if data is nil.
type written struct {
	at   int64
	data []byte
}

// naming gives a file a name, or removes the name if of is nil.
type naming struct {
	name string
	of   *inode
	from string // the previous name, which is removed
}

func (n naming) apply(to map[string]*inode) {
	delete(to, n.from)
	if n.of == nil {
		delete(to, n.name)
	} else {
		to[n.name] = n.of
	}
}

func (d *disk) rename(n naming) {
	n.apply(d.names)
	d.pending = append(d.pending, n)
}

// content returns what the file holds after its synced writes and those chosen.
func (f *inode) content(chosen func(i int) bool, torn *rand.Rand) []byte {
	var b []byte
	for i, w := range f.writes {
		if i >= f.synced && !chosen(i) {
			continue
		}
		if w.data == nil {
			b = append(b, make([]byte, max(0, w.at-int64(len(b))))...)[:w.at]
			continue
		}
		b = append(b, make([]byte, max(0, w.at+int64(len(w.data))-int64(len(b))))...)
		if i < f.synced || torn == nil {
			copy(b[w.at:], w.data)
			continue
		}
		const sector = 512
		for from := 0; from < len(w.data); from += sector {
			if torn.IntN(4) > 0 {
				to := min(from+sector, len(w.data))
				copy(b[w.at+int64(from):w.at+int64(to)], w.data[from:to])
			}
		}
	}
	return b
}

// image returns what a cut at this instant leaves: all that is certain and, of the rest,
// nothing (how is 0), everything (1) or any part (2).
func (d *disk) image(how int, random *rand.Rand) map[string][]byte {
	names := maps.Clone(d.kept)
	first, torn := 0, (*rand.Rand)(nil)
	chosen := func(int) bool { return how == 1 }
	switch how {
	case 1:
		first = len(d.pending)
	case 2:
		first, torn = random.IntN(len(d.pending)+1), random
		chosen = func(int) bool { return random.IntN(2) == 0 }
	}
	for _, n := range d.pending[:first] {
		n.apply(names)
	}
	out := map[string][]byte{}
	for name, f := range names {
		out[name] = f.content(chosen, torn)
	}
	return out
}

var (
	traced  = regexp.MustCompile(`^(\d+) +(.*)$`)
	resumed = regexp.MustCompile(`^<\.\.\. (\w+) resumed>(.*)$`)
	escaped = regexp.MustCompile(`\\x[0-9a-f]{2}`)
	called  = regexp.MustCompile(`^(\w+)\((.*)\) += (-?\d+)`)
	ofFile  = regexp.MustCompile(`^(?:\d+|AT_FDCWD)<([^>]*)>`)
	quoted  = regexp.MustCompile(`"([^"]*)"`)
)

func unescape(s string) string {
	return escaped.ReplaceAllStringFunc(s, func(e string) string {
		n, _ := strconv.ParseUint(e[2:], 16, 8)
		return string([]byte{byte(n)})
	})
}

// replay builds the disk from strace's output, and calls at after each change.
func (d *disk) replay(t *testing.T, log string, at func()) {
	t.Helper()
	begun := map[string]string{}
	before := map[string]func(){} // what a sync in progress will bring to disk, by thread
	for line := range strings.Lines(log) {
		m := traced.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			t.Fatalf("strace says %q", line)
		}
		thread, text := m[1], m[2]
		if head, unfinished := strings.CutSuffix(text, " <unfinished ...>"); unfinished {
			begun[thread] = head
			if strings.HasPrefix(head, "fsync") || strings.HasPrefix(head, "fdatasync") {
				before[thread] = d.syncing(head)
			}
			continue
		}
		if r := resumed.FindStringSubmatch(text); r != nil {
			text = begun[thread] + r[2]
		}
		c := called.FindStringSubmatch(text)
		if c == nil || c[3] == "-1" {
			continue // a signal, an exit, or a failed call
		}
		sync := before[thread]
		delete(before, thread)
		if d.change(c[1], c[2], sync) {
			at()
		}
	}
}

// below returns a path relative to the directory, and reports whether it is inside.
func (d *disk) below(path string) (string, bool) {
	name, is := strings.CutPrefix(unescape(path), d.dir+"/")
	return strings.TrimSuffix(name, " (deleted)"), is
}

// syncing returns a function that brings to disk what a file or a directory holds now.
func (d *disk) syncing(args string) func() {
	_, args, _ = strings.Cut(args, "(")
	m := ofFile.FindStringSubmatch(args)
	if m == nil {
		return func() {}
	}
	name, is := d.below(m[1])
	if f := d.names[name]; is && f != nil {
		n := len(f.writes)
		return func() { f.synced = max(f.synced, n) }
	}
	folder, n := strings.TrimPrefix(strings.TrimPrefix(unescape(m[1]), d.dir), "/"), len(d.pending)
	if !is && unescape(m[1]) != d.dir {
		return func() {}
	}
	return func() {
		var left []naming
		for i, p := range d.pending {
			if in := filepath.Dir(p.name); i < n && (in == folder || in == "." && folder == "") {
				p.apply(d.kept)
			} else {
				left = append(left, p)
			}
		}
		d.pending = left
	}
}

// change applies one call, and reports whether it changed anything.
func (d *disk) change(call, args string, sync func()) bool {
	var words []string
	for _, q := range quoted.FindAllStringSubmatch(args, -1) {
		words = append(words, unescape(q[1]))
	}
	var of *inode
	if m := ofFile.FindStringSubmatch(args); m != nil {
		if name, is := d.below(m[1]); is {
			of = d.names[name]
		}
	}
	numbers := strings.Split(args, ", ")
	last, _ := strconv.ParseInt(numbers[len(numbers)-1], 0, 64)
	switch call {
	case "openat":
		name, is := d.below(words[0])
		if !is || !strings.Contains(args, "O_CREAT") && !strings.Contains(args, "O_TRUNC") {
			return false
		}
		if f := d.names[name]; f == nil {
			d.rename(naming{name: name, of: &inode{}})
		} else if strings.Contains(args, "O_TRUNC") {
			f.writes = append(f.writes, written{})
		}
		return true
	case "write":
		if strings.HasPrefix(args, "1<") {
			d.acked = append(d.acked, strings.TrimSpace(words[0]))
			return false
		}
		if of != nil {
			of.writes = append(of.writes, written{of.at, []byte(words[0])})
			of.at += int64(len(words[0]))
		}
	case "pwrite64":
		if of != nil {
			of.writes = append(of.writes, written{last, []byte(words[0])})
		}
	case "ftruncate":
		if of != nil {
			of.writes = append(of.writes, written{at: last})
		}
	case "fsync", "fdatasync":
		if sync == nil {
			sync = d.syncing(call + "(" + args)
		}
		sync()
		return true
	case "rename", "renameat", "renameat2":
		from, is := d.below(words[0])
		to, also := d.below(words[len(words)-1])
		if is && also {
			d.rename(naming{to, d.names[from], from})
			if to == "vaglio.clean" {
				d.marks[string(d.names[to].content(whole, nil))] = d.names["vaglio.db"].content(whole, nil)
			}
			return true
		}
	case "unlink", "unlinkat":
		name, is := d.below(words[0])
		if is && d.names[name] != nil {
			d.rename(naming{name: name})
			return true
		}
	}
	return of != nil
}

// TestPowerCuts cuts the power at each step of a store's life: while it is created,
// written, closed with its mark, reopened and compacted.
func TestPowerCuts(t *testing.T) {
	race.Alone(t)
	strace, err := exec.LookPath("strace")
	if err != nil && os.Getenv("CI") == "true" {
		t.Fatal(err)
	}
	if err != nil {
		t.Skip("there is no strace, which tells what a process asks of the file system")
	}
	dir := filepath.Join(t.TempDir(), "live")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "log")
	cmd := exec.CommandContext(t.Context(), strace, "-f", "-qq", "-y", "-xx", "-s", "100000000", "-o", log,
		"-e", "trace=openat,write,pwrite64,ftruncate,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat", "-e", "signal=none",
		executable(t), "-live="+filepath.Join(dir, "vaglio.db"))
	if out, err := cmd.CombinedOutput(); err != nil {
		if strings.Contains(string(out), "ptrace") {
			t.Skipf("strace may not look: %s", out)
		}
		t.Fatalf("%v: %s", err, out)
	}
	said, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 1))
	d := &disk{dir: dir, names: map[string]*inode{}, kept: map[string]*inode{}, marks: map[string][]byte{}}
	var steps, cuts, marks, zeros int
	d.replay(t, string(said), func() {
		steps++
		for how := range 3 {
			// The short form takes one cut in nine, and all of those few that may have the mark.
			if testing.Short() && (steps+how)%9 != 0 && d.kept["vaglio.clean"] == nil {
				continue
			}
			cuts++
			image := d.image(how, random)
			if d.marked(t, image) {
				marks++
			}
			zeros += survives(t, image, d.acked)
			if t.Failed() {
				t.Fatalf("seed %d, step %d, cut %d, acknowledged %q", seed, steps, how, d.acked[max(0, len(d.acked)-3):])
			}
		}
	})
	if len(d.acked) != 4*8+2 || marks == 0 || zeros == 0 {
		t.Errorf("acknowledged %q, %d images have a mark, %d lines of the audit log have zeros", d.acked, marks, zeros)
	}
	t.Logf("%d steps, %d cuts, %d of them with the mark of a clean end; %d lines of the audit log with zeros", steps, cuts, marks, zeros)
}

// marked reports whether an image holds an intact mark of a proper close. It fails the test
// if the mark belongs to another file content than the image's.
func (d *disk) marked(t *testing.T, image map[string][]byte) bool {
	t.Helper()
	left, fits := d.marks[string(image["vaglio.clean"])]
	if fits && !bytes.Equal(image["vaglio.db"], left) {
		t.Error("the mark of a clean end is on the disk, and the file that it is about is not")
	}
	return fits
}

// whole chooses every write: nothing is lost.
func whole(int) bool { return true }

// survives fails the test unless a store opens from an image and has everything that was
// acknowledged; of the journal and the audit log, what they had when they were closed. It returns how
// many lines of the audit log have zeros.
func survives(t *testing.T, image map[string][]byte, acked []string) (zeros int) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "cut")
	defer os.RemoveAll(dir)
	for name, data := range image {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	db, err := bolt.Open(filepath.Join(dir, "vaglio.db"), bolt.Options{})
	if err != nil {
		t.Errorf("does not open: %v; files %v", err, slices.Sorted(maps.Keys(image)))
		return 0
	}
	defer db.Close()
	storetest.Check(t, db, approval.KindAsk)
	audit(t, db)
	told := map[string]bool{}
	for e, err := range db.Entries(t.Context(), approval.Span{}) {
		if err == nil {
			told[string(e.Body)] = true
		}
	}
	records, entries, audited := map[string]int{}, []int(nil), 0
	for _, line := range acked {
		var what, id string
		var n int
		if _, err := fmt.Sscanf(line, "%s %s %d", &what, &id, &n); err != nil {
			t.Fatalf("the process says %q", line)
		}
		switch what {
		case "record":
			records[id] = n
		case "audited":
			audited = n
		case "entry":
			entries = append(entries, n)
		case "closed":
			for _, n := range entries {
				if !told[fmt.Sprint("entry ", n)] {
					t.Errorf("entry %d was in the journal when it was closed, and is gone", n)
				}
			}
		}
	}
	for id, n := range records {
		r, err := db.Get(t.Context(), approval.KindAsk, id+"-key")
		if got, _ := strconv.Atoi(strings.TrimSpace(string(r.Body))); err != nil || got < n {
			t.Errorf("%s was acknowledged with %d, and is %d: %v", id, n, got, err)
		}
	}
	return auditSurvives(t, dir, image, audited)
}
