package guard

import (
	"strings"

	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/place"
)

// unregistered is for a key of the registry: not one by which Windows starts
// and knows its programs and users. A program's own key is the judge's to
// weigh.
func (l *look) unregistered(_ *operation.Operation, spot string) string {
	key := strings.Trim(strings.ToLower(strings.ReplaceAll(spot, `\`, "/")), "/")
	hive, rest, _ := strings.Cut(key, "/")
	known := rest == "software/microsoft" || rest == "software/microsoft/windows"
	const deep = 2 // of HKLM/SOFTWARE/Microsoft
	switch hive {
	case "hkcu", "hkey_current_user":
		known = known || rest == "" || rest == "software"
	case "hklm", "hkey_local_machine", "hkcr", "hkey_classes_root", "hku", "hkey_users":
		shallow := strings.Count(rest, "/") < deep && !strings.HasPrefix(rest, "software/")
		known = known || shallow || rest == "software/microsoft/windows nt"
	default:
		known = false
	}
	if known {
		return vitalRule
	}
	return ""
}

// uninstalled is for a package that is removed: nothing that the system is made
// of, nor vaglio.
func (l *look) uninstalled(o *operation.Operation, spot string) string {
	name, _, _ := strings.Cut(spot, ":")
	switch {
	case strings.HasPrefix(name, "vaglio"):
		return ownProcess
	case l.inside:
		return "" // a container's packages are its image's
	case o.Object.Kind == operation.Whole || l.g.isEssential(name) || place.IsWild(spot):
		return packageRule
	case spot == "*" || spot == ".*" || spot == "~i" || spot == "?essential":
		return packageRule
	default:
		return ""
	}
}

// isEssential says whether a package is one without which the system does not
// start, or cannot be mended.
func (g *Guard) isEssential(name string) bool { return g.base.Nouns["essential-package"][name] }
