package shell

import (
	"slices"
	"strings"
)

// remoteVerb is one way in which a tool runs a command elsewhere.
type remoteVerb struct {
	grammar

	// words are the operands that name it, separated by blanks; "" for a tool
	// that does nothing else.
	words string
	// skip is how many operands, such as a pod, precede the command.
	skip int
	// dash says that the command must follow a "--".
	dash bool
	// code are the options whose value is shell code.
	code []string
	// joined says that the operands are shell code when joined, as ssh has it.
	joined bool
	// here says that the command sees this machine's files where they are.
	here bool
}

// remoteTool is a program that runs commands elsewhere.
type remoteTool struct {
	grammar

	verbs []remoteVerb
}

const kubeLong = "namespace container context cluster kubeconfig filename user image overrides env labels port restart " +
	"server token request-timeout as as-group pod-running-timeout target profile copy-to set-image arguments-file limits requests"

// remotes are the tools that run a command elsewhere, by name.
//
//nolint:gochecknoglobals // A table that is only read.
var remotes = map[string]remoteTool{
	"kubectl": {grammar{values: "ns", long: kubeLong}, []remoteVerb{
		{words: "exec", skip: 1, grammar: grammar{values: "cfn", long: kubeLong}},
		{words: "run", dash: true, grammar: grammar{values: "fln", long: kubeLong, permute: true}},
		{words: "debug", dash: true, grammar: grammar{values: "cfn", long: kubeLong, permute: true}},
	}},
	"oc": {grammar{values: "ns", long: kubeLong}, []remoteVerb{
		{words: "exec", skip: 1, grammar: grammar{values: "cfn", long: kubeLong}},
		{words: "rsh", skip: 1, grammar: grammar{values: "cfn", long: kubeLong + " shell"}},
		{words: "run", dash: true, grammar: grammar{values: "fln", long: kubeLong, permute: true}},
		{words: "debug", dash: true, grammar: grammar{values: "cfn", long: kubeLong, permute: true}},
	}},
	"crictl": {
		grammar{values: "cr", long: "config runtime-endpoint image-endpoint timeout"},
		[]remoteVerb{{words: "exec", skip: 1, grammar: grammar{long: "timeout transport"}}},
	},
	"ctr": {
		grammar{values: "an", long: "address namespace"},
		[]remoteVerb{
			{words: "task exec", skip: 1, grammar: grammar{long: "exec-id user cwd"}},
			{words: "run", skip: 2, grammar: grammar{long: "mount env cwd user snapshotter runtime"}},
		},
	},
	"minikube": {
		grammar{values: "pn", long: "profile node"},
		[]remoteVerb{{words: "ssh", joined: true, grammar: grammar{values: "pn", long: "profile node"}}},
	},
	"lxc-attach": {grammar{}, []remoteVerb{{grammar: grammar{
		values: "neusvfPlo",
		long:   "name elevated-privileges namespaces set-var keep-var rcfile lxcpath uid gid arch",
	}}}},
	"gcloud": {grammar{long: "project account configuration zone region verbosity format"}, []remoteVerb{
		{
			words: "compute ssh", skip: 1, dash: true, code: []string{"command"},
			grammar: grammar{long: "command project zone region ssh-flag ssh-key-file tunnel-through-iap container", permute: true},
		},
		{words: "cloud-shell ssh", code: []string{"command"}, dash: true, grammar: grammar{long: "command ssh-flag", permute: true}},
		{
			words: "compute tpus tpu-vm ssh", skip: 1, dash: true, code: []string{"command"},
			grammar: grammar{long: "command project zone worker", permute: true},
		},
	}},
	"fly": {grammar{}, []remoteVerb{
		{
			words: "ssh console", code: []string{"C", "command"},
			grammar: grammar{values: "aCrguo", long: "app command region user org machine address process-group", permute: true},
		},
		{words: "machine exec", skip: 1, joined: true, grammar: grammar{values: "a", long: "app timeout"}},
	}},
	"heroku": {grammar{}, []remoteVerb{
		{words: "run", joined: true, grammar: grammar{values: "aersx", long: "app env remote size type"}},
		{words: "run:detached", joined: true, grammar: grammar{values: "aersx", long: "app env remote size"}},
		{words: "run:inside", skip: 1, joined: true, grammar: grammar{values: "ar", long: "app remote"}},
	}},
	"toolbox":   {grammar{}, []remoteVerb{{words: "run", here: true, grammar: grammar{values: "cdr", long: "container distro release preserve-fds"}}}},
	"distrobox": {grammar{}, []remoteVerb{{words: "enter", here: true, skip: 1, grammar: grammar{values: "nae", long: "name additional-flags"}}}},
	"wsl":       {grammar{}, []remoteVerb{{here: true, grammar: grammar{values: "du", long: "distribution user cd shell-type"}}}},
	"machinectl": {
		grammar{values: "MHpnosE", long: "machine host property lines output signal setenv uid"},
		[]remoteVerb{{words: "shell", skip: 1, grammar: grammar{values: "E", long: "setenv uid"}}},
	},
	"systemd-nspawn": {grammar{}, []remoteVerb{{grammar: grammar{
		values: "DMiupSEnLZj?x?UabqV",
		long: "directory template image oci-bundle root-hash machine hostname uuid slice property user " +
			"chdir bind bind-ro tmpfs setenv capability drop-capability network-interface network-macvlan network-zone " +
			"port link-journal resolv-conf timezone console kill-signal " +
			"as-pid2 rlimit oom-score-adjust cpu-affinity personality settings private-users overlay overlay-ro " +
			"volatile background notify-ready system-call-filter",
	}}}},
	"salt": {grammar{values: "EGLNCRItbc", long: "timeout batch-size config-dir out output"}, []remoteVerb{{skip: 2, joined: true}}},
	"pssh": {grammar{}, []remoteVerb{{joined: true, grammar: grammar{
		values: "HhloepOtxXg",
		long:   "host hosts user par outdir errdir timeout options extra-args",
	}}}},
	"aws": {grammar{long: "profile region output endpoint-url"}, []remoteVerb{
		{
			words: "ssm send-command", code: []string{"parameters"},
			grammar: grammar{long: "parameters document-name instance-ids targets comment region profile", permute: true},
		},
		{words: "ecs execute-command", code: []string{"command"}, grammar: grammar{long: "command cluster task container region profile", permute: true}},
	}},
	"az": {grammar{long: "subscription output"}, []remoteVerb{
		{words: "vm run-command invoke", code: []string{"scripts"}, grammar: grammar{
			values: "gn",
			long:   "scripts command-id resource-group name subscription", permute: true,
		}},
		{words: "container exec", code: []string{"exec-command"}, grammar: grammar{
			values: "gn",
			long:   "exec-command resource-group name container-name", permute: true,
		}},
	}},
}

