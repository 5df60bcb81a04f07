package about

import "strings"

// formsByName returns the forms of programs whose words are known to name an object. For
// any other program every word counts, in order, and so does the directory.
func formsByName() map[string]*form {
	kube := &form{
		system: "kubernetes", verb: 1, anywhere: true, confirms: true, whole: true, read: (*line).kubernetes,
		facts: map[string][]string{
			"context": {"--context"}, "namespace": {"-n", "--namespace"}, "cluster": {"--cluster", "-s", "--server", "--kubeconfig"},
			"as": {"--user", "--as", "--as-group", "--token"},
		},
		drop: []string{"--wait", "--now", "-o", "--output", "--request-timeout", "--timeout", "-v", "--v", "--ignore-not-found", "-y", "--yes"},
	}
	terraform := &form{system: "terraform", verb: 1, anywhere: true, confirms: true, read: (*line).terraform, drop: []string{
		"-auto-approve", "--auto-approve", "-no-color", "-input", "-lock", "-lock-timeout", "-parallelism", "-compact-warnings", "-json",
	}}
	database := &form{system: "database", anywhere: true, read: (*line).database}
	request := &form{system: "http", anywhere: true, read: (*line).request}
	mail := &form{system: "mail", anywhere: true, read: (*line).mail}
	npm := &form{system: "npm", verb: 1, read: (*line).registry, facts: map[string][]string{
		"registry": {"--registry"}, "tag": {"--tag"}, "package": {"-w", "--workspace"}, "access": {"--access"},
	}, drop: []string{"--loglevel", "--otp", "--yes", "-y", "--no-git-checks", "--silent", "-s"}}
	forge := &form{
		system: "github", verb: 2, read: (*line).forge, facts: map[string][]string{"repository": {"-R", "--repo"}},
		drop: []string{"--yes", "-y", "--confirm"},
	}
	cloud := &form{verb: 2, anywhere: true, confirms: true, read: (*line).cloud, facts: map[string][]string{
		"profile": {"--profile", "--account", "--subscription"}, "region": {"--region", "--zone", "--location"}, "project": {"--project"},
		"endpoint": {"--endpoint-url"},
	}, drop: []string{
		"--output", "--quiet", "-q", "--no-progress", "--only-show-errors", "--no-paginate", "--no-cli-pager", "--color", "--format", "--yes", "-y",
	}}
	all := map[string]*form{
		"git": {
			system: "git", verb: 1, anywhere: true, confirms: true, whole: true, read: (*line).git,
			files: []string{"rm", "mv", "restore", "checkout", "clean", "worktree"},
		},
		"curl": request, "wget": request,
		"kill": {anywhere: true, read: (*line).kill},
		"systemctl": {
			system: "systemctl", verb: 1, anywhere: true, confirms: true, read: (*line).service, facts: map[string][]string{"on": {"-H", "--host"}},
			drop: []string{"--no-pager", "-q", "--quiet", "--no-block", "--no-ask-password"},
		},
		"aws": cloud, "gcloud": cloud, "az": cloud,
		"docker":  {verb: 1, anywhere: true, confirms: true, facts: map[string][]string{"context": {"-H", "--host", "-c", "--context"}}},
		"service": {read: (*line).service},
		"helm": {
			verb: 1, same: map[string]string{"delete": "uninstall", "del": "uninstall", "un": "uninstall"}, anywhere: true, confirms: true, facts: map[string][]string{"context": {"--kube-context"}, "namespace": {"-n", "--namespace"}},
			drop: []string{"--wait", "--timeout", "--debug", "-o", "--output"},
		},
	}
	for names, f := range map[string]*form{
		"kubectl oc k kubecolor": kube, "terraform tofu terragrunt tf": terraform, "mail mailx s-nail mutt": mail,
		"psql mysql mariadb mysqlsh sqlite3 duckdb cockroach": database, "npm pnpm yarn": npm, "gh": forge,
	} {
		for name := range strings.FieldsSeq(names) {
			all[name] = f
		}
	}
	return all
}
