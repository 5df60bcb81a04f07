package effects

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/catalog"
)

// tool is a proposal's executor as its name and arguments read.
type tool struct {
	r      *reading
	name   string   // without the prefixes of its server
	server string   // the server's name, "" if there is none
	words  []string // of the name, lower case
	args   vaglio.Args
	caps   []string
	known  catalog.Executor // what the catalog knows, empty if it is not listed
}

// executor reads a proposal.
func (r *reading) executor(p vaglio.Proposal) {
	t := &tool{r: r, args: p.Args, caps: p.Context.Capability}
	if p.Context.Known != nil {
		t.known = *p.Context.Known
	}
	t.name, t.server = splitName(p.Executor)
	t.words = taskWords(t.name)
	for _, read := range []func() bool{t.carriedLine, t.shell, t.editor, t.sql, t.code, t.commandLine, t.file, t.request, t.browser} {
		if read() {
			return
		}
	}
	r.add(t.hinted(t.byName())...)
}

// splitName takes the server's name off a tool's name: "mcp__git__git_log",
// "git.log", "server/tool".
func splitName(s string) (name, server string) {
	if rest, ok := strings.CutPrefix(s, "mcp__"); ok {
		if server, name, ok = strings.Cut(rest, "__"); ok {
			return name, strings.ToLower(server)
		}
		return rest, ""
	}
	for _, sep := range []string{"__", "/", ".", "::", ":"} {
		if i := strings.LastIndex(s, sep); i > 0 && i+len(sep) < len(s) {
			return s[i+len(sep):], strings.ToLower(s[:i])
		}
	}
	return s, ""
}

// has reports whether the name has one of the words.
func (t *tool) has(words ...string) bool {
	for _, w := range words {
		if slices.Contains(t.words, w) {
			return true
		}
	}
	return false
}

func (t *tool) hasServer(words ...string) bool {
	for _, w := range words {
		if strings.Contains(t.server, w) {
			return true
		}
	}
	return false
}

// text returns the first of the arguments that is a text.
func (t *tool) text(keys ...string) (string, bool) {
	for _, k := range keys {
		if s, ok := t.args[k].(string); ok && s != "" {
			return s, true
		}
	}
	return "", false
}

// list returns the first of the arguments that is a text or a list of texts.
func (t *tool) list(keys ...string) []string {
	for _, k := range keys {
		switch v := t.args[k].(type) {
		case string:
			if v != "" {
				return []string{v}
			}
		case []any:
			var out []string
			if len(v) > maxCommands {
				t.r.add(usual(KindUnknown).with("names more than is read", k))
				v = v[:maxCommands]
			}
			for _, e := range v {
				switch e := e.(type) {
				case string:
					out = append(out, e)
				case map[string]any:
					for _, k := range []string{"path", "file_path", "name"} {
						if s, ok := e[k].(string); ok {
							out = append(out, s)
						}
					}
				}
			}
			if len(out) > 0 {
				return out
			}
		}
	}
	return nil
}

// is reports whether one of the arguments is true.
func (t *tool) is(keys ...string) bool {
	for _, k := range keys {
		switch v := t.args[k].(type) {
		case bool:
			if v {
				return true
			}
		case string:
			if v == "true" || v == "yes" {
				return true
			}
		}
	}
	return false
}

// dryRun reports whether the arguments say that nothing is to be changed.
func (t *tool) dryRun() bool {
	if t.is("dry_run", "dryRun", "dryrun", "dry-run", "preview", "simulate", "validate_only", "validateOnly", "check_only", "checkOnly", "noop", "whatIf", "what_if", "plan_only", "planOnly") {
		return true
	}
	mode, _ := t.text("mode")
	switch strings.ToLower(mode) {
	case "preview", "dry-run", "dry_run", "dryrun", "plan", "simulate", "validate":
		return true
	}
	return false
}

// carriedLine reads executors that take the command line of one program, such
// as call_aws with cli_command.
func (t *tool) carriedLine() bool {
	for _, k := range []string{"cli_command", "cliCommand", "aws_command", "gcloud_command", "az_command", "kubectl_command", "gh_command", "git_command", "docker_command", "terraform_command", "helm_command"} {
		s, ok := t.args[k].(string)
		if !ok || strings.TrimSpace(s) == "" {
			continue
		}
		program := strings.TrimSuffix(k, "_command")
		if first, _, _ := strings.Cut(strings.TrimSpace(s), " "); !strings.HasPrefix(k, "cli") && first != program {
			s = program + " " + s
		}
		t.r.shellText(s)
		return true
	}
	return false
}