// remoteAliases are other names of [remotes].
//
//nolint:gochecknoglobals // A table that is only read.
var remoteAliases = map[string]string{"flyctl": "fly", "wsl.exe": "wsl", "parallel-ssh": "pssh", "pscp.pssh": "pssh"}

// remoteTool finds the tool of a name, and the words that it begins with when
// another program hands them on, as microk8s kubectl does.
func remoteToolOf(name string) (remoteTool, bool) {
	if other, ok := remoteAliases[name]; ok {
		name = other
	}
	t, ok := remotes[name]
	return t, ok
}

// runRemote reads kubectl exec and other tools that run a command elsewhere.
//
//nolint:cyclop // One case per form that the grammar knows.
func (r *reader) runRemote(f *frame, k *call, name string) Word {
	if (name == "k3s" || name == "microk8s" || name == "minikube") && len(k.argv) > 1 && (k.argv[1].Is("kubectl") || k.argv[1].Is("ctr")) {
		rest := k.argv[1:]
		if len(rest) > 1 && rest[1].Is("--") {
			rest = slices.Delete(slices.Clone(rest), 1, 2)
		}
		return r.inner(f, k, name, rest)
	}
	tool, ok := remoteToolOf(name)
	if !ok {
		return r.plain(f, k)
	}
	head, dashed := cutAt(k.argv[1:], "--")
	_, rest := tool.parse(head)
	for _, v := range tool.verbs {
		args, ok := v.after(rest)
		if v.words == "" {
			args = head
		}
		if ok {
			return r.remoteCommand(f, k, name, v, args, dashed)
		}
	}
	return r.plain(f, k)
}

// cutAt splits words at the first that is the mark; the second list is nil
// when there is none.
func cutAt(words []Word, mark string) (before, after []Word) {
	if i := slices.IndexFunc(words, func(w Word) bool { return w.Is(mark) }); i >= 0 {
		return words[:i], words[i+1:]
	}
	return words, nil
}

// after returns the operands behind the words of the verb.
func (v remoteVerb) after(rest []Word) ([]Word, bool) {
	for word := range strings.FieldsSeq(v.words) {
		if len(rest) == 0 || !rest[0].Is(word) {
			return nil, false
		}
		rest = rest[1:]
	}
	return rest, true
}

// remoteCommand reads the command that a tool runs elsewhere.
//
//nolint:cyclop // One case per form that the grammar knows.
func (r *reader) remoteCommand(f *frame, k *call, name string, v remoteVerb, args, dashed []Word) Word {
	opts, rest := v.parse(args)
	if v.skip > 0 && len(rest) > 0 && dashed == nil && !v.dash && !v.permute {
		_, more := v.parse(rest[min(v.skip, len(rest)):]) // options may follow the pod
		rest = append(slices.Clone(rest[:min(v.skip, len(rest))]), more...)
	}
	h := f.at(k, name)
	h.remote = &Remote{Kind: RemotePod, Target: r.code(rest[:min(max(1, v.skip), len(rest))])}
	argv := dashed
	if argv == nil && !v.dash && len(rest) > v.skip {
		argv = rest[v.skip:]
	}
	if len(argv) == 0 && !opts.any(v.code...) {
		return r.plain(f, k)
	}
	r.wrapper(f, k)
	return r.scoped(func() Word {
		if !v.here {
			r.freshCwd()
		}
		for _, code := range opts.all(v.code...) {
			r.carried(h, jsonCommands(code), name)
		}
		switch {
		case len(argv) == 0:
			return outputOf(name)
		case v.joined:
			return r.carried(h, r.code(argv), name)
		}
		return r.run(h, &call{argv: argv, span: k.span, external: true})
	})
}

// jsonCommands is the code in commands=["…","…"], one command a line; any
// other text is code as it stands.
func jsonCommands(code Word) Word {
	s, ok := code.Text()
	_, list, found := strings.Cut(s, "[")
	if !ok || !found || !strings.HasPrefix(strings.TrimLeft(s, "{\"' "), "commands") {
		return code
	}
	list, _, _ = strings.Cut(list, "]")
	return Text(strings.NewReplacer(`\"`, `"`, `","`, "\n", `", "`, "\n", `"`, "").Replace(list))
}
