package resident

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestWhatIsDropped checks which mappings are taken for the program's own unchanged pages.
func TestWhatIsDropped(t *testing.T) {
	var maps strings.Builder
	for _, m := range []struct {
		head             string
		anonymous, swaps int
	}{
		{"00400000-01366000 r-xp 00000000 fe:00 131 /opt/the gate/vaglio", 0, 0},
		{"01366000-02420000 r--p 00f66000 fe:00 131 /opt/the gate/vaglio", 0, 0},
		{"02420000-02540000 rw-p 02020000 fe:00 131 /opt/the gate/vaglio", 0, 0},
		{"02540000-0458e000 rw-p 00000000 00:00 0", 64, 0},
		{"05000000-05001000 r--p 02020000 fe:00 131 /opt/the gate/vaglio", 4, 0}, // relocated
		{"05001000-05002000 r--p 02020000 fe:00 131 /opt/the gate/vaglio", 0, 4},
		{"7f0000000000-7f0000001000 r-xp 00000000 fe:00 132 /opt/the gate/vaglio-hook", 0, 0},
		{"7f0000001000-7f0000002000 r--s 00000000 fe:00 133 /var/vaglio", 0, 0},
		{"7f0000002000-7f0000002000 r--p 00000000 fe:00 131 /opt/the gate/vaglio", 0, 0},
		{"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]", 0, 0},
	} {
		fmt.Fprintf(&maps, "%s\nSize: 4 kB\nAnonymous: %d kB\nSwap: %d kB\nVmFlags: rd ex mr mw me\n", m.head, m.anonymous, m.swaps)
	}
	want := []mapping{{0x400000, 0x1366000}, {0x1366000, 0x2420000}}
	if got := unchanged(maps.String(), "/opt/the gate/vaglio"); !slices.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
}

// TestTheProgramGoesOnWithoutItsPages drops them, and checks that fewer are resident and that
// what was changed is still there.
func TestTheProgramGoesOnWithoutItsPages(t *testing.T) {
	room = []byte("changed")
	before := fileKiB(t)
	dropProgram()
	if after := fileKiB(t); after >= before {
		t.Errorf("%d KiB of files resident before, %d after", before, after)
	}
	if string(room) != "changed" {
		t.Errorf("a variable became %q", room)
	}
}

// fileKiB returns how much of mapped files is resident.
func fileKiB(t *testing.T) (kib int) {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if _, err := fmt.Sscanf(line, "RssFile: %d kB", &kib); err == nil {
			return kib
		}
	}
	t.Fatal("the system does not tell")
	return 0
}
