package datafolder

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheFolderIsTheOneThatIsNamed(t *testing.T) {
	t.Parallel()
	set := func(v string) Setting { return Setting{v, true} }
	for name, tt := range map[string]struct {
		dir        Setting
		home, want string
		problem    string
	}{
		"unset":                    {Setting{}, "/home/ann", "/home/ann/.local/share/metnos", ""},
		"absolute":                 {set("/srv/v"), "/home/ann", "/srv/v", ""},
		"absolute, not clean":      {set("/srv//x/../v/"), "/home/ann", "/srv/v", ""},
		"absolute, without a home": {set("/srv/v"), "", "/srv/v", ""},
		"below home":               {set("~/v"), "/home/ann", "/home/ann/v", ""},
		"empty":                    {set(""), "/home/ann", "", "METNOS_DATA_DIR: is set but empty; unset it, or give a folder"},
		"relative":                 {set("v"), "/home/ann", "", `METNOS_DATA_DIR: "v" is not an absolute path`},
		"another's home":           {set("~bob/v"), "/home/ann", "", `METNOS_DATA_DIR: "~bob/v" is not an absolute path`},
		"unset, without a home":    {Setting{}, "", "", ErrNoHome.Error()},
		"unset, a relative home":   {Setting{}, "ann", "", ErrNoHome.Error()},
		"below no home":            {set("~/v"), "", "", ErrNoHome.Error()},
	} {
		got, err := Folder(tt.dir, tt.home)
		if got != tt.want || (err != nil || tt.problem != "") && (err == nil || err.Error() != tt.problem) {
			t.Errorf("%s: %q, %v; want %q, %s", name, got, err, tt.want, tt.problem)
		}
	}
}

func TestASecretIsNamedOnce(t *testing.T) {
	t.Parallel()
	set := func(v string) Setting { return Setting{v, true} }
	file := filepath.Join(t.TempDir(), "token")
	if err := Write(file, "in-the-file\n"); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		value, file Setting
		want        Secret
		problem     string
	}{
		"neither":         {Setting{}, Setting{}, "", ""},
		"value":           {set("given"), Setting{}, "given", ""},
		"file":            {Setting{}, set(file), "in-the-file", ""},
		"both":            {set("given"), set(file), "", "X: is set, and so is X_FILE; set one of them"},
		"both, one empty": {set(""), set(file), "", "X: is set, and so is X_FILE; set one of them"},
		"empty":           {set(""), Setting{}, "", "X: is set but empty; unset it, or give the secret"},
		"no file":         {Setting{}, set(file + "x"), "", "X_FILE: " + file + "x: no such file or directory"},
		"no name":         {Setting{}, set(""), "", "X_FILE: "},
	} {
		got, err := SecretOf("X", tt.value, tt.file)
		if got != tt.want || (err != nil || tt.problem != "") && (err == nil || !strings.HasPrefix(err.Error(), tt.problem)) {
			t.Errorf("%s: %d characters, %v; want %d, %s", name, len(got), err, len(tt.want), tt.problem)
		}
		if err != nil && (strings.Contains(err.Error(), "given") || strings.Contains(err.Error(), "in-the-file")) {
			t.Errorf("%s: the secret is told: %v", name, err)
		}
	}
}

func TestASecretsFileIsTheOwnersAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string, mode fs.FileMode) string {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, tt := range map[string]struct{ path, want, problem string }{
		"a line":                {write("a", "s3cret\n", 0o600), "s3cret", ""},
		"a line of Windows":     {write("b", "s3cret\r\n", 0o400), "s3cret", ""},
		"no end":                {write("c", "s3cret", 0o600), "s3cret", ""},
		"the longest":           {write("d", strings.Repeat("s", maxSecret), 0o600), strings.Repeat("s", maxSecret), ""},
		"too long":              {write("e", strings.Repeat("s", maxSecret+1), 0o600), "", "is longer than 4096 bytes"},
		"empty":                 {write("f", "\n", 0o600), "", "is empty"},
		"two lines":             {write("g", "s3cret\nmore\n", 0o600), "", "holds more than one line"},
		"a zero byte":           {write("h", "s3\x00cret", 0o600), "", "holds more than one line"},
		"read by everybody":     {write("i", "s3cret", 0o604), "", "can be read or written by others (mode 0604); run chmod 600"},
		"written by the group":  {write("j", "s3cret", 0o620), "", "can be read or written by others (mode 0620)"},
		"written by everybody":  {write("k", "s3cret", 0o602), "", "can be read or written by others"},
		"read by a group of it": {write("l", "s3cret", 0o640), "s3cret", ""},
		"a folder":              {dir, "", "is not a file"},
		"nothing":               {filepath.Join(dir, "none"), "", "no such file"},
	} {
		got, err := ReadSecret(tt.path)
		if string(got) != tt.want || (err != nil || tt.problem != "") && (err == nil || !strings.Contains(err.Error(), tt.problem)) {
			t.Errorf("%s: %d characters, %v; want %d, %s", name, len(got), err, len(tt.want), tt.problem)
		}
		if err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: the secret is told: %v", name, err)
		}
	}
}

func TestASecretIsNotPrinted(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	s := Secret("s3cret")
	slog.New(slog.NewTextHandler(&log, nil)).Info("told", "secret", s)
	if all := fmt.Sprintf("%v %s %+v %#v %q ", s, s, s, s, s) + log.String(); strings.Contains(all, "s3cret") || strings.Count(all, "[secret]") != 6 {
		t.Error(all)
	}
}

func TestTheFolderIsKeptFromOthers(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b")
	for range 2 {
		if err := Open(dir); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("it is made with %v, %v", info.Mode(), err)
	}
	for _, mode := range []fs.FileMode{0o720, 0o702, 0o777} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		if err := Open(dir); err == nil || !strings.Contains(err.Error(), "can be written by others") || !strings.Contains(err.Error(), "chmod 700 "+dir) {
			t.Errorf("mode %04o: %v", mode, err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil { // who may look may not put anything there
		t.Fatal(err)
	}
	if err := Open(dir); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("it was tried by %v, %v", entries, err)
	}
	file := filepath.Join(dir, "file")
	if err := Write(file, "x"); err != nil {
		t.Fatal(err)
	}
	if err := Open(file); err == nil || !strings.Contains(err.Error(), "is not a folder") {
		t.Errorf("a file: %v", err)
	}
}

func TestASocketIsTheOwnersAlone(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "vaglio") // a short path, as sockets need one
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	left, err := net.Listen("unix", path) // what a killed daemon leaves
	if err != nil {
		t.Fatal(err)
	}
	if u, ok := left.(*net.UnixListener); ok {
		u.SetUnlinkOnClose(false)
	}
	if err := left.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := Listen(t.Context(), path, Owner)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("the socket has %v, %v", info.Mode(), err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after its end the socket is there: %v", err)
	}
	file := filepath.Join(dir, "file")
	if err := Write(file, "mine"); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(t.Context(), file, Owner); err == nil || !strings.Contains(err.Error(), "is in the way") {
		t.Errorf("a file in the way: %v", err)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "mine" {
		t.Errorf("it was not left alone: %q %v", text, err)
	}
	if _, err := Listen(t.Context(), filepath.Join(dir, strings.Repeat("x", maxSocketPath)), Owner); err == nil || !strings.Contains(err.Error(), "choose a shorter METNOS_DATA_DIR") {
		t.Errorf("a long path: %v", err)
	}
}
