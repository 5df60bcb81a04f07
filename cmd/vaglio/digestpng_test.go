package main

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	charts "github.com/metnos/vaglio/channels/chart"
	"github.com/metnos/vaglio/internal/race"
)

func TestTheDigestIsDrawn(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	s := newHome(t, "METNOS_LANG=it").serve()
	dir := t.TempDir()
	file := filepath.Join(dir, "week.png")
	if err := os.WriteFile(file, []byte("an older one"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := s.h.run("", "digest", "--png", file)
	body, err := os.ReadFile(file)
	if r.code != 0 || r.out != "" || r.err != "Non è stato fermato nulla. Non è passato nulla.\n" || err != nil {
		t.Errorf("%d %q %q %v", r.code, r.out, r.err, err)
	}
	if img, err := png.Decode(bytes.NewReader(body)); err != nil || img.Bounds().Dx() != charts.PictureWidth {
		t.Errorf("%v", err)
	}
	if r := s.h.run("", "digest", "--png", "-"); r.code != 0 || r.out != string(body) {
		t.Errorf("onto the output: %d, %d bytes, %s", r.code, len(r.out), r.err)
	}
	for name, tt := range map[string]struct {
		args string
		code int
		want string
	}{
		"Folder":   {"--png " + dir, 1, "is a folder: name a file in it"},
		"No file":  {"--png=", 2, "name a file, such as week.png"},
		"No place": {"--png " + filepath.Join(dir, "no", "week.png"), 1, "no such file or directory"},
		"Both":     {"--json --png x.png", 2, "--json and --png cannot be given together"},
		"No day":   {"--date 2999-01-01 --png " + filepath.Join(dir, "late.png"), 1, "is not due yet"},
		"Device":   {"--png " + os.DevNull, 0, "Non è passato nulla"},
	} {
		t.Run(name, func(t *testing.T) {
			r := s.h.run("", append([]string{"digest"}, strings.Fields(tt.args)...)...)
			if r.code != tt.code || !strings.Contains(r.err, tt.want) {
				t.Errorf("%d %s%s", r.code, r.out, r.err)
			}
		})
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("there is %v, %v", left, err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%v %v", info, err)
	}
}

func TestAPictureIsNotForTheTerminal(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no terminal can be made here: ", err)
	}
	defer terminal.Close()
	if err := drawDigest(t.Context(), terminal, &bytes.Buffer{}, "", "-"); err == nil || !strings.Contains(err.Error(), "not for the terminal") {
		t.Errorf("%v", err)
	}
}
