package approval

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"
)

// VetoMark begins the ids of vetoes, so that none is taken for an approval's.
const VetoMark = "veto-"

// VetoID names a step that was refused and that no person was asked about, or not
// by itself: people ask with it why. It follows from the step's own id, and gives
// no right.
func VetoID(step string) ID {
	h := sha256.Sum256([]byte("veto " + step))
	return ID(VetoMark + strings.ToLower(base32.StdEncoding.EncodeToString(h[:10])[:10]))
}

// IsVetoID reports whether the id, or the beginning of one, names a veto.
func IsVetoID(id string) bool { return strings.HasPrefix(id, VetoMark) }

// NewVetoCard returns the picture of a step that was refused, with every secret
// masked. It has no buttons: there is nothing to decide. Its item has no state,
// and the approval's id where the step got another call's answer.
func NewVetoCard(s Step, m Masker) Card { //nolint:gocritic // It is rare.
	if s.Refusal == nil {
		r := Refuse(s.Proposal, *s.Verdict)
		s.Refusal = &r
	}
	a := m.Approval(Approval{ID: s.Approval, Proposal: s.Proposal, Verdict: *s.Verdict, Refusal: *s.Refusal})
	return Card{
		Ask: AskID(VetoID(s.ID)), Agent: s.Proposal.Agent, Intent: m.Mask(s.Proposal.Intent), TurnID: m.Mask(s.Proposal.TurnID),
		OpenedAt: s.At, ExpiresAt: s.At, Items: []Item{newItem(a)},
	}
}
