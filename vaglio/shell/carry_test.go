package shell

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// carriers wraps rm -rf / in every way that runs it.
func carriers() map[string]string {
	return map[string]string{
		"Sudo": "sudo -u root -E A=b rm -rf /", "Doas": "doas -u x rm -rf /", "Env": "env -i A=b -u C rm -rf /", "EnvSplit": "env -S 'rm -rf' /",
		"EnvSplitLong": "env --split-string='rm -rf /'", "Nohup": "nohup rm -rf / &", "Nice": "nice -n 10 rm -rf /", "NiceOld": "nice -10 rm -rf /",
		"Ionice": "ionice -c 3 -n1 rm -rf /", "Chrt": "chrt -f 10 rm -rf /", "Taskset": "taskset -c 0 rm -rf /",
		"Timeout": "timeout -s KILL --foreground 5 rm -rf /", "TimeBuiltin": "time -p rm -rf /", "TimeProgram": "/usr/bin/time -f %e rm -rf /",
		"Stdbuf": "stdbuf -oL rm -rf /", "Setsid": "setsid -f rm -rf /", "Chroot": "chroot --userspec=a:b /mnt rm -rf /", "Unshare": "unshare --mount-proc=/proc -m rm -rf /",
		"Nsenter": "nsenter -t 1 -m rm -rf /", "Watch": "watch -n 1 rm -rf /", "WatchExec": "watch -x rm -rf /", "Xargs": "xargs rm -rf /",
		"XargsInput": "echo / | xargs rm -rf", "XargsReplace": "echo / | xargs -I% rm -rf %", "XargsNull": `printf '/\0' | xargs -0 -n1 rm -rf`,
		"XargsShell": "xargs -I{} sh -c 'rm -rf {}' <<< /", "Parallel": "parallel -j2 rm -rf {} ::: / a", "ParallelTail": "parallel rm -rf ::: /",
		"FindExec": `find / -exec rm -rf {} +`, "FindExecdir": `find / -execdir rm -rf {} \;`, "FindOk": `find / -ok rm -rf {} \;`, "FindWrapped": `find / -exec env rm -rf {} +`,
		"Busybox": "busybox rm -rf /", "Toybox": "toybox rm -rf /", "BusyboxSh": "busybox ash -c 'rm -rf /'", "Command": "command -p rm -rf /", "Builtin": "builtin command rm -rf /",
		"Exec": "exec -a innocent rm -rf /", "Eval": "eval rm -rf /", "EvalText": "eval 'rm -rf /'", "EvalTwice": `eval 'eval "rm -rf /"'`,
		"SourceProcess": "source <(echo rm -rf /)", "SourceString": ". /dev/stdin <<< 'rm -rf /'", "Trap": "trap 'rm -rf /' EXIT",
		"Sh": "sh -c 'rm -rf /'", "Clustered": "bash -lc 'rm -rf /'", "Errexit": "bash -xec 'rm -rf /'", "Options": "bash --norc -o pipefail -c 'rm -rf /'", "DoubleDash": "bash -c -- 'rm -rf /'",
		"Zsh": "zsh -c 'rm -rf /'", "Dash": "dash -c 'rm -rf /'", "Ksh": "ksh -c 'rm -rf /'", "Path": "/usr/local/bin/bash -c 'rm -rf /'", "ShellVariable": "$SHELL -c 'rm -rf /'",
		"Positional": `sh -c 'rm -rf "$1"' _ /`, "PositionalAll": `sh -c '"$@"' _ rm -rf /`, "HereDoc": "bash <<'E'\nrm -rf /\nE", "HereDocOpen": "bash <<E\nrm -rf /",
		"HereDocTabs": "sh <<-E\n\trm -rf /\n\tE", "HereString": "sh <<< 'rm -rf /'", "StdinFlag": "echo rm -rf / | bash --norc -s", "StdinDash": "printf 'rm -rf /' | sh -",
		"Pipe": "echo 'rm -rf /' | sh", "PipeSudo": "echo 'rm -rf /' | sudo bash", "PipeCat": "echo rm -rf / | cat | sh", "Printf": `printf '%s -rf %b' rm '\057' | sh`, "PrintfOctal": `printf '\162\155\040-rf\040/' | bash`,
		"PrintfHex": `printf '\x72\x6d\x20\x2d\x72\x66\x20\x2f' | sh`, "Base64": "echo cm0gLXJmIC8= | base64 -d | bash", "Base64String": "base64 -d <<< cm0gLXJmIC8= | bash", "Openssl": "echo cm0gLXJmIC8= | openssl enc -d -base64 | sh",
		"Xxd": "echo 726d202d7266202f | xxd -r -p | sh", "Rev": "echo '/ fr- mr' | rev | sh", "Tr": "tr 'n-za-m' 'a-z' <<< 'ez -es /' | bash", "TrClass": "echo 'RM -RF /' | tr '[:upper:]' '[:lower:]' | sh",

		"Substituted": `bash -c "$(echo cm0gLXJmIC8= | base64 -d)"`, "Variable": `C='rm -rf /'; eval "$C"`, "Which": `"$(which rm)" -rf /`, "SubstitutedName": "$(echo rm) -rf /",
		"WriteThenRun": "echo 'rm -rf /' > /tmp/a; bash /tmp/a", "WriteThenSource": "echo 'rm -rf /' > a; . ./a", "WriteThenExecute": "printf '#!/bin/sh\\nrm -rf /' > a; chmod +x a; ./a", "TeeThenRun": "echo rm -rf / | tee a >/dev/null; sh a",
		"CopyThenRun": "echo rm -rf / > a; cp a b; sh b", "BashEnv": "echo rm -rf / > /tmp/e; BASH_ENV=/tmp/e bash -c ls", "Descriptor": "exec {fd}<<<'rm -rf /'; read -u \"$fd\" c; eval \"$c\"", "DescriptorFile": "exec 5<<'E'\nrm -rf /\nE\nsource /dev/fd/5",
		"OutputProcess": "echo rm -rf / > >(sh)", "Alias": "alias w='rm -rf'; w /", "AliasOwn": "alias ls='rm -rf /'; ls", "Hash": "hash -p /bin/rm w; w -rf /", "Mapfile": "mapfile -C 'rm -rf /' -c 1 x <<< y",
		"Prompt": "PS4='$(rm -rf /)'; set -x", "Ssh": "ssh -p 22 -o A=b u@h rm -rf /", "SshText": "ssh h 'rm -rf /'", "SshStdin": "ssh h <<< 'rm -rf /'", "SshProxy": "ssh -o 'ProxyCommand=rm -rf /' h", "SshProxyGlued": "ssh -voProxyCommand='rm -rf /' h",
		"ScpHosts": "scp -o 'KnownHostsCommand=rm -rf /' a h:b", "Docker": "docker run --rm -v /:/mnt -e A=b alpine rm -rf /", "DockerExec": "docker exec -it -u root c rm -rf /", "DockerSh": "podman run alpine sh -c 'rm -rf /'", "Kubectl": "kubectl exec -n a -it p -c d -- rm -rf /",
		"Su": "su -c 'rm -rf /'", "SuLong": "su - root --command='rm -rf /'", "SuAfter": "su root -- -c 'rm -rf /'", "Runuser": "runuser -u x -- rm -rf /", "Pkexec": "pkexec --user root rm -rf /", "Script": "script -qc 'rm -rf /' /dev/null",
		"Flock": "flock -n /tmp/l rm -rf /", "FlockCode": "flock /tmp/l -c 'rm -rf /'", "Strace": "strace -f -o x rm -rf /", "SystemdRun": "systemd-run --user --unit a rm -rf /", "At": "echo 'rm -rf /' | at now", "AtString": "at now <<< 'rm -rf /'",
		"Crontab": "echo '* * * * * rm -rf /' | crontab -", "CrontabName": "crontab <<< '@daily rm -rf /'", "TmuxKeys": "tmux send-keys -t a 'rm -rf /' Enter", "TmuxNew": "tmux new-session -d 'rm -rf /'", "Screen": "screen -dm rm -rf /",
		"GitAlias": "git -c 'alias.w=!rm -rf /' w", "GitSsh": "git -c core.sshCommand='rm -rf /' fetch", "GitEnv": "GIT_SSH_COMMAND='rm -rf /' git fetch", "GitForeach": "git submodule foreach 'rm -rf /'", "GitBisect": "git bisect run rm -rf /",
		"GitRebase": "git rebase -x 'rm -rf /' main", "Pager": "PAGER='rm -rf /' man ls", "TarCommand": "tar xf a --to-command='rm -rf /'", "TarCheckpoint": "tar cf a --checkpoint=1 --checkpoint-action=exec='rm -rf /' b", "Rsync": "rsync -ae 'rm -rf /' a h:b",
		"SedExec": "sed '1e rm -rf /' f", "SedFlag": `echo a | sed 's/a/rm -rf \//e'`, "Socat": "socat TCP:h:1 EXEC:'rm -rf /'", "Vim": "vim -c '!rm -rf /' f",
		"ShadowedShell": "rm() { :; }; bash -c 'rm -rf /'", "ShadowedSudo": "rm() { :; }; sudo rm -rf /", "ShadowedXargs": "rm() { :; }; echo / | xargs rm -rf", "Exported": "export D=/; sh -c 'rm -rf $D'", "Unexported": "unset E; E=tmp; sh -c 'rm -rf /$E'",
		"Declared": "declare -x D=/; sh -c 'rm -rf $D'", "AllExported": "set -a; unset D; D=/; sh -c 'rm -rf $D'", "Prefixed": "D=/ sh -c 'rm -rf $D'", "Nested": `echo "$( (rm -rf /); echo)"`, "Unknown": "mystery --flag rm -rf /", "UnknownVariable": `$RUN rm -rf /`, "Deep": `sudo env A=b nice timeout 5 bash -c "sh -c 'nohup rm -rf /'"`,
	}
}

