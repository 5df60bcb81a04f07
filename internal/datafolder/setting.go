package datafolder

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Setting is an environment variable. Unset is not the same as empty.
type Setting struct {
	Value string
	Set   bool
}

// ErrNoHome means that the home folder is needed but not known.
var ErrNoHome = errors.New("HOME: must be set to the absolute path of the home folder")

// FolderVariable is the name of the variable for the data folder.
const FolderVariable = "METNOS_DATA_DIR"

// Folder returns the data folder: the one that dir names or, if dir is unset, the default below
// home. A leading ~/ stands for home. Folder returns [ErrNoHome] if it needs home and that is not
// an absolute path.
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

// SecretOf returns the secret from a variable, or from the file that the variable with the suffix
// _FILE names; "" if neither is set. Setting both is an error, because one would be ignored.
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
