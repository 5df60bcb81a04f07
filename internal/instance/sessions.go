package instance

import (
	"context"

	"github.com/metnos/vaglio/channels/web"
)

// Sessions keep in the store which browsers are signed in to the inbox: by the
// hashes of what they hold, so that a copy of the store signs nobody in.
type Sessions struct{ Store Store }

// Load returns the sessions.
func (m Sessions) Load(ctx context.Context) ([]web.Session, error) {
	return loadNotes[[]web.Session](ctx, m.Store, sessionsRecord)
}

// Save stores the sessions.
func (m Sessions) Save(ctx context.Context, all []web.Session) error {
	return saveNotes(ctx, m.Store, sessionsRecord, append([]web.Session{}, all...))
}