func TestReadCarriers(t *testing.T) {
	for name, src := range carriers() {
		t.Run(name, func(t *testing.T) {
			s := Read(src, testOptions())
			found := slices.ContainsFunc(s.Commands, func(c Command) bool {
				return c.Name == "rm" && !c.Wrapper && slices.ContainsFunc(c.Argv, func(w Word) bool { return w.Is("-rf") }) && c.Argv[len(c.Argv)-1].Is("/")
			})
			if name == "ParallelTail" || name == "Mapfile" || strings.HasPrefix(name, "Xargs") {
				found = found || slices.ContainsFunc(s.Commands, func(c Command) bool { return strings.HasPrefix(show(c), "rm -rf /") })
			}
			if !found {
				t.Errorf("Read(%q) = %q, %v, want rm -rf /", src, shown(s), s.Problems)
			}
		})
	}
}

// TestReadData checks that rm -rf / as mere text never becomes a command.
func TestReadData(t *testing.T) {
	for name, src := range map[string]string{
		"Echo": `echo "rm -rf /"`, "EchoWords": "echo rm -rf /", "Printf": `printf '%s\n' 'rm -rf /'`, "Grep": `grep -r "rm -rf /" .`, "Commit": `git commit -m "rm -rf /"`,
		"HereDoc": "cat > notes.md <<'E'\nrm -rf /\nE", "HereString": `grep x <<< "rm -rf /"`, "Comment": "ls # rm -rf /", "Assign": "x='rm -rf /'", "EchoPipe": "echo 'rm -rf /' | grep rm",
		"Encode": `base64 <<< "rm -rf /"`, "Sql": `sqlite3 t.db "select 'rm -rf /'"`, "Man": "man rm", "Jq": `jq -n '"rm -rf /"'`,
		"FunctionOnly": "f() { rm -rf /; }", "TestString": `[ "$x" = "rm -rf /" ]`, "Case": `case "$x" in "rm -rf /") echo no;; esac`, "GhBody": `gh issue create --body 'rm -rf /'`, "Tee": "tee notes <<< 'rm -rf /'",
		"Which": "which rm", "Logger": "logger rm -rf /",
	} {
		t.Run(name, func(t *testing.T) {
			s := Read(src, testOptions())
			for _, c := range s.Commands {
				if c.Name == "rm" {
					t.Errorf("Read(%q) runs %q", src, show(c))
				}
			}
			for _, p := range s.Problems {
				t.Errorf("Read(%q): unexpected problem %s: %s", src, p.Kind, p.Detail)
			}
		})
	}
}

