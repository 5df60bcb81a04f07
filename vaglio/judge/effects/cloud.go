package effects

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/databasefiles"
	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/effects/servers"
	"github.com/metnos/vaglio/vaglio/judge/effects/urls"
	readings "github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wording"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

// local reports whether a cloud command talks to an emulator on this machine.
func (c *command) local() bool {
	v, _ := c.value("--endpoint-url", "--endpoint", "--url")
	return urls.Local(v.text) || c.name == "awslocal" ||
		slices.ContainsFunc(c.assigns, func(a assignment) bool { return strings.Contains(a.name, "ENDPOINT") && urls.Local(a.value.text) })
}

// verbOf looks a verb phrase up: "list-tags", "describeInstances", "apps:info".
func (r *reading) verbOf(phrase string) verb {
	t := r.judge.tables.verbs
	if v, ok := t[strings.ToLower(phrase)]; ok {
		return v
	}
	words := readings.Words(phrase)
	for i, w := range words {
		if v, ok := t[w]; ok && (!v.weak || i == len(words)-1) {
			return v
		}
		if w != "batch" && w != "admin" && w != "bulk" && !strings.Contains(phrase, ":") {
			break
		}
	}
	return verb{}
}

// byVerb judges a command line of nouns and a verb: the first operand from one place to another that is a verb decides.
func (c *command) byVerb(from, to int) []Effect {
	if len(c.operands) == 0 {
		return reads()
	}
	if slices.Contains([]string{"alpha", "beta", "preview"}, c.operands[0].text) {
		c.operands, c.Operands = c.operands[1:], c.Operands[1:]
	}
	what := c.name + " " + c.rest(0)
	v, ok := c.verbAmong(c.operands[min(from, len(c.operands)):min(to, len(c.operands))])
	if !ok {
		return unknown(say("does something with a service that is not known: %s", what), c.rest(0))
	}
	if c.local() && v.effect.Kind != KindRead {
		return own(say("changes an emulator on this machine: %s", what))
	}
	return c.verbEffect(v, what)
}

// verbAmong returns the verb among words: the first one, unless it may also be a noun, as config and backup, and a better one follows.
func (c *command) verbAmong(words []arg) (found verb, ok bool) {
	t := c.r.judge.tables
	word := ""
	for _, a := range words {
		v := c.r.verbOf(a.text)
		if v.effect.Kind == "" || v.weak && ok {
			continue
		}
		if !ok || found.weak || t.Nouns["cloud-thing"][word] || v.effect.Kind != KindRead {
			found, ok = v, true
			word, _, _ = strings.Cut(a.text, "-") // of a snapshot-location, too
		}
		if !found.weak && !t.Nouns["cloud-noun"][word] && !t.Nouns["cloud-thing"][word] {
			break
		}
	}
	return found, ok
}

// spoken says what the command does by its nouns and its verb, nil if they do not tell.
func (c *command) spoken() wording.Sentence {
	return spoken.Subcommand(texts(c.operands), texts(c.all), readings.Words)
}

func (c *command) verbEffect(v verb, what string) []Effect {
	e := v.effect
	if e.Kind == KindRead {
		for _, a := range c.operands {
			w := readings.Words(a.text)
			if len(w) > 0 && c.r.judge.tables.Nouns["secret"][w[0]] && !strings.HasSuffix(a.text, "s") {
				e = usual(KindCredentials).with(say("reads secrets: %s", what), c.rest(0))
				e.Sure = 0.7
				return []Effect{e}
			}
		}
		return reads()
	}
	if v.light {
		e = usual(KindInfrastructure)
	}
	e = e.atLeastShared()
	if slices.Contains([]Kind{KindCreate, KindOverwrite, KindMove, KindSend, KindPeople, KindPublish, KindInstall}, e.Kind) {
		e.Kind = KindInfrastructure
	}
	e.Target = c.rest(0)
	if e.Why = c.spoken(); e.Why == nil && e.Kind == KindDelete {
		e.Why = say("deletes a resource: %s", c.name+" "+join(c.all))
	} else if e.Why == nil {
		e.Why = plainly(e.Kind, what)
	}
	return []Effect{e}
}

