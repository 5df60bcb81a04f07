package about

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/metnos/vaglio/approval"
)

// fact returns one fact as a slice, or nil if the value is empty.
func fact(name, value string) []approval.Fact {
	if value == "" {
		return nil
	}
	return []approval.Fact{{Name: name, Value: value}}
}

// git names what is done to a repository; for a push, also to which refs of which remote.
func (l *line) git() ([]approval.Subject, bool) {
	l.has("-C") // only says where the command runs
	folder := l.at(".")
	if dir := l.repositoryArg(); dir != "" {
		folder = l.at(dir)
	}
	if dir := cmp.Or(l.value("--git-dir"), l.variable("GIT_DIR")); dir != "" {
		folder = strings.TrimSuffix(l.w.n.path(folder, dir), "/.git")
	}
	if dir := cmp.Or(l.value("--work-tree"), l.variable("GIT_WORK_TREE")); dir != "" {
		folder = l.w.n.path(folder, dir)
	}
	if folder == "" {
		return nil, false
	}
	repository := fact("repository", l.w.n.path(l.w.p.Context.Cwd, folder))
	settings := l.settings()
	s := approval.Subject{System: l.system, Verb: l.operand(0)}
	if s.Verb == "push" {
		s.Object = l.push()
	} else {
		if s.Verb == "branch" && l.has("-d", "--delete") && l.has("-f", "--force") {
			s.Object = append(s.Object, approval.Fact{Name: "option", Value: "-D"})
		}
		for _, o := range l.operands(1) {
			if o != "HEAD" {
				s.Object = append(s.Object, approval.Fact{Name: "object", Value: o})
			}
		}
	}
	s.Object = append(append(s.Object, l.others()...), append(settings, repository...)...)
	return []approval.Subject{s}, s.Verb != ""
}

// settings returns the git settings given for this one command, except those that only
// change how it prints.
func (l *line) settings() []approval.Fact {
	var out []approval.Fact
	for _, v := range l.values("-c", "--config-env") {
		key, _, _ := strings.Cut(strings.ToLower(v), "=")
		if !strings.HasPrefix(key, "color.") && !strings.HasPrefix(key, "advice.") && key != "core.pager" {
			out = append(out, approval.Fact{Name: "setting", Value: v})
		}
	}
	return out
}

// push returns what a push changes, and where.
func (l *line) push() []approval.Fact {
	l.has("-q", "--quiet", "-v", "--verbose", "--progress", "-u", "--set-upstream", "--porcelain", "--no-progress")
	force, remove := l.has("-f", "--force"), l.has("-d", "--delete")
	ops := l.operands(1)
	var out []approval.Fact
	if len(ops) > 0 {
		out = append(out, approval.Fact{Name: "remote", Value: ops[0]})
		ops = ops[1:]
	}
	for i, ref := range ops {
		if ref == "tag" && i+1 < len(ops) {
			continue
		}
		force = force || strings.HasPrefix(ref, "+")
		facts, deletes := refFacts(strings.TrimPrefix(ref, "+"))
		remove = remove || deletes
		out = append(out, facts...)
	}
	switch {
	case remove:
		out = append(out, approval.Fact{Name: "mode", Value: "delete"})
	case force:
		out = append(out, approval.Fact{Name: "mode", Value: "force"})
	}
	return out
}

// refFacts returns what one refspec of a push changes and from what, and whether it deletes
// the remote ref.
func refFacts(ref string) (out []approval.Fact, deletes bool) {
	src, dst, colon := strings.Cut(ref, ":")
	if !colon {
		dst = src
	}
	deletes = colon && src == ""
	src, dst = short(src), short(dst)
	out = fact("ref", dst)
	if src != dst && src != "HEAD" {
		out = append(out, fact("from", src)...)
	}
	return out, deletes
}

// short returns the name of a branch without refs/heads/.
func short(ref string) string { return strings.TrimPrefix(ref, "refs/heads/") }

