package approval

// Fingerprint is the HMAC-SHA256 over the canonical form (RFC 8785) of agent,
// executor, args and workspace, in hex. Two calls with equal fingerprints are
// the same call.
type Fingerprint string
