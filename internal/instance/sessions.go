package instance

import (
	"context"

	"github.com/metnos/vaglio/channels/web"
	"github.com/metnos/vaglio/channels/web/passkey"
)

// Sessions stores which browsers are signed in to the inbox. It stores only hashes of what they
// hold, so that a copy of the store signs nobody in.
type Sessions struct{ Store Store }

// Load returns the sessions.
func (m Sessions) Load(ctx context.Context) ([]web.Session, error) {
	return loadNotes[[]web.Session](ctx, m.Store, sessionsRecord)
}

// Save stores the sessions.
func (m Sessions) Save(ctx context.Context, all []web.Session) error {
	return saveNotes(ctx, m.Store, sessionsRecord, append([]web.Session{}, all...))
}

// Passkeys stores the public keys of the inbox's passkeys.
type Passkeys struct{ Store Store }

// Load returns the passkeys.
func (m Passkeys) Load(ctx context.Context) ([]passkey.Passkey, error) {
	return loadNotes[[]passkey.Passkey](ctx, m.Store, passkeysRecord)
}

// Save stores the passkeys.
func (m Passkeys) Save(ctx context.Context, all []passkey.Passkey) error {
	return saveNotes(ctx, m.Store, passkeysRecord, append([]passkey.Passkey{}, all...))
}
