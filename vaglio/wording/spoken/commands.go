package spoken

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/vaglio/wording"
)

// Pushed says what git pushes to a remote: the refs named behind it or, if there are none, all
// "branches" or "tags".
func Pushed(to string, force bool, all string) wording.Sentence {
	remote, refs, named := strings.Cut(to, " ")
	switch {
	case !named && force:
		return allPushed(to, map[string][2]wording.Phrase{
			"branches": {"force-pushes all branches to the remote", "force-pushes all branches to %s"},
			"tags":     {"force-pushes all tags to the remote", "force-pushes all tags to %s"},
			"":         {"force-pushes to the remote", "force-pushes to the remote %s"},
		}[all])
	case !named:
		return wording.Sentence{wording.Say("pushes to the remote %s", to)}
	case force:
		return wording.Sentence{{Phrase: "force-pushes %s to %s", Args: []wording.Clause{wording.List(strings.Fields(refs)), {Text: remote}}}}
	default:
		return wording.Sentence{{Phrase: "pushes %s to %s", Args: []wording.Clause{wording.List(strings.Fields(refs)), {Text: remote}}}}
	}
}

// allPushed says what is pushed to the usual remote, or to one that has a name.
func allPushed(remote string, said [2]wording.Phrase) wording.Sentence {
	if remote == "" {
		return wording.Sentence{{Phrase: said[0]}}
	}
	return wording.Sentence{wording.Say(said[1], remote)}
}

// PushedWith says that all branches are pushed, or which refs, if the call names any, together with tags: all, or those of
// the refs. all says of what all are pushed, "" if of nothing.
func PushedWith(to, all string) wording.Sentence {
	remote, refs, named := strings.Cut(to, " ")
	switch {
	case all == "branches":
		return allPushed(remote, [2]wording.Phrase{"pushes all branches to the remote", "pushes all branches to %s"})
	case all != "" && named:
		return wording.Sentence{wording.Say("pushes %s and all tags to %s", refs, remote)}
	case all != "":
		return allPushed(remote, [2]wording.Phrase{"pushes all tags to the remote", "pushes all tags to %s"})
	case named:
		return wording.Sentence{wording.Say("pushes %s and its tags to %s", refs, remote)}
	default:
		return wording.Sentence{wording.Say("pushes the branch and its tags to the remote %s", remote)}
	}
}

// Killed says which processes a call of an inline program stops: numbers are processes, and what
// PowerShell is given beside them are names.
func Killed(who []string, language, by string) wording.Sentence {
	number := func(s string) bool { _, err := strconv.Atoi(s); return err == nil }
	switch numbers := !slices.ContainsFunc(who, func(s string) bool { return !number(s) }); {
	case len(who) == 0:
		return wording.Sentence{wording.Say("stops processes by %s", by)}
	case len(who) == 1 && (numbers || language == "powershell" && strings.Contains(who[0], "$")):
		return wording.Sentence{wording.Say("stops the process %s", who[0])}
	case numbers:
		return wording.Sentence{{Phrase: "stops the processes %s", Args: []wording.Clause{wording.List(who)}}}
	case language == "powershell" && !slices.ContainsFunc(who, func(s string) bool { return number(s) || strings.Contains(s, "$") }):
		return wording.Sentence{{Phrase: "stops the processes named %s", Args: []wording.Clause{wording.List(who)}}}
	default:
		return wording.Sentence{wording.Say("stops %s by %s", strings.Join(who, " "), by)}
	}
}

// Rights says that a program is run with a user's rights, or with the administrator's.
func Rights(program, user string) wording.Sentence {
	if user == "" {
		return wording.Sentence{wording.Say(wording.AsAdministrator, program)}
	}
	return wording.Sentence{wording.Say(wording.AsUser, program, user)}
}

// Aim is how clients are told where, or as whom, they do what they do: by options or variables.
type Aim struct {
	// Client is the class of the clients.
	Client string
	// Keys are the options and variables; none if the folder says it in which the client works.
	Keys []string
	Said wording.Phrase
	// Of are the kinds of what is done so; empty for all.
	Of string
}

// Aims returns all of them, in the order in which they are said.
func Aims() []Aim { return aims }

var aims = []Aim{ //nolint:gochecknoglobals // Made once, never changed.
	{"forge-client", []string{"-R", "--repo"}, "in %s", ""},
	{"app-client", []string{"-a", "--app"}, "in the app %s", ""},
	{"site-client", []string{"-s", "--site"}, "of the site %s", ""},
	{"service-client", []string{"-s", "--service"}, "of the service %s", ""},
	{"scope-client", []string{"-S", "--scope", "-T", "--team"}, "in %s", ""},
	{"environment-client", []string{"-e", "--env", "--environment"}, "in the environment %s", ""},
	{"reference-client", []string{"--project-ref"}, "in the project %s", ""},
	{"subscription-client", []string{"--account-name"}, "in the account %s", ""},
	{"subscription-client", []string{"--subscription"}, "in the subscription %s", ""},
	{"cluster-client", []string{"--context", "--kube-context", "--kubecontext"}, "on %s", ""},
	{"cluster-client", []string{"--kubeconfig", "KUBECONFIG"}, "on the cluster of %s", ""},
	{"region-client", []string{"--region", "AWS_REGION", "AWS_DEFAULT_REGION", "CLOUDSDK_COMPUTE_REGION", "CLOUDSDK_RUN_REGION"}, "in %s", ""},
	{"project-client", []string{"--project", "CLOUDSDK_CORE_PROJECT"}, "in %s", ""},
	{"chdir-client", []string{"-chdir", "--chdir"}, "in %s", ""},
	{"folder-client", nil, "in %s", ""},
	{"profile-client", []string{"--profile", "AWS_PROFILE"}, "(profile: %s)", ""},
	{"compose-client", []string{"-p", "--project-name", "COMPOSE_PROJECT_NAME"}, "in the project %s", ""},
	{"client-of-postgres", []string{"-h", "--host", "PGHOSTADDR", "PGHOST"}, "on %s", "database privilege"},
	{"client-of-mysql", []string{"-h", "--host", "MYSQL_HOST"}, "on %s", "database privilege"},
	{"client-of-redis", []string{"-h"}, "on %s", "database"},
}

