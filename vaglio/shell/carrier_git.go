package shell

import (
	"slices"
	"strings"
)

// runGit reads git: commands that its settings name, and its subcommands that
// run one.
func (r *reader) runGit(f *frame, k *call, p *program, name string) Word {
	opts, rest := p.parse(k.argv[1:])
	h := f.at(k, "git -c")
	h.conditional = true
	settings := gitEnvironment(append(slices.Clone(f.assigns), k.assigns...))
	for _, setting := range opts.all(p.settings...) {
		key, value, _ := setting.splitAt("=")
		s, _ := key.Text()
		settings = append(settings, Assign{Name: s, Value: value})
	}
	for _, set := range settings {
		alias, isAlias := strings.CutPrefix(strings.ToLower(set.Name), "alias.")
		var args []Word
		if isAlias && len(rest) > 0 {
			if !rest[0].Is(alias) {
				continue
			}
			args = rest[1:]
		}
		r.settingOf(h, &p.way, set.Name, set.Value, args, name)
	}
	if len(rest) == 0 {
		return r.plain(f, k)
	}
	return r.scoped(func() Word {
		for _, dir := range opts.all(p.chdir...) {
			r.st.set(keyCwd, r.resolvePath(dir))
		}
		out := r.plain(f, k)
		if w, words := p.find(rest); w != nil {
			verb := name + " " + rest[0].text
			g := f.at(k, verb)
			g.inLoop = true
			r.carries(g, k, w, words, verb)
		}
		return out
	})
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
