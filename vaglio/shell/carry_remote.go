package shell

import "slices"

// runSSH reads ssh and its like: a command on another machine.
func (r *reader) runSSH(f *frame, k *call, p *program, name string) Word {
	opts, rest := p.parse(k.argv[1:])
	out := r.plain(f, k)
	h := f.at(k, name)
	host, _ := opts.Get("w")
	if len(p.ways) > 0 {
		w, words := p.find(rest)
		if w == nil {
			return out
		}
		opts, _ = w.parse(words)
		h.remote = &Remote{Kind: RemoteHost, Target: Text(name)}
		return r.onOther(func() Word { last, _ := r.lines(h, w, opts, name); return last })
	}
	if p.from > 0 && len(rest) > 0 {
		var more options
		host = rest[0]
		more, rest = p.parse(rest[1:]) // options may follow the host
		opts = append(opts, more...)
	}
	g := f.at(k, name)
	g.conditional = true
	for _, v := range opts.all(p.settings...) {
		r.setting(g, &p.way, v, name)
	}
	h.remote = &Remote{Kind: RemoteHost, Target: host}
	switch {
	case len(rest) > 0:
		return r.onOther(func() Word { return r.carried(h, spaced(rest), name) })
	case f.stdin.Kind == InputText && p.from > 0 && !host.Is(""):
		h.stdin = Input{}
		return r.onOther(func() Word { return r.carried(h, f.stdin.Text, name) })
	}
	return out
}

// onOther reads something on another machine.
func (r *reader) onOther(read func() Word) Word {
	return r.scoped(func() Word { r.freshCwd(); return read() })
}

// freshCwd forgets the current folder, for another machine has its own.
func (r *reader) freshCwd() { r.st.set(keyCwd, unknownHome("PWD")) }

// runContainer reads docker run, docker exec and their like.
func (r *reader) runContainer(f *frame, k *call, p *program, name string) Word {
	r.wrapper(f, k)
	_, rest := p.options(k)
	w, args := p.find(rest)
	if w == nil {
		return outputOf(name)
	}
	opts, args := w.parse(args)
	if opts.any(w.instead...) {
		args = slices.Insert(slices.Clone(args), 0, Text("latest")) // podman names no container then
	}
	if len(args) == 0 {
		return outputOf(name)
	}
	h := f.at(k, name+" "+rest[0].text)
	h.remote = containerOf(opts, args[0])
	argv := behindDashes(args[1:])
	if entry, ok := opts.Get(w.program...); ok {
		argv = append([]Word{entry}, argv...)
	}
	if len(argv) == 0 {
		return outputOf(name)
	}
	return r.onOther(func() Word {
		if dir, ok := opts.Get(w.chdir...); ok {
			r.st.set(keyCwd, dir)
		}
		return r.operands(h, k, w, opts, argv, name, nil)
	})
}

// containerOf is the container that options describe.
func containerOf(opts options, image Word) *Remote {
	network, _ := opts.Get("network", "net")
	out := &Remote{Kind: RemoteContainer, Target: image, HostNetwork: network.Is("host")}
	for _, v := range opts.all("v", "volume") {
		host, rest, ok := v.Split(":")
		inside, _, _ := rest.Split(":")
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
			host, _, _ := o.value.Split(":")
			out.Mounts = append(out.Mounts, Mount{Host: host, Inside: host})
		}
	}
	return out
}

// mountOf reads type=bind,source=/a,target=/b.
func mountOf(v Word) Mount {
	var m Mount
	for {
		field, rest, more := v.Split(",")
		key, value, _ := field.Split("=")
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
