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
	"syscall"
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
		if err := Open(dir); err == nil || !strings.Contains(err.Error(), "can be written by others") || !strings.Contains(err.Error(), "chmod go-w "+dir) {
			t.Errorf("mode %04o: %v", mode, err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil { // others may look, but not put anything there
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
	dir := shortFolder(t)
	path := filepath.Join(dir, "s")
	left, err := net.Listen("unix", path) // as a killed daemon leaves it
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

// shortFolder returns a folder whose sockets have short paths.
func shortFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "vaglio") //nolint:usetesting // A socket's path is short.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// TestASocketIsAGroups checks that the group may connect, and nobody else.
func TestASocketIsAGroups(t *testing.T) {
	t.Parallel()
	path := filepath.Join(shortFolder(t), "s")
	group := os.Getegid()
	if os.Geteuid() == 0 {
		group = 12345 // only root can give it to a group that root is not in
	}
	l, err := Listen(t.Context(), path, group)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || int(stat.Gid) != group || int(stat.Uid) != os.Geteuid() || info.Mode() != fs.ModeSocket|0o660 {
		t.Errorf("the socket has %v, of user %d and group %d", info.Mode(), stat.Uid, stat.Gid)
	}
	if err := admit(path+"-none", group); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a socket that there is not is a group's: %v", err)
	}
}

// TestASocketStandsWhereItCan listens where a file was left behind or is in the way.
func TestASocketStandsWhereItCan(t *testing.T) {
	t.Parallel()
	dir := shortFolder(t)
	path, fresh := filepath.Join(dir, "s"), filepath.Join(dir, ".s")
	listen := func() net.Listener {
		t.Helper()
		l, err := Listen(t.Context(), path, Owner)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	write := func(name string) {
		t.Helper()
		if err := Write(name, "x"); err != nil {
			t.Fatal(err)
		}
	}
	write(fresh) // as left by a daemon that was killed while starting
	l := listen()
	write(fresh) // as created by the next daemon while this one shuts down
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(fresh); err != nil {
		t.Errorf("with the end of one goes what the next one made: %v", err)
	}
	l = listen()
	if err := errors.Join(os.Remove(path), l.Close()); err != nil {
		t.Errorf("the socket was gone before its end: %v", err)
	}
	l = listen()
	if err := errors.Join(os.Remove(path), os.MkdirAll(filepath.Join(path, "full"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err == nil {
		t.Error("what cannot be removed is not told")
	}
	if err := errors.Join(os.RemoveAll(path), os.MkdirAll(filepath.Join(fresh, "full"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if l, err := Listen(t.Context(), path, Owner); err == nil || l != nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("a folder where the socket is made: %v", err)
	}
	if l, err := Listen(t.Context(), filepath.Join(dir, "none", "s"), Owner); l != nil || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in no folder: %v", err)
	}
	write(path)
	if l, err := Listen(t.Context(), filepath.Join(path, "s"), Owner); l != nil || !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("below a file: %v", err)
	}
	if err := CheckSocketPath(strings.Repeat("x", 102)); err != nil {
		t.Error(err)
	}
	if err := CheckSocketPath(strings.Repeat("x", 103)); err == nil || !strings.Contains(err.Error(), "may have 102") {
		t.Errorf("a path that is too long: %v", err)
	}
}

// TestAFolderThatCannotBeOurs opens a dangling link, and a folder that cannot be written.
func TestAFolderThatCannotBeOurs(t *testing.T) {
	t.Parallel()
	nowhere := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink("none", nowhere); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]error{nowhere: fs.ErrExist, "/proc": nil} {
		if err := Open(dir); err == nil || want != nil && !errors.Is(err, want) || !strings.HasPrefix(err.Error(), "data folder: ") ||
			!strings.HasSuffix(err.Error(), "; set METNOS_DATA_DIR to a folder that only this user may write") {
			t.Errorf("%s: %v", dir, err)
		}
	}
	if secret, err := ReadSecret(fmt.Sprintf("/proc/%d/mem", os.Getpid())); secret != "" || !errors.Is(err, syscall.EIO) {
		t.Errorf("a file that cannot be read: %v", err)
	}
}

// TestASocketWithoutAFolder checks that the error names the socket as it was configured.
func TestASocketWithoutAFolder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "none", "agent.sock")
	want := "socket " + path + ": no such file or directory; it takes a folder that is there and that this user may write"
	if _, err := Listen(t.Context(), path, Owner); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestWhatAKilledDaemonLeftIsRemoved checks that temporary files are removed, and no others.
func TestWhatAKilledDaemonLeftIsRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{".probe-1", ".new-2", "new-3", "probe-4", "x.new-5", "vaglio.db"} {
		if err := Write(filepath.Join(dir, name), "x"); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Mkdir(filepath.Join(dir, ".new-folder"), 0o700), os.Symlink("vaglio.db", filepath.Join(dir, ".new-link"))); err != nil {
		t.Fatal(err)
	}
	if err := RemoveOrphans(dir); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if want := "[.new-folder .new-link new-3 probe-4 vaglio.db x.new-5]"; fmt.Sprint(left) != want {
		t.Errorf("left are %v, want %s", left, want)
	}
	if err := RemoveOrphans(filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that cannot be read has no orphans")
	}
	if err := Open(filepath.Join(dir, "vaglio.db", "below")); err == nil || !strings.HasPrefix(err.Error(), "data folder: ") {
		t.Errorf("a folder below a file: %v", err)
	}
}