func TestReadContext(t *testing.T) {
	find := func(t *testing.T, src, name string) Command {
		t.Helper()
		s := Read(src, testOptions())
		for _, c := range s.Commands {
			if c.Name == name && !c.Wrapper {
				return c
			}
		}
		t.Fatalf("Read(%q) does not run %s: %q", src, name, shown(s))
		return Command{}
	}
	if c := find(t, "sudo env A=b nice rm x", "rm"); !c.Privileged || strings.Join(c.Via, " ") != "sudo env nice" || len(c.Assigns) != 1 {
		t.Errorf("sudo env nice: %+v", c)
	}
	if c := find(t, "ssh u@h rm x", "rm"); c.Remote == nil || c.Remote.Kind != RemoteHost || c.Remote.Target.String() != "u@h" {
		t.Errorf("ssh: remote %+v", c.Remote)
	}
	c := find(t, "docker run -v /etc:/mnt --mount type=bind,src=/a,dst=/b --privileged alpine rm x", "rm")
	if c.Remote == nil || c.Remote.Kind != RemoteContainer || len(c.Remote.Mounts) != 2 || !c.Remote.HostAccess || c.Remote.Mounts[0].Host.String() != "/etc" {
		t.Errorf("docker: remote %+v", c.Remote)
	}
	if c := find(t, "kubectl exec p -- rm x", "rm"); c.Remote == nil || c.Remote.Kind != RemotePod {
		t.Errorf("kubectl: remote %+v", c.Remote)
	}
	if c := find(t, "chroot /mnt rm x", "rm"); c.Remote == nil || c.Remote.Kind != RemoteRoot || c.Remote.Target.String() != "/mnt" {
		t.Errorf("chroot: remote %+v", c.Remote)
	}
	for line, want := range map[string]string{
		"chroot /a chroot /b rm x":                                    "4 /a/b at /",
		"ssh h chroot /a rm x":                                        "1 /a at /",
		"kubectl exec p -- chroot /a rm x":                            "3 /a at /",
		"docker run -v /:/h i chroot /h rm x":                         "2 / at /",
		"docker run -v /s:/h i chroot /h/a rm x":                      "2 /s/a at /",
		"docker run -v /s:/h/d -v /t:/hd -v /u:/h/e i chroot /h rm x": "2 /s at /d /u at /e",
		"docker run -v /s:/h i chroot $R rm x":                        "2 /s at /",
	} {
		got := ""
		if c := find(t, line, "rm"); c.Remote != nil {
			got = strconv.Itoa(int(c.Remote.Kind))
			for _, m := range c.Remote.Mounts {
				got += " " + m.Host.String() + " at " + m.Inside.String()
			}
		}
		if got != want {
			t.Errorf("%s runs at %q, want %q", line, got, want)
		}
	}
	if c := find(t, "rm x &", "rm"); !c.Background {
		t.Error("background is not marked")
	}
	if c := find(t, "while a; do rm x; done", "rm"); !c.InLoop || !c.Conditional {
		t.Error("a loop is not marked")
	}
	if c := find(t, "a || rm x", "rm"); !c.Conditional {
		t.Error("|| is not marked")
	}
	if c := find(t, "cat f | wc", "wc"); c.Stdin.Kind != InputText || !c.Stdin.Piped || c.Stdin.Text.String() != "$(cat f)" {
		t.Errorf("pipe: stdin %+v", c.Stdin)
	}
	if c := find(t, "wc < f", "wc"); c.Stdin.Kind != InputFile || !c.Stdin.File.Is("f") {
		t.Errorf("file: stdin %+v", c.Stdin)
	}
	if c := find(t, "ls; rm x", "rm"); c.Span != (Span{4, 8}) {
		t.Errorf("span %+v, want {4 8}", c.Span)
	}
	if c := find(t, "ls; sh -c 'rm x'", "rm"); c.Span != (Span{4, 16}) {
		t.Errorf("carried span %+v, want {4 16}", c.Span)
	}
}

