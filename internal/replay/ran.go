package replay

import (
	"fmt"
	"io"
	"time"

	"github.com/metnos/vaglio/internal/regular"
)

// maxTail is how far back [Ran] reads, in bytes.
const maxTail = 4 << 20

// Ran returns the tools of the calls that, according to a client's transcript, were made after a
// time and ran, in their order. It reads the last 4 MiB.
func Ran(transcript string, after time.Time) (tools []string, err error) {
	f, err := regular.Open(transcript)
	if err != nil {
		return nil, err //nolint:wrapcheck // It names the file.
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	from := max(0, info.Size()-maxTail)
	t := tape{since: after, calls: map[string]*call{}}
	if err := t.lines(io.NewSectionReader(f, from, info.Size()-from), transcript); err != nil {
		return nil, err
	}
	for _, c := range t.all {
		if c.at.After(after) && c.ended && !c.refused {
			tools = append(tools, c.proposal.Executor)
		}
	}
	return tools, nil
}