// says reports whether what is done of this kind is done where the aim says.
func (a *Aim) says(kind string) bool {
	return kind != "read" && (a.Of == "" || strings.Contains(a.Of, kind))
}

// At adds to what is done of a kind where, or as whom. What the sentence is about or names already is left out, as
// where it ends with a text; so is the server of a database if another one is said, and what -p publishes.
func (a *Aim) At(said wording.Sentence, kind, at string) wording.Sentence {
	if !a.says(kind) || len(said) == 0 || at == "" || a.Client == "compose-client" && strings.Contains(at, ":") || a.saidIn(said, at) {
		return said
	}
	return said.And(a.Said, at)
}

// saidIn reports whether a sentence says already where something is done, or has no place for it.
func (a *Aim) saidIn(said wording.Sentence, at string) bool {
	switch does := string(said[0].Phrase); {
	case strings.HasPrefix(does, "works "):
		return true
	case a.Said == "on %s":
		return saysServer(said)
	case strings.HasPrefix(string(a.Said), "on ") || a.Client == "profile-client":
		return false
	default:
		return strings.HasSuffix(does, ": %s") || strings.Contains(does, " repository") || strings.Contains(said.String(), at)
	}
}

// OnMachine adds the machine on which something is done to a database, unless a server is said.
func OnMachine(said wording.Sentence, name string) wording.Sentence {
	if name == "" || saysServer(said) {
		return said
	}
	return said.And("on %s", name)
}

// saysServer reports whether a sentence says on which machine or cluster something is done.
func saysServer(said []wording.Clause) bool {
	return slices.ContainsFunc(said, func(c wording.Clause) bool { return strings.HasSuffix(string(c.Phrase), "on %s") || saysServer(c.Args) })
}

// Ends names the sources in a sentence that only names the target of what is moved, copied, linked or
// downloaded.
func Ends(why wording.Sentence, names []string) wording.Sentence {
	told := map[wording.Phrase]wording.Phrase{
		"moves files to": "moves %s to %s", "copies files to": "copies %s to %s", "links files to": "links %s as %s", "downloads to": "downloads %s to %s",
	}
	if len(names) == 0 || len(names) > 3 || len(why) < 2 || told[why[0].Phrase] == "" {
		return why
	}
	return append(wording.Sentence{{Phrase: told[why[0].Phrase], Args: []wording.Clause{{Text: strings.Join(names, ", ")}, why[1]}}}, why[2:]...)
}

// OnServer adds only the server to what is done to a database as a whole.
func OnServer(said wording.Sentence, where wording.Clause) wording.Sentence {
	if where.Phrase == "%s on %s" {
		return append(said, wording.Clause{Phrase: "on %s", Args: where.Args[1:]})
	}
	return said
}

// Follows says whether an effect of these grades can be undone, and whom or what it affects: users of
// a database, if it is in one.
func Follows(reversibility, reach string, database bool) wording.Sentence {
	undone := map[string]wording.Phrase{"reversible": "; it can be undone,", "partial": "; it can be undone only in part,"}
	touched := map[string]wording.Phrase{
		"workspace": "and touches the workspace only", "user": "and touches more than the workspace",
		"system": "and touches the whole machine", "shared": "and others are affected",
	}
	said := cmp.Or(touched[reach], "and it leaves for the outside world")
	if database && touched[reach] == "" {
		said = "and everyone who uses it is affected"
	}
	return wording.Sentence{{Phrase: cmp.Or(undone[reversibility], "; it cannot be undone,")}, {Phrase: said}}
}

// Sent says what a call of an inline program sends where: the files whose content it is given or, if
// there are none, a request of this method, or data.
func Sent(function, method, address string, files []string) wording.Sentence {
	switch {
	case len(files) > 0 && address != "" && method != "DELETE":
		return wording.Sentence{{Phrase: "sends %s to %s", Args: []wording.Clause{wording.List(files), {Text: address}}}}
	case method != "" && address != "":
		return wording.Sentence{wording.Say("sends a %s request to %s", method, address)}
	case method != "":
		return wording.Sentence{wording.Say("sends a %s request", method)}
	case address == "":
		return wording.Sentence{wording.Say("sends data by %s", function)}
	default:
		return wording.Sentence{wording.Say("sends data to %s by %s", address, function)}
	}
}