// mentions reports whether the arguments, as JSON, hold one of the texts.
func (t *tool) mentions(texts ...string) bool {
	data, err := json.Marshal(t.args)
	for _, s := range texts {
		if err != nil || strings.Contains(string(data), s) {
			return true
		}
	}
	return false
}

// shell reads executors that run command lines.
func (t *tool) shell() bool {
	named := t.known.Shell || t.has("shell", "bash", "terminal", "zsh", "sh", "powershell", "exec", "command", "commands", "cmd", "subprocess", "console", "tmux", "process", "ssh") ||
		t.has("run", "execute") && len(t.words) <= 2 || t.hasServer("shell", "terminal", "bash", "ssh") || slices.ContainsFunc(t.caps, func(c string) bool { return c == "code:exec" || strings.HasPrefix(c, "shell") })
	if !named || t.has("editor", "sql", "query") {
		return false
	}
	for _, k := range []string{"command", "cmd", "commands", "script", "shell_command", "bash", "command_line", "commandLine", "argv", "input", "line"} {
		switch v := t.args[k].(type) {
		case string:
			t.shellLine(v)
			return true
		case []any:
			argv := t.list(k)
			if len(argv) != len(v) {
				continue
			}
			if k == "commands" {
				for _, s := range argv {
					t.shellLine(s)
				}
			} else {
				t.r.shellArgv(append(argv, t.list("args", "arguments")...))
			}
			return true
		}
	}
	return false
}

