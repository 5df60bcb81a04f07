package effects

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio"
)

// Key returns a canonical text of what a proposal would do to what, the same
// for every spelling of the same effects, and whether all of it is known. Two
// calls with an equal key are equivalent; a call of which something is not
// known has no key, for it equals nothing.
func (j *Judge) Key(p vaglio.Proposal) (string, bool) {
	r := j.Read(p)
	w := j.worldOf(p)
	var parts []string
	for _, e := range r.Effects {
		if e.Kind == KindRead || e.Reach == ReachWorkspace && e.Kind != KindDelete {
			continue
		}
		if e.Kind == KindUnknown || e.Target == "" || strings.Contains(e.Target, "$") {
			return "", false
		}
		parts = append(parts, string(e.Kind)+"\x00"+string(e.Reach)+"\x00"+canonicalTarget(e, w))
	}
	if len(parts) == 0 {
		return "", false
	}
	slices.Sort(parts)
	return strings.Join(slices.Compact(parts), "\n"), true
}

// canonicalTarget spells a path absolutely and orders the words of anything
// else.
func canonicalTarget(e Effect, w *world) string {
	far := e.Reach == ReachShared || e.Reach == ReachPublic
	if !far && slices.Contains([]Kind{KindDelete, KindOverwrite, KindCreate, KindMove, KindPermissions}, e.Kind) {
		if !strings.Contains(e.Target, " ") && !strings.Contains(e.Target, "://") && (strings.ContainsAny(e.Target, "./~") || w.inside(w.clean(e.Target, w.cwd))) {
			return w.clean(e.Target, w.cwd)
		}
	}
	words := strings.Fields(strings.ToLower(e.Target))
	if e.Kind == KindDelete && far { // kubectl delete pods/web
		words = strings.FieldsFunc(strings.ToLower(e.Target), func(r rune) bool { return r == ' ' || r == '/' })
		for i := range words {
			words[i] = resourceKind(words[i])
		}
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

// resourceKind is the full name of a kind of a cluster's resources.
func resourceKind(s string) string {
	switch s {
	case "po", "pods":
		return "pod"
	case "deploy", "deployments", "deployment.apps":
		return "deployment"
	case "svc", "services":
		return "service"
	case "ns", "namespaces":
		return "namespace"
	case "cm", "configmaps":
		return "configmap"
	case "sts", "statefulsets":
		return "statefulset"
	case "ds", "daemonsets":
		return "daemonset"
	case "rs", "replicasets":
		return "replicaset"
	case "ing", "ingresses":
		return "ingress"
	case "pvc", "persistentvolumeclaims":
		return "persistentvolumeclaim"
	case "pv", "persistentvolumes":
		return "persistentvolume"
	case "no", "nodes":
		return "node"
	case "sa", "serviceaccounts":
		return "serviceaccount"
	case "secrets", "jobs", "cronjobs", "roles", "releases", "instances":
		return s[:len(s)-1]
	}
	return s
}