// stored judges a write to object storage.
func stored(c *command) []Effect {
	verb, ops := c.operand(c.took-1), c.operands[c.took:]
	out := shared(KindSend, say("writes to shared storage: %s %s", verb, join(ops)), join(ops))
	if n := len(ops) - 1; n > 0 {
		does := map[bool]wording.Phrase{true: "moves %s to %s", false: "copies %s to %s"}[verb == "mv"]
		out[0].Why = say(does, join(ops[:n]), ops[n].text)
		if c.has("--delete", "-d", "--delete-unmatched-destination-objects") {
			out = append(out, usual(KindDelete).with(say("deletes what %s has besides", ops[n].text), join(ops)).as(Irreversible, ReachShared))
		}
	}
	return out
}

// dockerRun judges starting a container by the folders that it gets. The container's command is judged separately.
func dockerRun(c *command) []Effect {
	out := lists.All(append(c.values("-v", "--volume"), c.values("--mount")...), func(v arg) []Effect { return c.mounted(v.text) })
	name, _ := c.value("--name")
	c.publishes(c.container(), false, name.text)
	return append(out, own(say("starts a container"))...)
}

// container returns what docker run makes.
func (c *command) container() *servers.Container {
	network := strings.Join(texts(c.values("--network", "--net")), " ")
	box := servers.Container{Image: c.operand(c.took), Ports: texts(c.values("-p", "--publish")), Mounts: texts(c.values("-v", "--volume", "--mount"))}
	box.Bent = c.has("--entrypoint", "--volumes-from", "-P", "--publish-all") || network == "host" || startsAny(network, "container:", "ns:")
	if at := c.took + 1; at < len(c.operands) {
		box.Command = texts(c.operands[at:])
	}
	return &box
}

// publishes records the ports at which a container serves a database that is new with it, and those at which
// it serves anything else. The container may have a name. A port that something uses already is not the container's. If that cannot be seen, it may
// be, where a server of the person's own would be: at the port that is usual.
func (c *command) publishes(box *servers.Container, kept bool, name string) {
	if !c.direct() || c.remoteEngine() != "" {
		return
	}
	fresh := (!kept || box.Emptied) && !c.steered() && box.New(func(image string) bool { return c.r.judge.tables.ofClass("database-image", image) })
	list, all := box.Published()
	for _, at := range list {
		switch {
		case fresh && c.isFree(at):
			c.r.did = append(c.r.did, vaglio.Fact{Deed: vaglio.Opened, Words: []string{at.Port, servers.InBox + name}})
		case !fresh || !c.r.facts.Opens(at.Port): // it runs already
			c.r.did = append(c.r.did, vaglio.Fact{Deed: vaglio.Taken, Words: []string{at.Port}})
		}
	}
	if !all {
		c.r.did = append(c.r.did, vaglio.Fact{Deed: vaglio.Taken})
	}
}

// isFree reports whether nothing has had a port before a container publishes it.
func (c *command) isFree(at servers.Published) bool {
	free, known := c.r.running.Free(at.Port)
	return free || !known && at.Port != at.Inside
}

// steered reports whether the session may have set a variable that leads an engine of containers to another machine, or one with another given beginning.
func (c *command) steered(also ...string) bool {
	also = append(also, "DOCKER_", "CONTAINER", "PODMAN_", "HOME", "XDG_")
	leads := func(name string) bool { return name == shell.AnyVariable || startsAny(name, also...) }
	return slices.ContainsFunc(slices.Collect(maps.Keys(c.environment())), leads)
}

// serves records what the containers of a compose file publish. Those of a project may be there already, with what they hold: only a single file that the
// session wrote, of a project that no other file describes, has none from before.
func (c *command) serves() {
	files, kept := c.composeFiles()
	for _, name := range files {
		text, _ := c.content(name)
		boxes, named, _, all := servers.InCompose(text)
		for i := range boxes {
			c.publishes(&boxes[i], kept || named || !c.wroteAll(name), "")
		}
		if !all && c.direct() {
			c.r.did = append(c.r.did, vaglio.Fact{Deed: vaglio.Taken})
		}
	}
}

// mounted returns the effect of giving a container a folder of the host.
func (c *command) mounted(mount string) []Effect {
	m, _ := shell.MountOf(shell.Text(mount))
	host, _ := m.Host.Text()
	if host == "" || !strings.Contains("/~$.", host[:1]) {
		return nil // a volume
	}
	switch p := c.r.world.placeOf(literal(host), c.cwd); {
	case engineSocket(host):
		return one(KindPrivilege, say("gives a container control of the container engine"), host)
	case p == placeSecret, p == placeControl:
		return one(KindCredentials, say("gives a container the secrets in %s", host), host)
	case m.ReadOnly, p == placeWorkspace, p == placeTemp, p == placeNowhere:
		return nil
	}
	return []Effect{usual(KindPrivilege).with(say("gives a container the folder %s of the host", host), host).as(Partial, ReachUser)}
}

