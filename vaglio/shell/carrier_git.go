package shell

import (
	"slices"
	"strings"
)

// runGit reads git: commands that its settings name.
func (r *reader) runGit(f *frame, k *call) Word {
	g := grammar{values: "cC", long: "git-dir work-tree namespace exec-path config-env super-prefix"}
	opts, rest := g.parse(k.argv[1:])
	h := f.at(k, "git -c")
	h.conditional = true
	settings := gitEnvironment(append(slices.Clone(f.assigns), k.assigns...))
	for _, setting := range opts.all("c") {
		name, value, _ := setting.splitAt("=")
		key, _ := name.Text()
		settings = append(settings, Assign{Name: key, Value: value})
	}
	for _, set := range settings {
		key, value := set.Name, set.Value
		if len(rest) > 0 {
			if alias, ok := strings.CutPrefix(strings.ToLower(key), "alias."); ok && !rest[0].Is(alias) {
				continue
			}
		}
		r.gitSetting(h, key, value, tail(rest, 1))
	}
	if len(rest) == 0 {
		return r.plain(f, k)
	}
	return r.scoped(func() Word {
		for _, dir := range opts.all("C") {
			r.st.set(keyCwd, r.resolvePath(dir))
		}
		out := r.plain(f, k)
		r.gitVerb(f, k, rest)
		return out
	})
}

// gitSetting reads a setting whose value git runs.
//
//nolint:cyclop // One case per form that the grammar knows.
func (r *reader) gitSetting(f *frame, key string, value Word, args []Word) {
	low := strings.ToLower(key)
	s := value.Prefix()
	switch {
	case strings.HasPrefix(low, "alias."):
		if strings.HasPrefix(s, "!") {
			code := append([]Word{value.cut(1)}, args...)
			r.carried(f, r.code(code), "git alias")
		}
	case low == "core.pager" || low == "core.editor" || low == "core.sshcommand" || low == "core.fsmonitor" ||
		low == "core.askpass" || low == "sequence.editor" || low == "diff.external" || low == "core.gitproxy" ||
		low == "credential.helper" && strings.HasPrefix(s, "!") || strings.HasPrefix(low, "pager.") ||
		low == "gpg.program" || strings.HasPrefix(low, "filter.") || strings.HasSuffix(low, ".textconv") ||
		strings.HasPrefix(low, "difftool.") || strings.HasPrefix(low, "mergetool.") || strings.HasPrefix(low, "man.") &&
		strings.HasSuffix(low, ".cmd") || strings.HasPrefix(low, "browser.") || low == "uploadpack.packobjectshook":
		if s == "true" || s == "false" || value.Is("") {
			return
		}
		if strings.HasPrefix(s, "!") {
			value = value.cut(1)
		}
		r.carried(f, value, "git "+key)
	}
}

// gitVerb reads the subcommands of git that run a command.
//
//nolint:cyclop,funlen // One case per form that the grammar knows.
func (r *reader) gitVerb(f *frame, k *call, rest []Word) {
	verb, _ := rest[0].Text()
	args := rest[1:]
	h := f.at(k, "git "+verb)
	h.inLoop = true
	switch verb {
	case "help":
		for i, w := range args {
			if name, value, ok := tail(args, i)[0].splitAt("="); ok && !w.HasUnknown() {
				key, _ := name.Text()
				r.gitSetting(h, key, value, nil)
			}
		}
	case "config":
		_, ops := grammar{values: "f", long: "file blob type default"}.parse(args)
		if len(ops) > 0 && ops[0].Is("set") {
			ops = ops[1:]
		}
		if len(ops) > 1 {
			key, _ := ops[0].Text()
			h.conditional = true
			r.gitSetting(h, key, ops[1], nil)
		}
	case "submodule":
		if i := slices.IndexFunc(args, func(w Word) bool { return w.Is("foreach") }); i >= 0 {
			_, ops := grammar{}.parse(args[i+1:])
			r.carriedIfAny(h, ops, "git submodule foreach")
		}
	case "bisect":
		if len(args) > 1 && args[0].Is("run") {
			r.run(h, &call{argv: args[1:], span: k.span, external: true})
		}
	case "rebase":
		opts, _ := grammar{values: "xsXCm", long: "exec onto strategy strategy-option", permute: true}.parse(args)
		for _, code := range opts.all("x", "exec") {
			r.carried(h, code, "git rebase --exec")
		}
	case "filter-branch":
		opts, _ := grammar{long: "env-filter tree-filter index-filter parent-filter msg-filter commit-filter tag-name-filter", permute: true}.parse(args)
		for _, o := range opts {
			if strings.HasSuffix(o.name, "-filter") && o.has {
				r.carried(h, o.value, "git filter-branch")
			}
		}
	case "difftool", "mergetool":
		opts, _ := grammar{values: "x", long: "extcmd", permute: true}.parse(args)
		for _, code := range opts.all("x", "extcmd") {
			r.carried(h, code, "git difftool")
		}
	case "clone", "fetch", "fetch-pack", "pull", "push", "send-pack", "ls-remote", "archive", "remote", "grep":
		r.gitTransport(h, verb, args)
	case "for-each-repo":
		_, ops := grammar{long: "config"}.parse(args)
		if len(ops) > 0 {
			r.run(h, &call{argv: append([]Word{Text("git")}, ops...), span: k.span, external: true})
		}
	}
}

// gitTransport reads the options that name the program at the other end, by
// the verb's own grammar: -u is --upload-pack of clone, but not of push.
func (r *reader) gitTransport(f *frame, verb string, args []Word) {
	g := grammar{long: "upload-pack receive-pack exec remote output format prefix depth", permute: true}
	code := []string{"upload-pack", "receive-pack", "exec"}
	switch verb {
	case "clone":
		g.values, g.long = "ucobj", "upload-pack config origin branch depth reference separate-git-dir template jobs server-option filter"
		code = append(code, "u")
	case "grep":
		g.values, g.long = "efmABCO?", "threads max-count max-depth"
		code = []string{"O", "open-files-in-pager"}
	case "push":
		g.values, g.long = "o", "receive-pack exec repo push-option"
	}
	opts, ops := g.parse(args)
	for _, c := range opts.all(code...) {
		r.carried(f, c, "git "+verb)
	}
	if verb == "clone" {
		for _, setting := range opts.all("c", "config") {
			name, value, _ := setting.splitAt("=")
			key, _ := name.Text()
			r.gitSetting(f, key, value, nil)
		}
	}
	for _, w := range ops {
		if strings.HasPrefix(w.Prefix(), "ext::") {
			r.carried(f, w.cut(len("ext::")), "git ext::")
		}
	}
}

// gitEnvironment are the settings that GIT_CONFIG_KEY_n and GIT_CONFIG_VALUE_n
// give.
func gitEnvironment(assigns []Assign) []Assign {
	var out []Assign
	for _, a := range assigns {
		n, ok := strings.CutPrefix(a.Name, "GIT_CONFIG_KEY_")
		if !ok {
			continue
		}
		if key, static := a.Value.Text(); static {
			value, _ := assigned(assigns, "GIT_CONFIG_VALUE_"+n)
			out = append(out, Assign{Name: key, Value: value})
		}
	}
	return out
}

func (r *reader) carriedIfAny(f *frame, words []Word, by string) {
	if len(words) > 0 {
		r.carried(f, r.code(words), by)
	}
}
