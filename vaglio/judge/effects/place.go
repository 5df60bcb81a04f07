package effects

import (
	"path"
	"strings"
)

// place says where a path lies, as far as that matters to its owner.
type place uint8

const (
	placeWorkspace place = iota
	placeTemp            // temporary files
	placeNowhere         // /dev/null and the like
	placeControl         // settings that run code or steer agents, hooks, CI
	placeSecret          // files that hold credentials
	placeHome            // the user's other files
	placeSystem          // everything else
	placeUnknown         // the path is not known
)

// world is where a call would run.
type world struct {
	home  string
	user  string
	cwd   string // the workspace's folder, "" if it is not known
	roots []string
}

// clean resolves a path as seen from the folder cwd.
func (w *world) clean(p, cwd string) string {
	p = strings.TrimPrefix(p, "file://")
	if p == "~" || strings.HasPrefix(p, "~/") {
		p = w.home + p[1:]
	}
	if rest, ok := strings.CutPrefix(p, "$HOME"); ok && (rest == "" || rest[0] == '/') {
		p = w.home + rest
	}
	for _, v := range []string{"$PWD", "$(pwd)", "$GITHUB_WORKSPACE", "$CI_PROJECT_DIR", "$PROJECT_ROOT", "$(git)"} {
		if rest, ok := strings.CutPrefix(p, v); ok && (rest == "" || rest[0] == '/') {
			p = w.cwd + rest
			if w.cwd == "" {
				p = "." + rest
			}
		}
	}
	if len(p) > 2 && p[1] == ':' && (p[2] == '\\' || p[2] == '/') {
		p = strings.ReplaceAll(p, "\\", "/")
	} else if !strings.HasPrefix(p, "/") && !strings.HasPrefix(p, "$") && cwd != "" {
		p = cwd + "/" + p
	}
	return path.Clean(p)
}

// placeOf says where a word that names a file lies.
func (w *world) placeOf(a arg, cwd string) place {
	p := w.clean(a.text, cwd)
	if temporary(a, p) {
		return placeTemp
	}
	switch {
	case a.text == "":
		return placeUnknown
	case strings.HasPrefix(p, "/dev/null"), strings.HasPrefix(p, "/dev/std"), strings.HasPrefix(p, "/dev/fd/"),
		p == "/dev/tty", p == "/dev/zero", p == "/dev/full", p == "/dev/random", p == "/dev/urandom", strings.HasPrefix(p, "/proc/self/fd/"), p == "NUL":
		return placeNowhere
	case secretFile(p):
		return placeSecret
	case controlFile(p, w.home):
		return placeControl
	case w.inside(p):
		return placeWorkspace
	case strings.HasPrefix(p, "$") && listing(a):
		return placeWorkspace
	case strings.HasPrefix(p, "$"):
		return placeUnknown
	case w.home != "" && (p == w.home || strings.HasPrefix(p, w.home+"/")),
		strings.HasPrefix(p, "/home/"), strings.HasPrefix(p, "/Users/"), strings.HasPrefix(p, "/root"):
		return placeHome
	case !path.IsAbs(p) && !strings.HasPrefix(p, "..") && w.cwd == "":
		return placeWorkspace
	}
	return placeSystem
}

// inside reports whether a clean path lies in the workspace.
func (w *world) inside(p string) bool {
	for _, r := range w.roots {
		if p == r || strings.HasPrefix(p, r+"/") {
			return true
		}
	}
	return !path.IsAbs(p) && !strings.HasPrefix(p, "..") && !strings.HasPrefix(p, "$") && !strings.HasPrefix(p, "~") && (len(p) < 2 || p[1] != ':')
}

// listing reports whether an unknown name comes only from commands that list
// names below the current folder.
func listing(a arg) bool {
	for _, f := range a.from {
		switch f {
		case "ls", "find", "fd", "git", "grep", "rg", "basename":
		default:
			return false
		}
	}
	return len(a.from) > 0 && len(a.names) == 0
}

func temporary(a arg, p string) bool {
	for _, f := range a.from {
		if f == "mktemp" && len(a.from) == 1 && len(a.names) == 0 {
			return true
		}
	}
	if len(a.names) == 1 && len(a.from) == 0 && strings.HasPrefix(p, "$"+a.names[0]) {
		switch strings.ToLower(strings.ReplaceAll(a.names[0], "_", "")) {
		case "tmp", "temp", "tmpdir", "tempdir", "tmpfile", "tempfile", "tmppath", "scratch", "tmpd", "tmpf":
			return true
		}
	}
	for _, t := range []string{"/tmp", "/var/tmp", "/private/tmp", "/dev/shm", "/run/user", "$TMPDIR", "$TMP", "$TEMP", "$RUNNER_TEMP", "$XDG_RUNTIME_DIR", "/var/folders"} {
		if rest, ok := strings.CutPrefix(p, t); ok && len(rest) > 1 && rest[0] == '/' {
			return true
		}
	}
	return false
}