// kubernetes names the objects of a cluster, each by its kind and name.
func (l *line) kubernetes() ([]approval.Subject, bool) {
	verb := l.operand(0)
	from := 1
	switch verb {
	case "rollout", "set", "config", "adm", "certificate", "auth", "top":
		verb, from = verb+" "+l.operand(1), 2
	}
	base := approval.Subject{System: l.system, Verb: verb, Object: l.named()}
	if files := l.values("-f", "--filename", "-k", "--kustomize"); len(files) > 0 {
		l.w.whole = false // the files may change
		for _, f := range files {
			base.Object = append(base.Object, approval.Fact{Name: "file", Value: l.fileOf(f)})
		}
	}
	if s, ok := resourceAt(l.value("--raw")); ok && verb == "delete" {
		base.Object = append(base.Object, s.Object...)
	}
	base.Object = append(base.Object, l.others()...)
	names := resources(l.operands(from))
	if len(names) == 0 {
		return []approval.Subject{base}, true
	}
	var out []approval.Subject
	for _, r := range names {
		s := base
		s.Object = append(slices.Clone(base.Object), fact("kind", r[0])...)
		s.Object = append(s.Object, fact("name", r[1])...)
		out = append(out, s)
	}
	return out, true
}

// resourceAt names the deletion of the object of a cluster that a path of its API names.
func resourceAt(p string) (approval.Subject, bool) {
	parts := strings.Split(strings.Trim(path.Clean("/"+p), "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:] // the version
	case len(parts) > 3 && parts[0] == "apis":
		parts = parts[3:] // the group and the version
	default:
		return approval.Subject{}, false
	}
	namespace := ""
	if len(parts) == 4 && parts[0] == "namespaces" {
		namespace, parts = parts[1], parts[2:]
	}
	if len(parts) != 2 {
		return approval.Subject{}, false
	}
	return deletedResource(namespace, parts[0], parts[1]), true
}

// deletedResource names the deletion of an object of a cluster.
func deletedResource(namespace, kind, name string) approval.Subject {
	object := append(fact("namespace", namespace), fact("kind", kindOf(kind))...)
	return approval.Subject{System: "kubernetes", Verb: "delete", Object: append(object, fact("name", name)...)}
}

// fileOf returns the path of a file, or name itself if it is standard input or a URL.
func (l *line) fileOf(name string) string {
	if name == "-" || strings.Contains(name, "://") {
		return name
	}
	return l.at(name)
}

// resources parses kinds and names such as "pod web", "pod/web svc/api", "pods,svc web".
func resources(ops []string) [][2]string {
	var out [][2]string
	if len(ops) == 0 {
		return nil
	}
	if slices.ContainsFunc(ops, func(o string) bool { return strings.Contains(o, "/") }) {
		for _, o := range ops {
			kind, name, ok := strings.Cut(o, "/")
			if !ok {
				kind, name = "", o
			}
			out = append(out, [2]string{kindOf(kind), name})
		}
		return out
	}
	for kind := range strings.SplitSeq(ops[0], ",") {
		for _, name := range ops[1:] {
			out = append(out, [2]string{kindOf(kind), name})
		}
		if len(ops) == 1 {
			out = append(out, [2]string{kindOf(kind), ""})
		}
	}
	return out
}

// shortKinds are the short names of Kubernetes kinds; oddKinds are the plurals that add
// more than one letter.
const (
	shortKinds = "po=pod deploy=deployment svc=service ns=namespace cm=configmap sts=statefulset ds=daemonset rs=replicaset ing=ingress " +
		"pvc=persistentvolumeclaim pv=persistentvolume no=node sa=serviceaccount cj=cronjob hpa=horizontalpodautoscaler netpol=networkpolicy " +
		"ep=endpoints rc=replicationcontroller quota=resourcequota crd=customresourcedefinition sc=storageclass pdb=poddisruptionbudget"
	oddKinds = "ingresses=ingress networkpolicies=networkpolicy storageclasses=storageclass endpoints=endpoints"
)

// kindOf returns the full name of a kind, in the singular and without its API group.
func kindOf(s string) string {
	s, _, _ = strings.Cut(strings.ToLower(s), ".")
	for pair := range strings.FieldsSeq(shortKinds + " " + oddKinds) {
		if name, kind, _ := strings.Cut(pair, "="); name == s {
			return kind
		}
	}
	if strings.HasSuffix(s, "s") && !strings.HasSuffix(s, "ss") {
		return s[:len(s)-1]
	}
	return s
}

// terraform names the folder whose infrastructure changes, and the parts of it.
func (l *line) terraform() ([]approval.Subject, bool) {
	folder := l.at(cmp.Or(l.value("-chdir", "--chdir"), "."))
	s := approval.Subject{System: l.system, Verb: l.operand(0)}
	if s.Verb == "apply" && l.has("-destroy", "--destroy") {
		s.Verb = "destroy"
	}
	for _, o := range l.operands(1) {
		s.Object = append(s.Object, approval.Fact{Name: "object", Value: o})
	}
	s.Object = append(append(s.Object, l.others()...), fact("of", l.w.n.path(l.w.p.Context.Cwd, folder))...)
	return []approval.Subject{s}, s.Verb != ""
}

// service names what is done to services, however their words are ordered.
func (l *line) service() ([]approval.Subject, bool) {
	if l.name == "service" && len(l.parsed.Operands) == 2 {
		l.form = l.w.n.forms["systemctl"]
		unit := approval.Fact{Name: "object", Value: l.operand(0)}
		return []approval.Subject{{System: l.system, Verb: l.operand(1), Object: append(l.others(), unit)}}, true
	}
	out, ok := l.plain()
	for i := range out[0].Object {
		out[0].Object[i].Value = strings.TrimSuffix(out[0].Object[i].Value, ".service")
	}
	return out, ok
}

// cloud names what a cloud's client does. It ends the name of a folder in a store with a slash
// if the words do not.
func (l *line) cloud() ([]approval.Subject, bool) {
	out, ok := l.plain()
	for i, f := range out[0].Object {
		if f.Name == "object" && strings.Contains(f.Value, "://") && l.has("--recursive", "-r", "-R") {
			out[0].Object[i].Value = strings.TrimSuffix(f.Value, "/")
		}
	}
	return out, ok
}

// registry names the package that is published, by its folder.
func (l *line) registry() ([]approval.Subject, bool) {
	folder := l.cwd
	if at := l.value("-C", "--prefix"); at != "" {
		folder = l.w.n.path(folder, at)
	}
	verb := l.operand(0)
	s := approval.Subject{System: l.system, Verb: verb, Object: slices.DeleteFunc(l.named(), func(f approval.Fact) bool {
		return verb == "publish" && f == approval.Fact{Name: "tag", Value: "latest"} // the one it gets without
	})}
	for _, o := range l.operands(1) {
		if verb == "publish" && !strings.HasSuffix(o, ".tgz") {
			folder = l.w.n.path(folder, o)
			continue
		}
		s.Object = append(s.Object, approval.Fact{Name: "package", Value: o})
	}
	s.Object = append(append(s.Object, l.others()...), fact("of", l.w.n.path(l.w.p.Context.Cwd, folder))...)
	l.form = &form{anywhere: true, confirms: true}
	return []approval.Subject{s}, verb != ""
}

// forge names what is done on GitHub.
func (l *line) forge() ([]approval.Subject, bool) {
	if l.operand(0) == "api" {
		method := strings.ToUpper(l.value("-X", "--method"))
		if repo, ok := repositoryOf(l.operand(1)); ok && method == "DELETE" {
			l.form = &form{anywhere: true, confirms: true}
			return []approval.Subject{repoDeletion(repo)}, true
		}
		return l.plain()
	}
	if l.operand(0)+" "+l.operand(1) == "repo delete" {
		repo := l.operand(2)
		if repo == "" {
			return l.plain()
		}
		l.form = &form{anywhere: true, confirms: true}
		repo = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(repo, "https://"), "github.com/"), ".git")
		return []approval.Subject{repoDeletion(repo)}, true
	}
	return l.plain()
}

