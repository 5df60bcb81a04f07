package guard

import (
	"slices"
	"strings"
)

// handling is what an executor that is no shell does to the paths in its
// arguments, as its name tells.
type handling struct {
	deed deed
	// lists says that it only tells names; then nothing but the core applies.
	lists bool
	// greps says that it prints what files hold: a pattern is one of texts.
	greps bool
	// files says that it works on files, or that its name is no more than what
	// is done: a path is one of files here.
	files bool
	// remote says that it works on something else, where a path is none.
	remote bool
	// modes, kills, moves say more of what it does.
	modes, kills, moves, copies bool
	// ready says that the rest is known.
	ready bool
}

// handlingOf reads an executor's name.
func handlingOf(executor string) handling {
	h := handling{deed: uses}
	words := 0
	for t := range tokens(executor) {
		words++
		switch t {
		case "fs", "file", "files", "filesystem", "dir", "dirs", "directory", "folder", "folders", "path", "paths", "tree", "disk", "workspace":
			h.files = true
		case "http", "https", "api", "rest", "request", "url", "web", "browser", "s3", "bucket", "db", "sql", "graphql", "k8s":
			h.remote = true
		case "delete", "remove", "rm", "rmdir", "unlink", "erase", "purge", "wipe", "trash", "destroy", "empty", "truncate", "clean", "rmtree", "del":
			h.deed = empties
		case "write", "create", "edit", "append", "save", "put", "patch", "replace", "insert", "update", "touch", "mkdir", "multiedit", "store", "set":
			h.deed = writes
		case "move", "rename", "mv":
			h.moves = true
		case "copy", "cp", "duplicate", "clone", "zip", "tar", "archive", "compress", "pack":
			h.copies = true
		case "list", "ls", "stat", "exists", "find", "glob", "search", "tree_view", "info", "walk", "watch", "open_folder", "cd", "chdir":
			h.lists = true
		case "grep":
			h.greps = true
		case "chmod", "chown", "permission", "permissions", "acl", "mode":
			h.modes = true
		case "kill", "terminate", "signal":
			h.kills = true
		}
	}
	h.remote = h.remote && !h.files
	h.files = (h.files || words == 1) && !h.remote
	if h.deed != uses || h.moves || h.modes {
		h.lists = false
	}
	return h
}

// use is what a text in args may be used as.
type use uint8

const (
	asAny  use = iota
	asPath     // under a key that names a path
	asGoal     // under a key that names where something goes
	asData     // content, which nobody opens
	asGlob     // a pattern of names
)

// useOf reads a key.
func useOf(key string) use {
	switch strings.ToLower(key) {
	case "path", "paths", "file", "files", "filename", "filenames", "filepath", "file_path", "file_paths", "filepaths", "dir", "directory", "directories", "folder",
		"source", "src", "from", "old_path", "oldpath", "source_path", "input", "input_path", "inputfile", "input_file", "attachment", "attachments", "location", "uri",
		"absolute_path", "relative_path", "relative_workspace_path", "target_file", "notebook_path", "root", "base", "base_path", "name", "uris", "items", "entries":
		return asPath
	case "destination", "dest", "dst", "to", "new_path", "newpath", "target_path", "output", "output_path", "output_file", "outputfile", "destination_path", "target", "targets":
		return asGoal
	case "pattern", "glob", "globs", "include", "exclude", "patterns":
		return asGlob
	case "content", "contents", "text", "body", "message", "query", "prompt", "description", "subject", "title", "comment", "comments", "summary", "old_string", "new_string",
		"old_str", "new_str", "old_text", "new_text", "insert_text", "file_text", "data", "html", "markdown", "note", "notes", "question", "answer", "reason", "thought", "explanation", "instructions",
		"replacement", "search", "find", "regex", "replace", "diff", "patch", "code", "snippet", "label", "caption", "value", "sql", "todo", "todos", "template", "intent", "plan", "reasoning":
		return asData
	default:
		return asAny
	}
}

// actionOf gives what an argument says that a tool of many does.
func actionOf(args map[string]any) string {
	for _, key := range [...]string{"action", "operation", "op", "verb", "method", "mode"} {
		const longest = 32
		if text, ok := args[key].(string); ok && text != "" && len(text) <= longest && isLetter(text[0]) {
			return "_" + text
		}
	}
	return ""
}

// handling is what the executor does to paths, found out once.
func (s *scan) handling() *handling {
	if !s.h.ready {
		s.h = handlingOf(s.executor + s.action)
		s.h.ready = true
	}
	return &s.h
}

// tryPlace remembers the first structural rule that a path breaks.
func (s *scan) tryPlace(t text, where string) {
	if s.found == nil && t.use != asData && !t.key && !t.command && !s.handling().lists && (!s.h.greps || t.use == asPath) {
		s.found = s.placeRule(t, where)
	}
}

// placeRule gives the rule about a clean path in the arguments of a tool.
func (s *scan) placeRule(t text, where string) *rule {
	h := s.h
	if t.use == asAny && strings.ContainsAny(where, " \t\n") {
		return nil
	}
	where = globbed(where)
	d := h.deed
	switch {
	case (h.moves || h.copies) && t.use == asGoal:
		d = writes
	case h.copies:
		d = reads
	case h.moves:
		d = empties
	}
	if h.modes {
		return s.modeRule(where)
	}
	if (d == empties || d == removes) && !h.files && (h.remote || t.use != asPath) {
		d = uses
	}
	id := s.g.ruleAt(d, where)
	if id == "" && d != uses && d != writes {
		id = s.g.ruleAt(uses, where)
	}
	if id == adminRule && s.inRootHome() {
		return nil
	}
	return s.g.ruleOf(id)
}

// inRootHome says that the workspace is in the administrator's home.
func (s *scan) inRootHome() bool {
	return slices.ContainsFunc(s.bases, func(b base) bool { return b.inRoot })
}

func (s *scan) modeRule(where string) *rule {
	if s.g.treeAt(where) != "" {
		return s.g.ruleOf(modeTree)
	}
	switch id := s.g.ruleAt(writes, where); id {
	case authWrite, keyRule:
		return s.g.ruleOf(id)
	default:
		return nil
	}
}

// killsAll says whether a tool that stops processes is aimed at init or all.
func killsAll(args map[string]any) bool {
	for _, k := range [...]string{"pid", "process_id", "pids", "id", "process"} {
		if isFirstProcess(args[k]) {
			return true
		}
	}
	return false
}

func isFirstProcess(v any) bool {
	switch v := v.(type) {
	case float64:
		return v == 1 || v == -1
	case int:
		return v == 1 || v == -1
	case int64:
		return v == 1 || v == -1
	case uint64:
		return v == 1
	case string:
		return v == "1" || v == "-1"
	case []any:
		return slices.ContainsFunc(v, isFirstProcess)
	default:
		return false
	}
}