func TestReadProblems(t *testing.T) {
	for _, c := range []struct {
		name, src string
		want      ProblemKind
	}{
		{"Unparsable", "echo (", ProblemUnparsable},
		{"UnparsableLater", "ls\n)", ProblemUnparsable},
		{"UnparsableCarried", "sh -c 'if'", ProblemUnread},
		{"TooBig", strings.Repeat("x", MaxSource+1), ProblemTooBig},
		{"TooDeepParser", strings.Repeat("(", 200_000), ProblemTooDeep},
		{"TooDeepSubshell", strings.Repeat("( ", 150) + "ls" + strings.Repeat(")", 150), ProblemTooDeep},
		{"TooDeepSubstitution", strings.Repeat("echo $(", 200) + strings.Repeat(")", 200), ProblemTooDeep},
		{"TooCostly", "for a in " + strings.Repeat("x ", 1500) + "; do for b in " + strings.Repeat("y ", 1500) + "; do ls; done; done", ProblemTooCostly},
		{"LongLoop", "for a in " + strings.Repeat("x ", 3000) + "; do ls; done", ProblemTooBig},
		{"DoublingOften", "x=" + strings.Repeat("a", 1000) + strings.Repeat("; x=$x$x", 30), ProblemTooCostly},
		{"ForkBombFile", `echo "./f & ./f &" > f; chmod +x f && ./f`, ProblemForkBomb},
		{"ForkBombText", `x='sh -c "$x" & sh -c "$x"'; export x; sh -c "$x"`, ProblemForkBomb},
		{"ManyMounts", "docker run " + strings.Repeat("-v /a:/b ", 65) + "x rm /b", ProblemTooBig},
		{"BraceBomb", "echo " + strings.Repeat("{a,b}", 40), ProblemTooBig},
		{"NestedBraces", "echo " + strings.Repeat("{", 5000), ProblemTooBig},
		{"LongBraces", "echo {" + strings.Repeat("a,", 4000) + "}" + strings.Repeat("x", 900_000), ProblemTooCostly},
		{"LongWordOften", "for i in " + strings.Repeat("a ", 2000) + "; do echo " + strings.Repeat("x", 900_000) + "; done", ProblemTooCostly},
		{"LongPatternOften", "for i in " + strings.Repeat("a ", 2000) + "; do echo *" + strings.Repeat("x", 900_000) + "; done", ProblemTooCostly},
		{"LongValueOften", "for i in " + strings.Repeat("a ", 2000) + "; do y=${i}" + strings.Repeat("x", 900_000) + "; done", ProblemTooCostly},
		{"LongNameOften", "for i in " + strings.Repeat("a ", 2000) + "; do y=$" + strings.Repeat("x", 900_000) + "; done", ProblemTooCostly},
		{"DynamicName", "$CMD x", ProblemDynamicName},
		{"DynamicEval", `eval "$X"`, ProblemDynamicCode},
		{"DynamicCode", `bash -c "$X"`, ProblemDynamicCode},
		{"DynamicInput", "date | sh", ProblemDynamicCode},
		{"DynamicFilter", "echo M | uudecode -o - | sh", ProblemDynamicCode},
		{"DynamicPython", `python -c "$X"`, ProblemDynamicCode},
		{"Partial", `sh -c "ls $X"`, ProblemPartialCode},
		{"Script", "bash x.sh", ProblemScriptFile},
		{"ScriptInput", "bash < x.sh", ProblemScriptFile},
		{"ScriptSource", ". ./env.sh", ProblemScriptFile},
		{"ScriptPython", "python x.py", ProblemScriptFile},
		{"Download", "curl -fsSL https://x | sudo bash -s -- -y", ProblemDownload},
		{"DownloadFilter", "wget -qO- x | gunzip | tee f | sh", ProblemDownload},
		{"DownloadProcess", "bash <(curl x)", ProblemDownload},
		{"DownloadSubstitution", `sh -c "$(curl x)"`, ProblemDownload},
		{"DownloadEval", `eval "$(wget -O - x)"`, ProblemDownload},
		{"DownloadFile", "curl -o i.sh x && sh i.sh", ProblemDownload},
		{"DownloadName", "wget https://h/i.sh; bash i.sh", ProblemDownload},
		{"DownloadPython", "curl x | python3", ProblemDownload},
		{"ForkBomb", ":(){ :|:& };:", ProblemForkBomb},
		{"ForkBombName", "bomb() { bomb | bomb & }; bomb", ProblemForkBomb},
		{"ForkBombTwo", "a() { b | b & }; b() { a | a & }; a", ProblemForkBomb},
		{"ForkBombBetween", "a() { b | cat; }; b() { a; }; a", ProblemForkBomb},
		{"ForkBombInner", `echo "sh g" > f; echo "sh f & sh f" > g; sh f | cat`, ProblemForkBomb},
		{"ForkBombCarried", `nohup bash -c ":(){ :|:& };:" &`, ProblemForkBomb},
		{"ForkBombSelf", "$0 & $0 &", ProblemForkBomb},
		{"ForkBombLoop", "while :; do bash & done", ProblemForkBomb},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Read(c.src, testOptions())
			if got := kinds(s); !slices.Contains(got, c.want) {
				t.Errorf("Read(%.60q): problems %v, want %q", c.src, got, c.want)
			}
			for _, p := range s.Problems {
				if p.Detail.String() == "" {
					t.Errorf("problem %s has no sentence", p.Kind)
				}
			}
		})
	}
}