// repoDeletion names the deletion of a repository. GitHub ignores case in its name.
func repoDeletion(repo string) approval.Subject {
	return approval.Subject{System: "github", Verb: "repo delete", Object: fact("repository", strings.ToLower(repo))}
}

// repositoryOf returns the repository that a path of the GitHub API names.
func repositoryOf(p string) (string, bool) {
	parts := strings.Split(strings.Trim(path.Clean("/"+p), "/"), "/")
	if len(parts) != 3 || parts[0] != "repos" {
		return "", false
	}
	return parts[1] + "/" + parts[2], true
}

// kill names the processes and the signal.
func (l *line) kill() ([]approval.Subject, bool) {
	signal, rest := "TERM", []string{}
	words := l.parsed.Words
	for i := 0; i < len(words); i++ {
		text := l.text(words[i])
		switch {
		case (text == "-s" || text == "-n") && i+1 < len(words):
			i++
			signal = l.text(words[i])
		case strings.HasPrefix(text, "-") && len(rest) == 0 && text != "--":
			signal = text[1:]
		case text != "--":
			rest = append(rest, text)
		}
	}
	if signal = strings.TrimPrefix(strings.ToUpper(signal), "SIG"); signal == "KILL" {
		signal = "9"
	}
	var out []approval.Subject
	for _, p := range rest {
		out = append(out, approval.Subject{System: "process", Verb: "kill", Object: append(fact("process", p), fact("signal", signal)...)})
	}
	return out, true
}