// secretFile reports whether a file by its name holds credentials.
func secretFile(p string) bool {
	base := strings.ToLower(path.Base(p))
	lower := strings.ToLower(p)
	if strings.HasPrefix(base, ".env") || strings.HasSuffix(base, ".env") || strings.HasPrefix(base, "env.") && strings.Contains(base, "prod") {
		return !example(base) && base != ".envrc" && (base == ".env" || strings.HasSuffix(base, ".env") || strings.HasPrefix(base, ".env.") || strings.HasPrefix(base, ".env*") || strings.HasPrefix(base, "env."))
	}
	switch base {
	case ".netrc", "_netrc", ".pgpass", ".my.cnf", ".git-credentials", ".vault-token", ".htpasswd", "wallet.dat", "login data", "cookies.sqlite", "logins.json", "key4.db",
		"credentials", "credentials.json", "credentials.yml", "credentials.yaml", "credentials.toml", "credentials.csv", "credentials.db", "credentials.xml", "master.key", "shadow", "gshadow", "sudoers", ".pypirc", "kubeconfig",
		"hosts.yml", "terraform.rc", ".terraformrc", "credentials.tfrc.json", "auth.json", "secret.txt", "passwords.txt", "password.txt", "passwd.txt", "application_default_credentials.json",
		"client_secret.json", "service-account.json", "serviceaccount.json", "service_account.json", "token.json", "tokens.json", ".s3cfg", ".boto", "rclone.conf", "accesstokens.json", "recovery-codes.txt", "seed.txt", "mnemonic.txt", ".dockercfg", "keystore.jks":
		return base != "hosts.yml" || strings.Contains(lower, "/gh/")
	}
	if strings.HasPrefix(base, "id_") && !strings.Contains(base, ".pub") && (strings.HasPrefix(base, "id_rsa") || strings.HasPrefix(base, "id_ed25519") || strings.HasPrefix(base, "id_ecdsa") || strings.HasPrefix(base, "id_dsa")) {
		return true
	}
	name, ext, _ := strings.Cut(base, ".")
	if (name == "secrets" || name == "secret") && (ext == "yml" || ext == "yaml" || ext == "json" || ext == "toml" || ext == "txt" || ext == "ini" || ext == "env" || ext == "properties" || ext == "tfvars" || ext == "auto.tfvars") {
		return true
	}
	switch path.Ext(base) {
	case ".key", ".p12", ".pfx", ".kdbx", ".keystore", ".jks", ".ppk", ".asc", ".keychain", ".keychain-db", ".agekey":
		return path.Ext(base) != ".asc" || strings.Contains(base, "priv") || strings.Contains(base, "secret")
	case ".pem":
		return strings.Contains(base, "key") || strings.Contains(base, "priv") || strings.Contains(lower, ".ssh/") || strings.Contains(lower, "/secrets/")
	}
	for _, dir := range []string{"/.aws/credentials", "/.kube/config", "/.docker/config.json", "/.config/gcloud/", "/.azure/", "/.gnupg/private", "/.password-store/", "/run/secrets/", "/etc/ssl/private/", "/etc/kubernetes/pki/", "/.local/share/keyrings/", "/library/keychains/"} {
		if strings.Contains(lower, dir) {
			return true
		}
	}
	return strings.HasSuffix(lower, "/environ") && strings.HasPrefix(lower, "/proc/") ||
		strings.HasSuffix(lower, "/.npmrc") && strings.Count(lower, "/") <= 3
}

func example(base string) bool {
	for _, s := range []string{"example", "sample", "template", "dist", "default", "schema", "tpl", "mock", ".ts", ".js", ".d.", "-cmdrc"} {
		if strings.Contains(base, s) {
			return true
		}
	}
	return false
}

// controlFile reports whether writing a file changes what runs by itself, what
// an agent may do, or how programs of the user behave.
func controlFile(p, home string) bool {
	base := path.Base(p)
	for _, dir := range []string{
		"/.git/hooks/", "/.husky/", "/.ssh/", "/.gnupg/", "/.claude/settings", "/.claude/hooks/", "/.cursor/mcp", "/.cursor/hooks", "/.codex/", "/.gemini/settings",
		"/.github/workflows/", "/.gitlab-ci", "/.circleci/", "/.buildkite/", "/etc/cron", "/cron.d/", "/spool/cron", "/systemd/", "/LaunchAgents/", "/LaunchDaemons/", "/autostart/", "/init.d/", "/profile.d/", "/.config/fish/", "/sudoers",
	} {
		if strings.Contains(p, dir) || strings.HasPrefix(p, dir[1:]) {
			return true
		}
	}
	switch base {
	case ".gitlab-ci.yml", "Jenkinsfile", "azure-pipelines.yml", "bitbucket-pipelines.yml", ".travis.yml", ".drone.yml", ".mcp.json", "mcp.json", "claude_desktop_config.json", ".envrc", "authorized_keys", "known_hosts":
		return true
	case ".bashrc", ".zshrc", ".profile", ".bash_profile", ".zprofile", ".zshenv", ".bash_aliases", ".bash_login", ".bash_logout", ".vimrc", ".gitconfig", ".npmrc", ".tmux.conf", ".inputrc", ".xinitrc", ".xsession", ".pam_environment", "crontab", ".condarc", ".wgetrc", ".curlrc", ".bash_history", ".zsh_history":
		return home == "" || path.Dir(p) == home || base != ".npmrc"
	}
	return false
}
