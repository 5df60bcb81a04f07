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
	// Workspaces are the folders that count as its workspace.
	Workspaces []string
	// Kept are those of them that lie among temporary files.
	Kept []string
	// Outside says that the call's folder is in none of them, though they are known.
	Outside bool
	// Claims are the workspaces that nothing but the call tells.
	Claims []string
	// Readable are the folders in which files may be read that the call runs.
	Readable []string
}

// manyEntries and manyProjects are how much of a folder is looked at, and from
// how many repositories on it is one that holds projects, and is none itself.
const (
	manyEntries  = 256
	manyProjects = 2
)

// MayBeWorkspace says whether a folder can be somebody's workspace: the root,
// homes and the system's folders are not, but a container's root user has no
// other place.
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

// WorkspaceMistake says what keeps a folder from being a workspace, "" if
// nothing does. home is the user's.
func WorkspaceMistake(folder, home string, files Files) string {
	places, err := place.Load(home, false)
	if err != nil {
		return "cannot be checked: " + err.Error()
	}
	abs := place.Local(folder, home)
	if !path.IsAbs(abs) {
		return "is no absolute path; begin it with / or ~/"
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

// knownFolders are what the table of places says of folders, by their names alone. Calls
// work in few of them. It is safe for concurrent use, and its zero value is ready for it.
type knownFolders struct {
	mu sync.Mutex
	by map[string]place.Class
}

// The bounds of the folders that are known.
const (
	mostFolders   = 1024
	longestFolder = 512
)

// classes gives what a folder is.
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
		k.by = map[string]place.Class{} // those in use come again
	}
	k.by[strings.Clone(folder)] = c
	return c
}

// newSpaces takes the workspaces that the policy names.
func newSpaces(c *Config) (spaces, error) {
	places, err := place.Load(c.Home, false)
	if err != nil {
		return spaces{}, err //nolint:wrapcheck // it says file and line already
	}
	s := spaces{places: places, files: c.Files, home: c.Home, known: &knownFolders{}}
	for _, folder := range c.Workspaces {
		if folder = s.clean(folder); s.may(folder) {
			s.configured = append(s.configured, folder)
		}
	}
	return s, nil
}

// clean is a folder in the one form of paths, "" for one that is not absolute.
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

// readable says whether files below a folder may be read, and be told of to an
// agent, that runs them: those of the system are not, which it may not see itself.
func (s *spaces) readable(folder string) bool {
	return folder != "" && folder != "/" && s.classes(folder)&(place.Perimeter|place.Secret|place.Own|place.System) == 0
}

// holdsProjects says that a folder is one of many projects, not one of them.
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
	_, kind := s.files.Look(path.Join(folder, ".git"))
	return kind != NoFile
}

// project is the folder of the project that a folder lies in: the nearest
// repository, or else the folder itself; "" if that is never a workspace.
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

// of sets the workspaces of a call, once. Where nothing tells any, a session
// begins in the folder of its first call.
func (s *spaces) of(p *Proposal) {
	c := &p.Context
	if c.Site != nil {
		return
	}
	site := &Site{Workspaces: slices.Clone(s.configured)}
	c.Site = site
	s.stated(site, c)
	told := len(site.Workspaces) > 0
	cwd := s.clean(c.Cwd)
	began, entered := s.entered(site, p.Facts, cwd)
	told = told || began
	named := append([]string{c.Cwd}, c.Mounts...)
	if !told {
		s.claim(site, named)
	}
	s.look(site, named)
	scratch := s.classes(cwd+"/x")&place.Temporary != 0
	site.Outside = cwd != "" && !entered && !scratch && !place.Inside(site.Workspaces, cwd) && (told || p.SessionID() != "")
}

// stated adds the folders that the client states.
func (s *spaces) stated(site *Site, c *Context) {
	if c.Client == "" {
		return
	}
	for _, root := range c.Roots {
		if root = s.clean(root); s.may(root) {
			site.Workspaces = append(site.Workspaces, root)
		}
	}
}

// entered adds the folders that the session entered, and says whether there are
// any and whether cwd is in one.
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

// claim adds the projects that a call names, where nothing else tells any.
func (s *spaces) claim(site *Site, folders []string) {
	for _, folder := range folders {
		if root := s.project(s.clean(folder)); root != "" {
			site.Claims = append(site.Claims, root)
		}
	}
	site.Workspaces = append(site.Workspaces, site.Claims...)
}

// look says where files may be read, and what of the workspaces is kept.
func (s *spaces) look(site *Site, folders []string) {
	for _, folder := range folders {
		if folder = s.clean(folder); s.readable(folder) {
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