func (t *tool) shellLine(s string) {
	if host, ok := t.text("host", "hostname", "server", "remote"); ok && !localURL(host) {
		t.r.shellArgv([]string{"ssh", host, s})
		return
	}
	if box, ok := t.text("container", "container_id", "containerId"); ok {
		t.r.shellArgv([]string{"docker", "exec", box, "sh", "-c", s})
		return
	}
	if more := t.list("args", "arguments"); len(more) > 0 && !strings.Contains(s, " ") {
		t.r.shellArgv(append([]string{s}, more...))
		return
	}
	if dir, ok := t.text("cwd", "workdir", "working_directory", "workingDirectory", "work_dir", "dir", "directory"); ok {
		t.r.shellText("cd " + quote(dir) + " && " + s)
		return
	}
	t.r.shellText(s)
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// sql reads executors that run statements of a database.
func (t *tool) sql() bool {
	db := t.has("sql", "postgres", "postgresql", "mysql", "mariadb", "sqlite", "bigquery", "snowflake", "redshift", "clickhouse", "duckdb", "db", "database", "athena", "trino", "supabase", "mssql", "oracle", "databricks") ||
		t.hasServer("sql", "postgres", "sqlite", "bigquery", "snowflake", "redshift", "clickhouse", "duckdb", "database", "supabase", "neon", "motherduck")
	text, ok := t.text("sql", "query", "statement", "sql_query", "sqlQuery", "queries")
	if !ok && db {
		text, ok = t.text("command", "input", "code", "script")
	}
	if !ok || !db && !looksSQL(text) {
		return false
	}
	if !looksSQL(text) && t.has("search", "list", "describe", "tables", "schema", "find") {
		return false
	}
	where := "the database"
	if name, ok := t.text("database", "db", "connection", "dsn"); ok {
		where += " " + clip(name, 40)
	}
	t.r.add(t.r.sql(text, where)...)
	return true
}

func looksSQL(s string) bool {
	first, rest, _ := strings.Cut(strings.TrimSpace(s), " ")
	switch strings.ToUpper(first) {
	case "SELECT", "WITH", "EXPLAIN", "INSERT", "UPDATE", "DELETE", "DROP", "ALTER", "CREATE", "TRUNCATE", "GRANT", "REVOKE", "MERGE":
		return rest != "" && (strings.ContainsAny(s, "*=;(") || strings.Contains(strings.ToUpper(s), " FROM ") || strings.Contains(strings.ToUpper(s), "TABLE") || strings.Contains(strings.ToUpper(s), "INTO"))
	}
	return false
}

// code reads executors that run program text.
func (t *tool) code() bool {
	if !t.has("python", "code", "interpreter", "node", "javascript", "js", "ruby", "repl", "notebook", "jupyter", "eval", "ipython", "sandbox", "program", "cell", "snippet", "perl", "php") {
		return false
	}
	if t.has("read", "search", "list", "get", "review", "explain", "format", "lint", "analyze", "browser", "page") {
		return false
	}
	text, ok := t.text("code", "source", "python", "script", "program", "input", "javascript", "cell")
	if !ok {
		return false
	}
	interpreter := "python3"
	lang, _ := t.text("language", "lang", "runtime", "kernel")
	switch all := strings.ToLower(lang + " " + strings.Join(t.words, " ")); {
	case strings.Contains(all, "bash"), strings.Contains(all, "shell"):
		t.r.shellText(text)
		return true
	case strings.Contains(all, "node"), strings.Contains(all, "js"), strings.Contains(all, "javascript"), strings.Contains(all, "typescript"):
		interpreter = "node"
	case strings.Contains(all, "ruby"):
		interpreter = "ruby"
	case strings.Contains(all, "perl"):
		interpreter = "perl"
	case strings.Contains(all, "php"):
		interpreter = "php"
	}
	flag := "-c"
	if interpreter != "python3" {
		flag = "-e"
	}
	if interpreter == "php" {
		flag = "-r"
	}
	t.r.shellArgv([]string{interpreter, flag, text})
	return true
}

// commandLine reads executors that are named like a program of the tables and
// its subcommand: git_push, kubectl_scale, docker_ps.
func (t *tool) commandLine() bool {
	words := t.words
	if t.server == "git" && len(words) > 0 && words[0] != "git" {
		words = append([]string{"git"}, words...)
	}
	if len(words) < 2 {
		return false
	}
	switch words[0] {
	case "git", "kubectl", "docker", "podman", "terraform", "tofu", "pulumi", "helm", "aws", "gcloud", "npm", "pip", "cargo", "systemctl", "gh", "glab", "ansible", "heroku", "vercel", "brew", "apt":
	default:
		return false
	}
	argv := append([]string{words[0]}, t.subcommand(words)...)
	before := len(t.r.effects)
	t.r.shellArgv(argv)
	for _, e := range t.r.effects[before:] {
		if e.Kind == KindUnknown {
			t.r.effects = t.r.effects[:before]
			return false
		}
	}
	return true
}

// subcommand builds the words of a command line from a tool's arguments.
func (t *tool) subcommand(words []string) []string {
	sub := words[1:]
	if service, ok := t.text("service", "service_name"); ok && words[0] == "aws" {
		op, _ := t.text("operation", "action", "operation_name", "command", "api")
		sub = []string{strings.ToLower(service), strings.ReplaceAll(strings.Join(taskWords(op), "-"), "_", "-")}
	}
	if words[0] == "git" {
		sub = gitSubcommand(words[1:])
	}
	out := slices.Clone(sub)
	if t.is("force", "force_push", "forcePush") {
		out = append(out, "--force")
	}
	if mode, ok := t.text("mode"); ok && words[0] == "git" {
		out = append(out, "--"+strings.TrimLeft(mode, "-"))
	}
	if t.is("create", "create_branch", "new_branch") && words[0] == "git" && sub[0] == "checkout" {
		out = append(out, "-b")
	}
	if f, ok := t.text("output", "format"); ok && words[0] == "kubectl" {
		out = append(out, "-o", f)
	}
	for _, key := range []string{"remote", "branch", "branch_name", "branchName", "ref", "commit", "target", "resource", "resource_type", "resourceType", "kind", "name", "container", "image", "release", "package", "packages", "files", "paths", "revision", "stack", "args", "arguments"} {
		out = append(out, t.list(key)...)
	}
	return out
}

func gitSubcommand(words []string) []string {
	name := strings.Join(words, "-")
	switch name {
	case "create-branch", "branch-create", "new-branch":
		return []string{"branch"}
	case "delete-branch", "branch-delete":
		return []string{"branch", "-D"}
	case "diff-staged", "diff-unstaged", "diff-cached":
		return []string{"diff"}
	case "list-branches", "branches", "branch-list":
		return []string{"branch", "--list"}
	case "set-working-dir", "clear-working-dir":
		return []string{"status"}
	case "create-tag":
		return []string{"tag"}
	}
	if len(words) > 1 && (words[1] == "changes" || words[1] == "files" || words[1] == "file" || words[1] == "all" || words[1] == "commit" && words[0] != "commit") {
		return words[:1]
	}
	return []string{name}
}
