package bolt

import (
	"encoding/binary"
	"time"

	"github.com/metnos/vaglio/approval"
)

// loan is a stored lease: its holder, its end, its fencing token.
type loan struct {
	holder string
	until  time.Time
	token  uint64
}

// lend performs one Lease within the writer's transaction.
func (t *tables) lend(lease, holder string, ttl time.Duration) (uint64, error) {
	now := time.Now()
	l, err := decodeLoan(t.lease.Get([]byte(lease)))
	if err != nil {
		return 0, err
	}
	held := now.Before(l.until)
	if held && l.holder != holder {
		return 0, &approval.LeaseError{Holder: l.holder, Until: l.until}
	}
	if !held {
		l.token = t.next(t.lease)
	}
	l.holder, l.until = holder, now.Add(ttl)
	t.put(t.lease, []byte(lease), l.encode())
	return l.token, nil
}

func (l loan) encode() []byte {
	b := make([]byte, 0, 16+len(l.holder))
	b = binary.BigEndian.AppendUint64(b, uint64(l.until.UnixNano()))
	b = binary.BigEndian.AppendUint64(b, l.token)
	return append(b, l.holder...)
}

// decodeLoan reads what encode wrote; a lease that nobody ever had is the zero loan.
func decodeLoan(v []byte) (loan, error) {
	if v == nil {
		return loan{}, nil
	}
	if len(v) <= 16 {
		return loan{}, damage("a lease does not read as it was written")
	}
	return loan{
		holder: string(v[16:]),
		until:  time.Unix(0, int64(binary.BigEndian.Uint64(v))), //nolint:gosec // As it was encoded.
		token:  binary.BigEndian.Uint64(v[8:]),
	}, nil
}