// kubeExec judges opening a session in a cluster. A command given to it is judged separately.
func kubeExec(c *command) []Effect {
	at, shells := slices.IndexFunc(c.all, func(a arg) bool { return a.text == "--" }), []string{"sh", "bash", "zsh", "ash", "dash", "fish", "ksh"}
	if c.Wrapper && at >= 0 && (at+2 < len(c.all) || at+1 < len(c.all) && !slices.Contains(shells, lastPart(c.all[at+1].text))) {
		return reads()
	}
	return shared(KindForeignCode, say("opens a session in the cluster: %s", c.rest(1)), c.rest(1))
}

// composeRule judges docker compose as the program docker-compose.
func composeRule(c *command) []Effect {
	inner := *c.invocation
	inner.name = "docker-compose"
	if i := slices.IndexFunc(c.all, func(a arg) bool { return a.text == "compose" }); i >= 0 {
		inner.args = c.all[i+1:]
	}
	return c.r.named(&inner)
}

// elsewhere raises the effects of a container command if the engine is on another machine, or if the containers belong to a live system.
func (c *command) elsewhere(name string, out []Effect) []Effect {
	t, where, at := c.r.judge.tables, wording.Phrase("on a live system (%s)"), ""
	switch engine := c.remoteEngine(); {
	case t.ofClass("cluster-client", name):
		return c.localCluster(out)
	case !t.ofClass("container-engine", name):
		return out
	case engine != "":
		where, at = "on the engine %s", engine
	case !t.ofClass("running-verb", c.operand(0)) && !t.ofClass("running-verb", c.operand(1)), !c.production():
		return out
	default:
		at = c.pointer()
	}
	for i := range out {
		if e := &out[i]; e.Kind != KindRead && (e.Reach == ReachWorkspace || e.Reach == ReachUser) {
			was := e.Reversibility
			if *e = usual(KindInfrastructure).with(e.Why.And(where, at), c.rest(0)); was == Irreversible {
				e.Reversibility = was
			}
		}
	}
	return out
}

// localCluster lowers the effects of a cluster command that names a disposable cluster on this machine.
func (c *command) localCluster(out []Effect) []Effect {
	context, ok := c.value("--context", "--kube-context", "--kubecontext")
	if !ok && c.operand(0) == "config" && slices.Contains([]string{"use-context", "use"}, c.operand(1)) {
		context = literal(c.operand(2))
	}
	if !context.known || !c.r.judge.tables.localContext(context.text) || c.has("-s", "--server", "--kubeconfig", "--kube-apiserver") {
		return out
	}
	for i := range out {
		if e := &out[i]; e.Kind == KindInfrastructure || e.Kind == KindDelete && e.Reach == ReachShared || e.Kind == KindOverwrite {
			*e = own(e.Why.And("in a local test cluster"))[0]
		}
	}
	return out
}

// remoteEngine returns the name of the engine that a container command talks to if that is on another machine, or "".
func (c *command) remoteEngine() string {
	named := c.values("-H", "--host", "--context", "--url", "--connection")
	if c.name == "docker-compose" {
		named = nil
	}
	named = append(named, c.variables("DOCKER_HOST", "DOCKER_CONTEXT", "CONTAINER_HOST")...)
	far := slices.DeleteFunc(texts(named), func(at string) bool {
		return slices.Contains([]string{"", "default", "desktop-linux", "rootless", "colima", "orbstack"}, at) ||
			startsAny(at, "unix://", "npipe://") || urls.Local(at)
	})
	return strings.Join(far[:min(1, len(far))], "")
}

// serverInBox reports whether the client is all that runs in a container that is there already, and no word names a server: it is the one in the container.
func (c *command) serverInBox() bool {
	n := len(c.Via)
	return c.box != "" && !c.pod && !c.supplied && n > 0 && strings.HasSuffix(c.Via[n-1], " exec") && !liveName(strings.ToLower(c.box)) &&
		len(c.assigns) == 0 && len(c.values("-h", "--host")) == 0 &&
		!slices.ContainsFunc(c.all, func(a arg) bool { return !a.known || holdsAny(a.text, "://", "host", "service=") })
}

