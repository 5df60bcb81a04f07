package repeats_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/internal/repeats"
)

// logged returns the lines that do logs, without their times.
func logged(t *testing.T, do func(log *slog.Logger)) []string {
	t.Helper()
	var b bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		h := repeats.New(slog.NewTextHandler(&b, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))
		do(slog.New(h))
		if err := h.Flush(t.Context()); err != nil {
			t.Error(err)
		}
	})
	return strings.Split(strings.TrimSpace(b.String()), "\n")
}

func TestTheSameTroubleIsToldOnceAMinute(t *testing.T) {
	full := func(i int) error { return fmt.Errorf("write record %d: %w", i, syscall.ENOSPC) }
	for name, tt := range map[string]struct {
		do   func(log *slog.Logger)
		want []string
	}{
		"a full disk for two and a half minutes, ten calls a second": {
			func(log *slog.Logger) {
				for i := range 1500 {
					log.Error("a call failed", "call", i, "error", full(i))
					time.Sleep(100 * time.Millisecond)
				}
			},
			[]string{
				`level=ERROR msg="a call failed" call=0 error="write record 0: no space left on device"`,
				`level=ERROR msg="a call failed" call=599 error="write record 599: no space left on device" left_out=598`,
				`level=ERROR msg="a call failed" call=1198 error="write record 1198: no space left on device" left_out=598`,
				`level=ERROR msg="a call failed" call=1499 error="write record 1499: no space left on device" left_out=300`,
			},
		},
		"another cause, message, level or logger is other trouble": {
			func(log *slog.Logger) {
				for range 2 {
					log.Warn("m", "error", syscall.EIO)
					time.Sleep(time.Millisecond)
					log.Warn("m", "error", errors.Join(full(1), syscall.EIO))
					time.Sleep(time.Millisecond)
					log.Warn("n", "error", syscall.EIO)
					time.Sleep(time.Millisecond)
					log.Error("n", "error", syscall.EIO)
					time.Sleep(time.Millisecond)
					log.With("channel", "slack").Error("n", "error", syscall.EIO)
					time.Sleep(time.Millisecond)
					log.WithGroup("g").Error("n")
					time.Sleep(time.Millisecond)
				}
			},
			[]string{
				`level=WARN msg=m error="input/output error"`,
				`level=WARN msg=m error="write record 1: no space left on device\ninput/output error"`,
				`level=WARN msg=n error="input/output error"`,
				`level=ERROR msg=n error="input/output error"`,
				`level=ERROR msg=n channel=slack error="input/output error"`,
				`level=ERROR msg=n`,
				`level=WARN msg=m error="input/output error"`,
				`level=WARN msg=m error="write record 1: no space left on device\ninput/output error"`,
				`level=WARN msg=n error="input/output error"`,
				`level=ERROR msg=n error="input/output error"`,
				`level=ERROR msg=n channel=slack error="input/output error"`,
				`level=ERROR msg=n`,
			},
		},
		"what is not a trouble is not thinned out": {
			func(log *slog.Logger) {
				log.Info("up")
				log.Info("up")
			},
			[]string{"level=INFO msg=up", "level=INFO msg=up"},
		},
		"it is told anew when it comes back": {
			func(log *slog.Logger) {
				log.Warn("m")
				time.Sleep(time.Minute)
				log.Warn("m")
			},
			[]string{"level=WARN msg=m", "level=WARN msg=m"},
		},
		"causes without end": {
			func(log *slog.Logger) {
				for i := range 2000 {
					log.Warn("m", "error", fmt.Errorf("%d", i))
				}
			},
			append(numbered(500), `level=WARN msg=m error=500`, `level=WARN msg=m error=1999 left_out=1498`),
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, logged(t, tt.do)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func numbered(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("level=WARN msg=m error=%d", i))
	}
	return all
}
