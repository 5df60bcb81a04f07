package main

import (
	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/audit"
)

// maskedLog masks the secrets in what the audit log keeps: users paste them
// into what they ask for, and agents into names.
type maskedLog struct {
	log    vaglio.AuditLog
	masker approval.Masker
}

// Append keeps the record without its secrets.
func (l maskedLog) Append(r audit.Record) {
	mask := l.masker.Mask
	r.Reason, r.Intent, r.Executor = mask(r.Reason), mask(r.Intent), mask(r.Executor)
	r.ArgsKeys = append([]string{}, r.ArgsKeys...)
	for i := range r.ArgsKeys {
		r.ArgsKeys[i] = mask(r.ArgsKeys[i])
	}
	l.log.Append(r)
}
