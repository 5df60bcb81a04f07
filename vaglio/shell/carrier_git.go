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
	for _, setting := range opts.all("c") {
		name, value, _ := setting.splitAt("=")
		key, _ := name.Text()
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
		strings.HasPrefix(low, "difftool.") || strings.HasPrefix(low, "mergetool.") || low == "uploadpack.packobjectshook":
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
//nolint:cyclop // One case per form that the grammar knows.
func (r *reader) gitVerb(f *frame, k *call, rest []Word) {
	verb, _ := rest[0].Text()
	args := rest[1:]
	h := f.at(k, "git "+verb)
	h.inLoop = true
	switch verb {
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
	case "clone", "fetch", "pull", "push", "ls-remote":
		opts, ops := grammar{values: "uco", long: "upload-pack receive-pack exec config", permute: true}.parse(args)
		for _, code := range opts.all("u", "upload-pack", "receive-pack", "exec") {
			r.carried(h, code, "git --upload-pack")
		}
		for _, w := range ops {
			if strings.HasPrefix(w.Prefix(), "ext::") {
				r.carried(h, w.cut(len("ext::")), "git ext::")
			}
		}
	}
}

func (r *reader) carriedIfAny(f *frame, words []Word, by string) {
	if len(words) > 0 {
		r.carried(f, r.code(words), by)
	}
}