func TestReadNoForkBomb(t *testing.T) {
	for name, src := range map[string]string{
		"Walk":  `walk() { ls "$1" | while read f; do walk "$1/$f"; done; }; walk .`,
		"Retry": `retry() { "$@" || retry "$@"; }; retry ls`,
		"Twice": "f() { ls; }; f | f &",
		"Piped": "f() { f; }; f | cat",
		"Wait":  "while true; do sleep 1 & wait; done",
	} {
		t.Run(name, func(t *testing.T) {
			if got := kinds(Read(src, testOptions())); slices.Contains(got, ProblemForkBomb) {
				t.Errorf("Read(%q) is taken for a fork bomb", src)
			}
		})
	}
}

func TestReadBeforeError(t *testing.T) {
	s := Read("rm -rf /\n)", testOptions())
	if got := shown(s); !slices.Contains(got, "rm -rf /") {
		t.Errorf("what stands before an error was not read: %q", got)
	}
}

func TestReadArgv(t *testing.T) {
	s := ReadArgv([]string{"bash", "-c", "rm -rf $HOME", "a*b"}, testOptions())
	if got := shown(s); !slices.Equal(got, []string{"rm -rf /home/user"}) {
		t.Errorf("ReadArgv = %q", got)
	}
	s = ReadArgv([]string{"ls", "*", "$HOME", "~"}, testOptions())
	if got := s.Commands[0]; got.Argv[1].HasGlob() || !got.Argv[2].Is("$HOME") || !got.Argv[3].Is("~") {
		t.Errorf("ReadArgv expands what no shell reads: %q", show(got))
	}
}

