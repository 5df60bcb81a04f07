package effects

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/wording"
)

// dockerRun judges starting a container by the folders that it is given; its
// command is judged by itself.
func dockerRun(c *call) []Effect {
	var out []Effect
	for _, v := range append(c.values("-v", "--volume"), c.values("--mount")...) {
		out = append(out, c.mounted(v.text)...)
	}
	return append(out, own(say("starts a container"))...)
}

// mounted is the effect of giving a container a folder of the host.
func (c *call) mounted(mount string) []Effect {
	host, _, _ := strings.Cut(mount, ":")
	for part := range strings.SplitSeq(mount, ",") {
		if key, s, ok := strings.Cut(part, "="); ok && (key == "source" || key == "src") {
			host = s
		}
	}
	if host == "" || !strings.Contains("/~$.", host[:1]) {
		return nil // a named volume
	}
	switch p := c.r.world.placeOf(literal(host), c.cwd); {
	case strings.HasSuffix(host, "docker.sock"), strings.HasSuffix(host, "podman.sock"):
		return one(KindPrivilege, say("gives a container control of the container engine"), host)
	case p == placeSecret, p == placeControl:
		return one(KindCredentials, say("gives a container the secrets in %s", host), host)
	case strings.HasSuffix(mount, ":ro"), strings.Contains(mount, "readonly"), p == placeWorkspace, p == placeTemp, p == placeNowhere:
		return nil
	}
	return []Effect{usual(KindPrivilege).with(say("gives a container the folder %s of the host", host), host).as(Partial, ReachUser)}
}

// bulk reports whether a command works on whatever another one lists, and not
// only on what this call started itself.
func (c *call) bulk() bool {
	return (c.r.listed || !c.r.started) && slices.ContainsFunc(c.operands, func(a arg) bool { return !a.known && len(a.from) > 0 })
}

// kubeExec judges opening a session in a cluster; a command that is given along
// is judged by itself.
func kubeExec(c *call) []Effect {
	at := slices.IndexFunc(c.all, func(a arg) bool { return a.text == "--" })
	if c.wrapper && at >= 0 && (at+2 < len(c.all) || at+1 < len(c.all) && !shellName(c.all[at+1].text)) {
		return reads()
	}
	return shared(KindForeignCode, say("opens a session in the cluster: %s", c.rest(1)), c.rest(1))
}

func shellName(s string) bool {
	return slices.Contains([]string{"sh", "bash", "zsh", "ash", "dash", "fish", "ksh"}, lastPart(s))
}

// composeRule judges docker compose as the program that it once was.
func composeRule(c *call) []Effect {
	inner := *c.invocation
	inner.name = "docker-compose"
	for i, a := range c.all {
		if a.text == "compose" {
			inner.args = c.all[i+1:]
			break
		}
	}
	return c.r.named(&inner)
}

// elsewhere raises what a container command does when the engine is that of
// another machine, or when the containers are those of a live system.
func (c *call) elsewhere(name string, out []Effect) []Effect {
	switch name {
	case "docker", "podman", "nerdctl", "docker-compose", "podman-compose":
	case "kubectl", "helm", "k", "oc", "kubectx", "stern", "helmfile", "flux", "argocd", "istioctl":
		return c.localCluster(out)
	default:
		return out
	}
	where := wording.Phrase("on a live system: %s")
	switch {
	case c.remoteEngine():
		where = "on the engine of another machine: %s"
	case !c.r.judge.tables.ofClass("running-verb", c.operand(0)) && !c.r.judge.tables.ofClass("running-verb", c.operand(1)), !c.production():
		return out
	}
	for i := range out {
		if e := &out[i]; e.Kind != KindRead && (e.Reach == ReachWorkspace || e.Reach == ReachUser) {
			*e = usual(KindInfrastructure).with(e.Why.And(where, join(c.all)), c.rest(0))
		}
	}
	return out
}

// localCluster lowers what a cluster command does when it names a cluster of
// this machine that was made to be thrown away.
func (c *call) localCluster(out []Effect) []Effect {
	context, ok := c.value("--context", "--kube-context", "--kubecontext")
	if !ok && c.operand(0) == "config" && slices.Contains([]string{"use-context", "use"}, c.operand(1)) {
		context = literal(c.operand(2))
	}
	if !context.known || !localContext(context.text) || c.has("-s", "--server", "--kubeconfig", "--kube-apiserver") {
		return out
	}
	for i := range out {
		if e := &out[i]; e.Kind == KindInfrastructure || e.Kind == KindDelete && e.Reach == ReachShared || e.Kind == KindOverwrite {
			*e = own(e.Why.And("in a local test cluster"))[0]
		}
	}
	return out
}

func localContext(s string) bool {
	return slices.Contains([]string{"minikube", "docker-desktop", "docker-for-desktop", "rancher-desktop", "orbstack", "colima"}, s) ||
		strings.HasPrefix(s, "kind-") || strings.HasPrefix(s, "k3d-")
}

// remoteEngine reports whether a container command talks to an engine that is
// not this machine's.
func (c *call) remoteEngine() bool {
	far := func(s string) bool {
		return !slices.Contains([]string{"", "default", "desktop-linux", "rootless", "colima", "orbstack"}, s) &&
			!strings.HasPrefix(s, "unix://") && !strings.HasPrefix(s, "npipe://") && !localURL(s)
	}
	if v, ok := c.value("-H", "--host", "--context", "--url", "--connection"); ok && far(v.text) && c.name != "docker-compose" {
		return true
	}
	return slices.ContainsFunc(c.assigns, func(a assignment) bool {
		return slices.Contains([]string{"DOCKER_HOST", "DOCKER_CONTEXT", "CONTAINER_HOST"}, a.name) && far(a.value.text)
	})
}
