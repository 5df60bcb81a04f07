package datafolder

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Setting is a variable of the environment, which may be unset: that is not the same
// as empty.
type Setting struct {
	Value string
	Set   bool
}

// ErrNoHome says that the home folder is not known where it is needed.
var ErrNoHome = errors.New("HOME: must be set to the absolute path of the home folder")

// FolderVariable names the data folder.
const FolderVariable = "METNOS_DATA_DIR"

// Folder is the data folder that the variable names, and without it the usual one in
// the home folder. A name that begins with ~/ is in the home folder, too. It returns
// [ErrNoHome] where the home folder is needed and no absolute path.
func Folder(dir Setting, home string) (string, error) {
	rest, below := strings.CutPrefix(dir.Value, "~/")
	switch {
	case dir.Set && dir.Value == "":
		return "", errors.New(FolderVariable + ": is set but empty; unset it, or give a folder")
	case dir.Set && !below && !filepath.IsAbs(dir.Value):
		return "", fmt.Errorf(FolderVariable+": %q is not an absolute path", dir.Value)
	case dir.Set && !below:
		return filepath.Clean(dir.Value), nil
	case !filepath.IsAbs(home):
		return "", ErrNoHome
	case below:
		return filepath.Join(home, rest), nil
	}
	return filepath.Join(home, ".local", "share", "metnos"), nil
}

// SecretOf is the secret of a variable, or of the file that the variable with _FILE
// names; "" where neither is set. Both at once is a mistake: one of them would be
// ignored.
func SecretOf(variable string, value, file Setting) (Secret, error) {
	switch {
	case value.Set && file.Set:
		return "", fmt.Errorf("%s: is set, and so is %[1]s_FILE; set one of them", variable)
	case value.Set && value.Value == "":
		return "", fmt.Errorf("%s: is set but empty; unset it, or give the secret", variable)
	case file.Set:
		secret, err := ReadSecret(file.Value)
		if err != nil {
			return "", fmt.Errorf("%s_FILE: %w", variable, err)
		}
		return secret, nil
	}
	return Secret(value.Value), nil
}