func TestReadPure(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"echo -n a b", "a b"},
		{`echo -e 'a\tb'`, "a\tb"},
		{"printf '%s-%c' a xyz", "a-x"},
		{"printf '%s,' a b c", "a,b,c,"},
		{"dirname /a/b/c", "/a/b"},
		{"dirname a", "."},
		{"basename /a/b.c .c", "b"},
		{"seq 1 3", "1\n2\n3"},
		{"echo abc | rev", "cba"},
		{"echo abc | tr a-c x-z", "xyz"},
		{"echo abc | tr -d b", "ac"},
		{"echo aGk= | base64 --decode", "hi"},
		{"echo hi | base64", "aGkK"},
		{"echo 6869 | xxd -r -p", "hi"},
		{"pwd", "/work"},
		{"whoami", "user"},
		{"realpath ../x", "/x"},
		{"{ echo a; echo b; }", "a\nb"},
		{"if true; then :; fi; echo a", "a"},
		{"cat <<< x", "x"},
		{"cat <<E\n$HOME \\$x\nE", "/home/user $x"},
		{"cat <<'E'\n$HOME\nE", "$HOME"},
		{"echo z > f; cat f", "z"},
		{"echo a > f; echo b >> f; cat f", "a\nb"},
	} {
		t.Run(c.src, func(t *testing.T) {
			s := Read("probe \"$("+c.src+"\n)\"", testOptions())
			last := s.Commands[len(s.Commands)-1]
			if last.Name != "probe" || last.Argv[1].String() != c.want {
				t.Errorf("$(%s) = %q, want %q", c.src, last.Argv[1].String(), c.want)
			}
		})
	}
}

// TestMountOf reads what an option gives to a container, in both forms.
func TestMountOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Mount{
		"/a:/b":                            {Host: Text("/a"), Inside: Text("/b")},
		"/a:/b:ro":                         {Host: Text("/a"), Inside: Text("/b"), ReadOnly: true},
		"/a:/b:z,ro":                       {Host: Text("/a"), Inside: Text("/b"), ReadOnly: true},
		"/a:/b:rw":                         {Host: Text("/a"), Inside: Text("/b")},
		"type=bind,source=/a,target=/b":    {Host: Text("/a"), Inside: Text("/b")},
		"type=bind,src=/a,dst=/b,readonly": {Host: Text("/a"), Inside: Text("/b"), ReadOnly: true},
		"destination=/b,src=/a,ro=true":    {Host: Text("/a"), Inside: Text("/b"), ReadOnly: true},
		"src=/a,dst=/b,readonly=false":     {Host: Text("/a"), Inside: Text("/b")},
		"type=bind,source=C:/a,target=/b":  {Host: Text("C:/a"), Inside: Text("/b")},
		"type=tmpfs,target=/b":             {Inside: Text("/b")},
	} {
		m, ok := MountOf(Text(text))
		if !ok || !m.Host.Equal(want.Host) || !m.Inside.Equal(want.Inside) || m.ReadOnly != want.ReadOnly {
			t.Errorf("%s: %+v, %v", text, m, ok)
		}
	}
	for _, text := range []string{"", "/a", "name", "type=bind,source=/a", "source=/a,target="} {
		if m, ok := MountOf(Text(text)); ok {
			t.Errorf("%s: %+v", text, m)
		}
	}
}
