package vaglio

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/metnos/vaglio/vaglio/place"
)

// Site is where a call may work.
type Site struct {
	// Workspaces are the folders that count as the call's workspace.
	Workspaces []string
	// Kept are those workspaces that lie among temporary files.
	Kept []string
	// Outside says that the workspaces are known, and the call's folder is in none of them.
	Outside bool
	// Claims are the workspaces that only the call itself names.
	Claims []string
	// Readable are the folders in which the files that the call runs may be read.
	Readable []string
}

// manyEntries is how many entries of a folder are looked at; a folder with manyProjects
// repositories or more holds projects, and is none itself.
const (
	manyEntries  = 256
	manyProjects = 2
)

// MayBeWorkspace reports whether a folder can be somebody's workspace. The root, homes and
// system folders cannot, except for /root, because the root user of a container has no other
// place.
func MayBeWorkspace(places *place.Table, folder string) bool {
	return mayBeWorkspace(places, folder, places.Classes)
}

func mayBeWorkspace(places *place.Table, folder string, classes func(string) place.Class) bool {
	if folder == "" || folder == "/" || classes(folder)&place.Perimeter != 0 {
		return false
	}
	tree := places.TreeAt(folder)
	return tree == place.NoTree || folder == "/root"
}

// WorkspaceMistake says why a folder cannot be a workspace, or "" if it can. home is the
// user's home.
func WorkspaceMistake(folder, home string, files Files) string {
	places, err := place.Load(home, false)
	if err != nil {
		return "cannot be checked: " + err.Error()
	}
	abs := place.Local(folder, home)
	if !path.IsAbs(abs) {
		return "is not an absolute path; begin it with / or ~/"
	}
	s := spaces{places: places, files: files, home: home, known: &knownFolders{}}
	switch {
	case !s.may(abs):
		return "is a home or a folder of the system, and never a workspace; name the project's own folder"
	case s.holdsProjects(abs):
		return "holds several projects; name each of them"
	}
	return ""
}

// spaces knows in which folders calls may work.
type spaces struct {
	places     *place.Table
	files      Files
	home       string
	configured []string
	known      *knownFolders
}

// knownFolders caches what the table of places says of a folder's name. Calls work in few
// folders. It is safe for concurrent use, and its zero value is ready to use.
type knownFolders struct {
	mu sync.Mutex
	by map[string]place.Class
}

// The limits of knownFolders.
const (
	mostFolders   = 1024
	longestFolder = 512
)

// classes returns the classes of a folder.
func (s *spaces) classes(folder string) place.Class {
	k := s.known
	k.mu.Lock()
	defer k.mu.Unlock()
	c, ok := k.by[folder]
	if ok {
		return c
	}
	if c = s.places.Classes(folder); len(folder) > longestFolder {
		return c
	}
	if k.by == nil || len(k.by) >= mostFolders {
		k.by = map[string]place.Class{} // folders in use will be added again
	}
	k.by[strings.Clone(folder)] = c
	return c
}

// newSpaces takes the workspaces from the configuration.
func newSpaces(c *Config) (spaces, error) {
	places, err := place.Load(c.Home, false)
	if err != nil {
		return spaces{}, err //nolint:wrapcheck // it says file and line already
	}
	s := spaces{places: places, files: c.Files, home: c.Home, known: &knownFolders{}}
	s.configured = s.allowed(c.Workspaces)
	return s, nil
}

// allowed returns those of some folders that may be workspaces.
func (s *spaces) allowed(folders []string) (all []string) {
	for _, folder := range folders {
		if folder = s.clean(folder); s.may(folder) {
			all = append(all, folder)
		}
	}
	return all
}

