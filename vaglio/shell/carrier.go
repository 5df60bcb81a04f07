package shell

import (
	"slices"
)

// runSSH reads ssh and its like: a command on another machine.
func (r *reader) runSSH(f *frame, k *call, name string) Word {
	g := grammar{values: "BbcDEeFIiJLlmOoPpQRSWw", long: "ssh client port command"}
	if name == "pdsh" {
		g.values = "wxlgRfut"
	}
	opts, rest := g.parse(k.argv[1:])
	out := r.optionCode(f, k, name)
	if name == "vagrant" {
		if len(rest) == 0 || !rest[0].Is("ssh") {
			return out
		}
		opts, _ = grammar{values: "c", long: "command", permute: true}.parse(rest[1:])
		if code, ok := opts.get("c", "command"); ok {
			h := f.at(k, name)
			h.remote = &Remote{Kind: RemoteHost, Target: Text("vagrant")}
			return r.scoped(func() Word { r.freshCwd(); return r.carried(h, code, name) })
		}
		return out
	}
	var host Word
	if name != "pdsh" {
		if len(rest) == 0 {
			return out
		}
		host = rest[0]
		rest = rest[1:]
		// Options may follow the host.
		_, rest = g.parse(rest)
	} else {
		host, _ = opts.get("w")
	}
	h := f.at(k, name)
	h.remote = &Remote{Kind: RemoteHost, Target: host}
	if len(rest) == 0 {
		if f.stdin.Kind == InputText && name != "pdsh" {
			h.stdin = Input{}
			return r.scoped(func() Word { r.freshCwd(); return r.carried(h, f.stdin.Text, name) })
		}
		return out
	}
	return r.scoped(func() Word { r.freshCwd(); return r.carried(h, r.code(rest), name) })
}

// freshCwd forgets the current folder, for another machine has its own.
func (r *reader) freshCwd() { r.st.set(keyCwd, unknownHome("PWD")) }

// containerValues are the options of docker and its like that take a value.
const (
	containerShort = "acehlmpuvw"
	containerLong  = "add-host attach blkio-weight cap-add cap-drop cgroup-parent cidfile cpu-period cpu-quota cpu-shares cpus " +
		"cpuset-cpus cpuset-mems device dns dns-search domainname entrypoint env env-file expose gpus group-add health-cmd " +
		"health-interval health-retries health-timeout hostname ip ipc isolation label label-file link log-driver log-opt " +
		"mac-address memory memory-swap mount name net network network-alias pid pids-limit platform publish pull restart " +
		"runtime security-opt shm-size stop-signal stop-timeout storage-opt sysctl tmpfs ulimit user userns uts volume " +
		"volume-driver volumes-from workdir detach-keys file project-name profile project-directory context host log-level config index scale"
)

// runContainer reads docker run, docker exec and their like.
//
//nolint:cyclop // One case per form that the grammar knows.
func (r *reader) runContainer(f *frame, k *call, name string) Word {
	r.wrapper(f, k)
	g := grammar{values: "cHlfp", long: containerLong}
	_, rest := g.parse(k.argv[1:])
	for len(rest) > 0 && (rest[0].Is("container") || rest[0].Is("compose")) {
		_, rest = g.parse(rest[1:])
	}
	if len(rest) == 0 {
		return outputOf(name)
	}
	verb, _ := rest[0].Text()
	switch verb {
	case "run", "create", "exec":
	default:
		return outputOf(name)
	}
	short := containerShort
	if verb == "exec" {
		short = "euw"
	}
	opts, rest := grammar{values: short, long: containerLong}.parse(rest[1:])
	if verb == "exec" && opts.any("l", "latest") {
		rest = slices.Insert(slices.Clone(rest), 0, Text("latest")) // podman names no container then
	}
	if len(rest) == 0 {
		return outputOf(name)
	}
	h := f.at(k, name+" "+verb)
	h.remote = containerOf(opts, rest[0])
	argv := rest[1:]
	if len(argv) > 0 && argv[0].Is("--") {
		argv = argv[1:]
	}
	if entry, ok := opts.get("entrypoint"); ok {
		argv = append([]Word{entry}, argv...)
	}
	if len(argv) == 0 {
		return outputOf(name)
	}
	return r.scoped(func() Word {
		r.freshCwd()
		if dir, ok := opts.get("w", "workdir"); ok {
			r.st.set(keyCwd, dir)
		}
		return r.run(h, &call{argv: argv, span: k.span, external: true})
	})
}

// containerOf is the container that options describe.
func containerOf(opts options, image Word) *Remote {
	out := &Remote{Kind: RemoteContainer, Target: image}
	for _, v := range opts.all("v", "volume") {
		host, rest, ok := v.splitAt(":")
		inside, _, _ := rest.splitAt(":")
		if ok {
			out.Mounts = append(out.Mounts, Mount{Host: host, Inside: inside})
		}
	}
	for _, v := range opts.all("mount") {
		m := mountOf(v)
		if !m.Inside.Is("") {
			out.Mounts = append(out.Mounts, m)
		}
	}
	for _, o := range opts {
		switch {
		case o.name == "privileged":
			out.HostAccess = true
		case (o.name == "pid" || o.name == "userns" || o.name == "ipc") && o.value.Is("host"):
			out.HostAccess = true
		case o.name == "device":
			host, _, _ := o.value.splitAt(":")
			out.Mounts = append(out.Mounts, Mount{Host: host, Inside: host})
		}
	}
	return out
}

// mountOf reads type=bind,source=/a,target=/b.
func mountOf(v Word) Mount {
	var m Mount
	for {
		field, rest, more := v.splitAt(",")
		key, value, _ := field.splitAt("=")
		switch {
		case key.Is("source") || key.Is("src"):
			m.Host = value
		case key.Is("target") || key.Is("dst") || key.Is("destination"):
			m.Inside = value
		}
		if !more {
			return m
		}
		v = rest
	}
}
