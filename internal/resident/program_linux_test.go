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
	const maps = `00400000-01366000 r-xp 00000000 fe:00 131 /opt/the gate/vaglio
01366000-02420000 r--p 00f66000 fe:00 131 /opt/the gate/vaglio
02420000-02540000 rw-p 02020000 fe:00 131 /opt/the gate/vaglio
02540000-0458e000 rw-p 00000000 00:00 0
7f0000000000-7f0000001000 r-xp 00000000 fe:00 132 /opt/the gate/vaglio-hook
7f0000001000-7f0000002000 r--s 00000000 fe:00 133 /var/vaglio
7f0000002000-7f0000002000 r--p 00000000 fe:00 131 /opt/the gate/vaglio
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]
`
	want := []mapping{{0x400000, 0x1366000}, {0x1366000, 0x2420000}}
	if got := readOnly(maps, "/opt/the gate/vaglio"); !slices.Equal(got, want) {
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