// opened judges what a tool for containers opens of this machine to one, as options of the engine's own program would.
func (t *tool) opened() {
	engine := cmp.Or(t.server, append(slices.Clip(t.words), "")[0])
	if !t.r.judge.tables.ofClass("container-engine", engine) {
		return
	}
	options := servers.Opening(t.args)
	if len(options) == 0 {
		return
	}
	if len(options) > maxCommands {
		t.r.add(unknown(say("names more than is read"), engine)...)
		return
	}
	defer t.r.certain(len(t.r.effects))
	image, _ := t.text("image", "Image", "image_name")
	t.r.script(readings.ReadArgv(slices.Concat([]string{engine, "run"}, options, []string{cmp.Or(image, "image")}), t.r.shellOptions()))
}

// fileDatabase reports whether the command's words or variables, or what the project sets for its program, say that its database is a file of the workspace.
func (c *command) fileDatabase() bool {
	driver := slices.IndexFunc(c.args, func(a arg) bool { return c.r.judge.tables.ofClass("database-in-file", a.text) })
	if file := driver + 1; driver >= 0 && file < len(c.args) && c.args[file].known {
		return c.r.world.inside(c.r.world.clean(c.args[file].text, c.cwd))
	}
	return c.setsFileDatabase() || slices.ContainsFunc(c.assigns, func(a assignment) bool {
		scheme, file, is := strings.Cut(a.value.text, ":")
		if !is { // the database of a program that takes what is no address for a file
			scheme, file = "file", scheme
		}
		return a.value.known && strings.HasSuffix(a.name, "DATABASE_URL") && (scheme == "file" || scheme == "sqlite" || scheme == "sqlite3") &&
			!strings.ContainsAny(file, "?@") && c.r.world.inside(c.r.world.clean(strings.TrimPrefix(file, "///"), c.cwd))
	})
}

// setsFileDatabase reports whether the settings of the project for a program name no other database than files below them.
func (c *command) setsFileDatabase() bool {
	if c.has("--knexfile", "--config", "--client", "--connection", "--url", "--cwd", "--dialect", "--schema") {
		return false
	}
	if c.name == "prisma" {
		file, ok := databasefiles.PrismaFile(c.content)
		return ok && c.r.world.inside(c.r.world.clean(file, c.cwd))
	}
	found, elsewhere := false, func(kind string) bool { return !c.r.judge.tables.ofClass("database-in-file", kind) }
	for name := range c.r.judge.tables.Nouns["settings-of-"+c.name] {
		if text, ok := c.content(name); ok {
			kinds, here := databasefiles.Kinds(text)
			if found = here && !slices.ContainsFunc(kinds, elsewhere); !found {
				return false
			}
		}
	}
	return found
}

// ofFileDatabase reports whether a program calls a client that is told of no database but one in a file of the workspace.
func (r *reading) ofFileDatabase(library string, v *invocation) bool {
	if library != "prisma" || v.File == "" || r.means.Files == nil {
		return false
	}
	text, ok := r.means.Files.Content(r.world.clean(v.File, v.cwd))
	w := *v
	w.name = library
	return ok && databasefiles.PlainPrisma(text) && (&command{invocation: &w, parsed: &parsed{}, r: r}).fileDatabase()
}

// changesKept reports whether a program runs a statement on a database in a file that is not the workspace's, or one of the session's on one that was
// there before the session.
func (r *reading) changesKept(v *invocation) bool {
	return !v.Guess && len(v.args) > 0 && slices.ContainsFunc(v.Call.Of, func(file string) bool {
		at := r.world.clean(file, v.cwd)
		afar := startsAny(file, "/", "~") && r.world.placeOf(literal(at), v.cwd) != placeTemp && !r.world.inside(at)
		return afar || v.Own && file != "" && r.means.Present != nil && r.means.Present(at) && !r.made(v, at)
	})
}

// movesOn reports whether a line of a client opens another database, or connects to another server.
func (r *reading) movesOn(line string, words []arg) bool {
	connects := r.judge.tables.ofClass("connects", words[0].text) && (len(words) > 3 || strings.ContainsAny(line, "=:"))
	return len(words) > 1 && (connects || r.judge.tables.ofClass("opens", words[0].text))
}

// opens notes that a client went on to the database in a file: the statements after it are about that one, whatever became of the one before.
func (r *reading) opens(file string) {
	if file != spoken.Memory {
		r.database.opened, r.database.here, r.database.fixed = file, "", false
	}
}

// isOfPages reports whether a function belongs to a client for pages, or for what runs on this machine.
func (t *tables) isOfPages(library, name string) bool {
	return strings.Contains(name, "(localhost)") || t.ofClass("client-of-pages", library)
}
