package about

import (
	"maps"
	"slices"
	"strings"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio/reading"
)

// tool names what an executor does by its arguments if a program does the same by its words, so
// that both have one name. What else the arguments say is part of the name.
func (w *work) tool() (approval.Subject, bool) {
	if len(w.rd.Commands) > 0 {
		return approval.Subject{}, false
	}
	for _, read := range []func() (approval.Subject, []string, bool){w.message, w.request, w.resource, w.repository} {
		s, named, ok := read()
		if !ok {
			continue
		}
		rest := slices.DeleteFunc(slices.Sorted(maps.Keys(w.p.Args)), func(key string) bool { return slices.Contains(named, key) })
		object, ok := w.digests(rest)
		s.Object = append(s.Object, object...)
		return s, ok
	}
	return approval.Subject{}, false
}

// says reports whether one of the words is in the executor's name.
func (w *work) says(words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return slices.Contains(w.rd.Words, word) })
}

// text returns the only text argument whose key, in lower case and without marks, is one of the
// given ones, and appends its key to named.
func (w *work) text(named *[]string, keys ...string) string {
	out := ""
	for key, v := range w.p.Args {
		if text, ok := v.(string); ok && slices.Contains(keys, reading.Normal(key)) {
			if out != "" {
				return "" // two of them: which one counts is not known
			}
			out = text
			*named = append(*named, key)
		}
	}
	return out
}

// message names the message that a tool sends.
func (w *work) message() (approval.Subject, []string, bool) {
	name := strings.ToLower(w.p.Executor)
	if !strings.Contains(name, "mail") || !strings.Contains(name, "send") {
		return approval.Subject{}, nil, false
	}
	var to, named []string
	for _, key := range slices.Sorted(maps.Keys(w.p.Args)) {
		if slices.Contains([]string{"to", "cc", "bcc", "recipient", "recipients"}, strings.ToLower(key)) {
			to = append(to, recipients(w.p.Args[key])...)
			named = append(named, key)
		}
	}
	s := message(to, w.text(&named, "subject"), w.text(&named, "body", "text", "message", "content"))
	return s, named, len(to) > 0
}

// request names a request to a server, if an argument says its method.
func (w *work) request() (approval.Subject, []string, bool) {
	var carried []approval.Fact
	var named []string
	method := ""
	for _, key := range slices.Sorted(maps.Keys(w.p.Args)) {
		v := w.p.Args[key]
		switch role := w.rd.Role(key); {
		case role&reading.RoleMethod != 0 && method == "":
			method, _ = v.(string)
		case role&reading.RoleURL != 0, reading.Normal(key) == "headers":
		case role&reading.RoleBody != 0:
			text, ok := v.(string)
			if !ok {
				text, ok = canonical(v)
			}
			if !ok {
				return approval.Subject{}, nil, false
			}
			carried = append(carried, approval.Fact{Name: "content", Value: content(text)})
		default:
			continue
		}
		named = append(named, key)
	}
	if method == "" || len(w.rd.URLs) != 1 {
		return approval.Subject{}, nil, false
	}
	s, ok := requestTo(strings.ToUpper(method), w.rd.URLs[0].Text, carried)
	return s, named, ok
}

// resource names the object of a cluster that a tool deletes.
func (w *work) resource() (approval.Subject, []string, bool) {
	if !w.says("kubernetes", "k8s", "kube", "kubectl", "openshift") || !w.says("delete") {
		return approval.Subject{}, nil, false
	}
	var named []string
	kind, name := w.text(&named, "kind", "resourcetype", "resource"), w.text(&named, "name", "resourcename")
	namespace := w.text(&named, "namespace")
	w.text(&named, "apiversion")
	return deletedResource(namespace, kind, name), named, kind != "" && name != ""
}

// repository names the repository that a tool of GitHub's deletes.
func (w *work) repository() (approval.Subject, []string, bool) {
	if !w.says("delete") || !w.says("repository", "repo") || w.says("gitlab", "bitbucket", "gitea", "forgejo", "azure") {
		return approval.Subject{}, nil, false
	}
	var named []string
	owner, repo := w.text(&named, "owner", "org", "organization"), w.text(&named, "repo", "repository", "reponame", "name", "fullname")
	if strings.Contains(repo, "/") != (owner == "") || repo == "" {
		return approval.Subject{}, nil, false
	}
	return repoDeletion(strings.TrimPrefix(owner+"/"+repo, "/")), named, true
}

// digests returns the arguments under the keys as facts, each as a digest.
func (w *work) digests(keys []string) ([]approval.Fact, bool) {
	var out []approval.Fact
	for _, key := range keys {
		form, err := strictjson.Canonical(map[string]any{key: w.p.Args[key]})
		if err != nil {
			return nil, false
		}
		out = append(out, approval.Fact{Name: key, Value: digest(string(form))})
	}
	return out, true
}

// repositoryArg returns the repository that an argument of a tool names, if its verb takes no
// other path.
func (l *line) repositoryArg() string {
	if len(l.w.rd.Commands) > 0 || slices.Contains(l.files, l.operand(0)) {
		return ""
	}
	for key, v := range l.w.p.Args {
		dir, ok := v.(string)
		where := l.w.rd.Role(key)&(reading.RoleFolder|reading.RoleBase|reading.RolePath) != 0 || strings.HasPrefix(reading.Normal(key), "repo")
		if ok && where && rooted(dir) {
			l.used[key] = true
			return dir
		}
	}
	return ""
}

// argued returns what the arguments of a tool say beyond the words of the command that it stands
// for: kubectl_delete names its namespace in an argument. A fact that an option of the command
// would give has the same name here.
func (l *line) argued() ([]approval.Fact, bool) {
	if len(l.w.rd.Commands) > 0 || l.c.Remote != nil {
		return nil, true
	}
	var out []approval.Fact
	for _, key := range slices.Sorted(maps.Keys(l.w.p.Args)) {
		v := l.w.p.Args[key]
		if l.used[key] || l.spelled(key, v) {
			continue
		}
		name := reading.Normal(key)
		if text, ok := v.(string); ok && l.facts[name] != nil {
			out = append(out, approval.Fact{Name: name, Value: text})
			continue
		}
		value, ok := canonical(v)
		if !ok {
			return nil, false
		}
		out = append(out, approval.Fact{Name: key, Value: value})
	}
	return out, true
}

// spelled reports whether an argument is among the words of the command that the tool stands for,
// or asks for nothing.
func (l *line) spelled(key string, v any) bool {
	if is, ok := v.(bool); ok {
		return !is || slices.Contains(l.parsed.Words, "--"+key)
	}
	texts := reading.Texts(v)
	return !slices.ContainsFunc(texts, func(text string) bool { return !slices.Contains(l.parsed.Words, text) })
}

// recipients returns the recipients in an argument, which must be a string or a list of
// strings.
func recipients(v any) []string {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var out []string
	for _, e := range list {
		s, ok := e.(string)
		if !ok {
			return nil
		}
		out = append(out, s)
	}
	return out
}
