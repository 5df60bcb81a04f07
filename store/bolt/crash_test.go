//go:build unix

package bolt_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/store/bolt"
	"github.com/metnos/vaglio/store/storetest"
)

// The test binary runs itself as the process that is killed, or that has no room on its
// disk.
var (
	crashFile = flag.String("crash", "", "write to the store in the file until killed")
	liveFile  = flag.String("live", "", "open, write, close and compact the store in the file")
	fullFile  = flag.String("full", "", "write to the store in the file until there is no room")
)

func TestMain(m *testing.M) {
	flag.Parse()
	switch {
	case *crashFile != "":
		writeUntilKilled(*crashFile)
	case *liveFile != "":
		if err := liveUntilCut(*liveFile); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case *fullFile != "":
		if err := writeUntilFull(*fullFile); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	default:
		os.Exit(m.Run())
	}
}

const (
	crashWriters = 8
	crashRecords = 12
)

// writeUntilKilled counts records up, and prints each count that the store acknowledged.
func writeUntilKilled(path string) {
	db, err := bolt.Open(path, bolt.Options{LockWait: 10 * time.Second})
	if err != nil {
		fmt.Fprintln(os.Stdout, "error", err)
		return
	}
	var wg sync.WaitGroup
	for w := range crashWriters {
		wg.Go(func() {
			for i := w; ; i++ {
				id := fmt.Sprint("r", i%crashRecords)
				r, err := db.Update(context.Background(), approval.KindAsk, id, func(r approval.Record) (approval.Record, error) {
					n, _ := strconv.Atoi(strings.TrimSpace(string(r.Body)))
					r.Open, r.Keys = n%3 == 0, []string{fmt.Sprint(id, "-", n/5), id + "-key"}
					// Sizes differ, so that pages move.
					r.Body = fmt.Appendf(nil, "%d%s", n+1, strings.Repeat(" ", (n*977)%5000))
					for part := range 1 + n%3 {
						r.Leaves = append(r.Leaves, fmt.Appendf(nil, "%s %d %d", id, n+1, part))
					}
					return r, nil
				})
				if err != nil {
					fmt.Fprintln(os.Stdout, "error", err)
					return
				}
				// A single write, so that a line is printed completely or not at all.
				fmt.Fprintf(os.Stdout, "%s %s %d\n", id, strings.TrimSpace(string(r.Body)), r.Seq)
			}
		})
	}
	wg.Wait()
}

// TestKillLosesNothing kills a writing process again and again at random moments, and
// checks that each acknowledged write is there.
func TestKillLosesNothing(t *testing.T) {
	const kills = 30
	path := newFile(t)
	seed := time.Now().UnixNano()
	random := rand.New(rand.NewPCG(uint64(seed), 1))
	acked := map[string]int{}
	seqs := map[string]uint64{}
	total := 0
	for range kills {
		// Some are killed at once, while they open or create the file.
		lines := runAndKill(t, path, random.IntN(250)*random.IntN(2))
		for _, line := range lines {
			var id string
			var n int
			var seq uint64
			if _, err := fmt.Sscanf(line, "%s %d %d", &id, &n, &seq); err != nil {
				t.Fatalf("the writer says %q", line)
			}
			acked[id], seqs[id] = max(acked[id], n), max(seqs[id], seq)
			total++
		}
		checkFile(t, path)
		db, err := bolt.Open(path, bolt.Options{})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if len(lines) > 0 && !db.Inspected() {
			t.Errorf("seed %d: after a crash the file was not read through", seed)
		}
		storetest.Check(t, db, approval.KindAsk)
		audit(t, db)
		checkLeaves(t, db)
		for id, n := range acked {
			r, err := db.Get(t.Context(), approval.KindAsk, id+"-key")
			if err != nil {
				t.Fatalf("seed %d: %s was acknowledged with %d: %v", seed, id, n, err)
			}
			if got, _ := strconv.Atoi(strings.TrimSpace(string(r.Body))); got < n || r.Seq < seqs[id] {
				t.Fatalf("seed %d: %s is %d (seq %d), acknowledged was %d (seq %d)", seed, id, got, r.Seq, n, seqs[id])
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if total < kills {
		t.Errorf("only %d writes were acknowledged", total)
	}
	t.Logf("%d kills, %d acknowledged writes, none lost", kills, total)
}

// checkLeaves fails the test unless the history contains exactly what was written: every
// count of every record, in order, up to the record's current one.
func checkLeaves(t *testing.T, db *bolt.DB) {
	t.Helper()
	want := map[string]string{}
	for _, v := range storetest.CheckHistory(t, db) {
		var id string
		var n, part int
		if _, err := fmt.Sscanf(string(v), "%s %d %d", &id, &n, &part); err != nil {
			t.Fatalf("a leaf tells %q", v)
		}
		next, begun := want[id]
		if !begun {
			next = fmt.Sprint(id, " 1 0")
		}
		if string(v) != next {
			t.Errorf("a leaf tells %q, and %q should be next", v, next)
		}
		if want[id] = fmt.Sprintf("%s %d %d", id, n, part+1); part == (n-1)%3 {
			want[id] = fmt.Sprintf("%s %d 0", id, n+1)
		}
	}
	for r, err := range db.List(t.Context(), approval.Query{Kind: approval.KindAsk}) {
		if err != nil {
			t.Fatal(err)
		}
		n, _ := strconv.Atoi(strings.TrimSpace(string(r.Body)))
		if next := fmt.Sprintf("%s %d 0", r.ID, n+1); want[r.ID] != next {
			t.Errorf("the record %s is at %d, and the leaf %q would be next", r.ID, n, want[r.ID])
		}
		delete(want, r.ID)
	}
	if len(want) > 0 {
		t.Errorf("leaves tell of %v, which have no records", want)
	}
}

// runAndKill starts a writer, kills it after some acknowledged writes, and returns
// everything it acknowledged.
func runAndKill(t *testing.T, path string, after int) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), executable(t), "-crash="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var lines []string
	killed := false
	in := bufio.NewReader(out)
	for {
		if !killed && len(lines) >= after {
			killed = true
			// What it acknowledges meanwhile is still read below.
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		line, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(line, "error") {
			t.Fatal(line)
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the writer ended by itself")
	}
	return lines
}

// checkFile lets bbolt check the file.
func checkFile(t *testing.T, path string) {
	t.Helper()
	if info, err := os.Stat(path); err != nil || info.Size() < 4*int64(os.Getpagesize()) {
		return // killed before there was anything in it
	}
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.View(func(tx *bbolt.Tx) error {
		for err := range tx.Check() {
			t.Error(err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func executable(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}