// clean returns a folder as a clean path, or "" if it is not absolute.
func (s *spaces) clean(folder string) string {
	if len(folder) > 2 && folder[1] == ':' {
		return strings.TrimRight(strings.ReplaceAll(folder, `\`, "/"), "/")
	}
	folder = place.Local(strings.TrimRight(folder, "/"), s.home)
	if !path.IsAbs(folder) {
		return ""
	}
	return folder
}

func (s *spaces) may(folder string) bool {
	return folder != s.home && mayBeWorkspace(s.places, folder, s.classes)
}

// readable reports whether the files below a folder may be read, and described to the agent
// that runs them. System files may not, because the agent itself may not be able to see them.
func (s *spaces) readable(folder string) bool {
	return folder != "" && folder != "/" && s.classes(folder)&(place.Perimeter|place.Secret|place.Own|place.System) == 0
}

// holdsProjects reports whether a folder contains several projects and is none itself.
func (s *spaces) holdsProjects(folder string) bool {
	if s.files == nil || s.isRepository(folder) {
		return false
	}
	n := 0
	entries, _ := s.files.List(folder, manyEntries)
	for _, e := range entries {
		if e.Kind == Folder && s.isRepository(path.Join(folder, e.Name)) {
			n++
		}
	}
	return n >= manyProjects
}

func (s *spaces) isRepository(folder string) bool {
	_, kind := s.files.Look(strings.TrimSuffix(folder, "/") + "/.git")
	return kind.Seen()
}

// project returns the folder of the project that a folder lies in: the nearest repository, or
// else the folder itself; "" if that cannot be a workspace.
func (s *spaces) project(folder string) string {
	const highest = 12
	if !s.may(folder) {
		return ""
	}
	if s.files == nil {
		return folder
	}
	at := folder
	for range highest {
		if !s.may(at) || s.classes(at)&place.Temporary == 0 && s.classes(folder)&place.Temporary != 0 {
			break
		}
		if s.isRepository(at) {
			return at
		}
		at = path.Dir(at)
	}
	if s.holdsProjects(folder) {
		return ""
	}
	return folder
}

// of sets the workspaces of a call, once. If nothing else names any, a session's workspace is
// the folder of its first call.
func (s *spaces) of(p *Proposal) {
	c := &p.Context
	if c.Site != nil {
		return
	}
	site := &Site{Workspaces: slices.Clone(s.configured)}
	c.Site = site
	if c.Client != "" {
		site.Workspaces = append(site.Workspaces, s.allowed(c.Roots)...)
	}
	told := len(site.Workspaces) > 0
	named := append(append(make([]string, 0, 1+len(c.Mounts)), c.Cwd), c.Mounts...)
	for i, folder := range named {
		named[i] = s.clean(folder)
	}
	cwd := named[0]
	began, entered := s.entered(site, p.Facts, cwd)
	told = told || began
	if !told {
		s.claim(site, named)
	}
	s.look(site, named)
	site.Outside = cwd != "" && !entered && (told || p.SessionID() != "") && !place.Inside(site.Workspaces, cwd) && s.classes(cwd+"/x")&place.Temporary == 0
}

// entered adds the folders that the session entered. It reports whether there are any, and
// whether cwd is in one.
func (s *spaces) entered(site *Site, facts Facts, cwd string) (began, here bool) {
	for i := range facts {
		f := &facts[i]
		if f.Deed != Entered {
			continue
		}
		began = true
		here = here || place.Inside([]string{f.Path}, cwd)
		if s.may(f.Path) {
			site.Workspaces = append(site.Workspaces, f.Path)
		}
	}
	return began, here
}

// claim adds the projects that the call itself names; it is used only if nothing else names
// any.
func (s *spaces) claim(site *Site, folders []string) {
	for _, folder := range folders {
		if root := s.project(folder); root != "" {
			site.Claims = append(site.Claims, root)
		}
	}
	site.Workspaces = append(site.Workspaces, site.Claims...)
}

// look sets where files may be read, and which workspaces are kept.
func (s *spaces) look(site *Site, folders []string) {
	site.Readable = make([]string, 0, len(folders)+len(site.Workspaces))
	for _, folder := range folders {
		if s.readable(folder) {
			site.Readable = append(site.Readable, folder)
		}
	}
	site.Readable = append(site.Readable, site.Workspaces...)
	for _, folder := range site.Workspaces {
		if s.classes(folder)&place.Temporary != 0 {
			site.Kept = append(site.Kept, folder)
		}
	}
}
