package shell

// prefix describes a program that runs the command among its operands.
type prefix struct {
	grammar

	// skip is how many operands precede the command.
	skip int
	// assigns says that NAME=value operands precede the command.
	assigns bool
	// privileged says that the command gets raised rights.
	privileged bool
	// own says that the program has effects of its own and is listed too.
	own bool
	// code are the options whose value is shell code.
	code []string
	// chdir are the options that name the folder to run in.
	chdir []string
	// exec are the options that name the program, whose arguments the operands
	// are.
	exec []string
	// root are the options that name another root folder.
	root []string
	// words joins the operands to shell code, as watch does.
	words bool
	// unless are the options with which the program runs no command.
	unless []string
	// verbs are the first operands, separated by blanks, after which a command
	// follows; with any other the program runs none.
	verbs string
	// others are first operands that show that another program of the same
	// name is meant, which runs no command.
	others string
}

// prefixes are the programs that run a command which they are given as
// operands, by name.
//
//nolint:gochecknoglobals // A table that is only read.
var prefixes = map[string]prefix{
	"sudo": {
		grammar: grammar{values: "CDghpRrtTuU", long: "close-from chdir group host prompt chroot role type command-timeout user other-user"},
		assigns: true, privileged: true, chdir: []string{"D", "chdir"}, root: []string{"R", "chroot"},
		unless: []string{"l", "v", "K", "V", "list", "validate", "version"},
	},
	"doas":   {grammar: grammar{values: "aCu"}, privileged: true},
	"please": {grammar: grammar{values: "acdtu"}, privileged: true},
	"pkexec": {grammar: grammar{long: "user"}, privileged: true},
	"run0": {
		grammar: grammar{values: "uDg", long: "user group unit property chdir setenv nice background machine"}, privileged: true,
		chdir: []string{"D", "chdir"},
	},
	"gosu":     {skip: 1, privileged: true},
	"su-exec":  {skip: 1, privileged: true},
	"sudo-rs":  {grammar: grammar{values: "CDghpRrtTuU", long: "chdir group user"}, assigns: true, privileged: true, chdir: []string{"D", "chdir"}},
	"fakeroot": {grammar: grammar{values: "bilsu", long: "lib faked"}},
	"nohup":    {},
	"nice":     {grammar: grammar{values: "n", long: "adjustment"}},
	"ionice":   {grammar: grammar{values: "cnpPu", long: "class classdata pid pgid uid"}, unless: []string{"p", "P", "u"}},
	"chrt": {
		grammar: grammar{values: "TPD", long: "sched-runtime sched-period sched-deadline"}, skip: 1,
		unless: []string{"p", "pid", "m", "max"},
	},
	"taskset":  {skip: 1, unless: []string{"p", "pid"}},
	"numactl":  {grammar: grammar{values: "iNmCplP", long: "interleave cpunodebind membind physcpubind preferred localalloc weighted-interleave"}},
	"timeout":  {grammar: grammar{values: "ks", long: "kill-after signal"}, skip: 1},
	"gtimeout": {grammar: grammar{values: "ks", long: "kill-after signal"}, skip: 1},
	"time":     {grammar: grammar{values: "fo", long: "format output"}},
	"gtime":    {grammar: grammar{values: "fo", long: "format output"}},
	"stdbuf":   {grammar: grammar{values: "ieo", long: "input output error"}},
	"unbuffer": {},
	"setsid":   {},
	"setarch":  {},
	"linux32":  {},
	"linux64":  {},
	"setpriv": {
		grammar:    grammar{long: "reuid regid groups inh-caps ambient-caps bounding-set securebits pdeathsig selinux-label apparmor-profile"},
		privileged: true,
	},
	"capsh":     {grammar: grammar{long: "user uid gid drop caps secbits"}, privileged: true},
	"prlimit":   {grammar: grammar{values: "p", long: "pid"}, unless: []string{"p", "pid"}},
	"choom":     {grammar: grammar{values: "np", long: "adjust pid"}, unless: []string{"p", "pid"}},
	"chronic":   {},
	"ifne":      {},
	"daemonize": {grammar: grammar{values: "acEeloup"}, chdir: []string{"c"}},
	"daemon": {
		grammar: grammar{values: "nDPFUuMCNLEXOo", long: "name chdir pidfile user chroot stdout stderr output"},
		chdir:   []string{"D", "chdir"},
	},
	"start-stop-daemon": {
		grammar: grammar{values: "xapnucgrdNPIkMRs", long: "exec startas pidfile user name chuid group chroot chdir retry"},
		chdir:   []string{"d", "chdir"}, own: true, exec: []string{"a", "startas", "x", "exec"},
	},
	"caffeinate":   {grammar: grammar{values: "tw"}},
	"proxychains":  {grammar: grammar{values: "f"}},
	"proxychains4": {grammar: grammar{values: "f"}},
	"torsocks":     {grammar: grammar{values: "uapP"}},
	"torify":       {},
	"tsocks":       {},
	"firejail":     {grammar: grammar{}, own: true},
	"bwrap":        {grammar: grammar{long: "chdir setenv dev proc tmpfs uid gid hostname unsetenv cap-add cap-drop lock-file perms dir"}, own: true},
	"catchsegv":    {},
	"valgrind":     {own: true},
	"strace":       {grammar: grammar{values: "aAbeEIoOpPsSuX", long: "output attach trace user env"}, own: true},
	"ltrace":       {grammar: grammar{values: "aADeFlnopsuwxX", long: "output"}, own: true},
	"perf":         {verbs: "record stat trace", skip: 1, grammar: grammar{values: "eoFpt", long: "event output"}, own: true},
	"hyperfine": {
		grammar: grammar{values: "wmMrpscSLDnNiu", long: "warmup min-runs max-runs runs prepare setup cleanup shell conclude " +
			"parameter-list parameter-scan export-json export-csv export-markdown command-name"},
		code: []string{"p", "prepare", "s", "setup", "c", "cleanup", "conclude"}, words: true, own: true,
	},
	"rlwrap":           {grammar: grammar{values: "aAbBCDefFgHIlmMOPpqsStTwz"}},
	"dbus-run-session": {grammar: grammar{long: "config-file dbus-daemon"}},
	"dbus-launch":      {grammar: grammar{}},
	"xvfb-run":         {grammar: grammar{values: "efnpsw", long: "error-file auth-file server-num xauth-protocol server-args wait"}},
	"systemd-run": {
		grammar: grammar{values: "upEHMdCG", long: "unit property setenv host machine description slice uid gid nice service-type " +
			"working-directory on-active on-boot on-calendar on-startup on-unit-active timer-property path-property socket-property"},
		privileged: true, chdir: []string{"working-directory"}, own: true,
	},
	"systemd-inhibit": {grammar: grammar{long: "what who why mode"}},
	"systemd-cat":     {grammar: grammar{values: "tp", long: "identifier priority"}},
	"cgexec":          {grammar: grammar{values: "g"}},
	"runcon":          {grammar: grammar{values: "turl", long: "type user role range"}, skip: 1},
	"sg":              {others: "run scan test new lsp outline", skip: 1, words: true, code: []string{"c"}},
	"newgrp":          {skip: 1},
	"watch":           {grammar: grammar{values: "nqd?", long: "interval equexit"}, words: true},
	"watchexec":       {grammar: grammar{values: "wefi", long: "watch exts filter ignore shell"}, words: true},
	"flock":           {grammar: grammar{values: "wEc", long: "timeout wait conflict-exit-code command"}, skip: 1, code: []string{"c", "command"}, own: true},
	"script": {
		grammar: grammar{values: "cEIBOTmot", long: "command echo log-in log-out log-io log-timing output-limit", permute: true},
		code:    []string{"c", "command"}, own: true, unless: []string{"*"},
	},
	"unshare": {
		grammar: grammar{
			values: "RwSG",
			long:   "root wd setuid setgid mount-proc map-user map-group map-users map-groups propagation setgroups kill-child",
		},
		root: []string{"R", "root"}, chdir: []string{"w", "wd"},
	},
	"nsenter":    {grammar: grammar{values: "tSGr?w?", long: "target setuid setgid"}, privileged: true},
	"chroot":     {grammar: grammar{long: "userspec groups"}, skip: 1},
	"proot":      {grammar: grammar{values: "rbmqwkp", long: "rootfs bind mount qemu pwd cwd"}, root: []string{"r", "rootfs"}},
	"busybox":    {},
	"toybox":     {},
	"winpty":     {},
	"dumb-init":  {grammar: grammar{values: "r", long: "rewrite"}},
	"tini":       {grammar: grammar{values: "pe"}},
	"cpulimit":   {grammar: grammar{values: "lpe", long: "limit pid exe"}},
	"softlimit":  {grammar: grammar{values: "adfmorstclp"}},
	"setlock":    {skip: 1},
	"envdir":     {skip: 1},
	"chpst":      {grammar: grammar{values: "ue/nlLmdoprfCcb"}},
	"eatmydata":  {},
	"faketime":   {grammar: grammar{values: "fm"}, skip: 1},
	"direnv":     {verbs: "exec", skip: 2},
	"dotenv":     {grammar: grammar{values: "efvp"}},
	"op":         {verbs: "run", skip: 1, grammar: grammar{long: "env-file account"}},
	"bundle":     {verbs: "exec", skip: 1},
	"poetry":     {verbs: "run", skip: 1},
	"pipenv":     {verbs: "run", skip: 1},
	"rye":        {verbs: "run", skip: 1},
	"hatch":      {verbs: "run", skip: 1},
	"pixi":       {verbs: "run", skip: 1},
	"pdm":        {verbs: "run", skip: 1, grammar: grammar{values: "ep"}},
	"conda":      {verbs: "run", skip: 1, grammar: grammar{values: "npe", long: "name prefix cwd"}},
	"mamba":      {verbs: "run", skip: 1, grammar: grammar{values: "npe", long: "name prefix cwd"}},
	"micromamba": {verbs: "run", skip: 1, grammar: grammar{values: "npe", long: "name prefix cwd"}},
	"mise":       {verbs: "exec x", skip: 1},
	"rtx":        {verbs: "exec x", skip: 1},
	"asdf":       {verbs: "exec", skip: 1},
	"rbenv":      {verbs: "exec", skip: 1},
	"pyenv":      {verbs: "exec", skip: 1},
	"nodenv":     {verbs: "exec", skip: 1},
	"rustup":     {verbs: "run", skip: 2},
	"kitty":      {grammar: grammar{values: "cdTo1", long: "config directory title class name override listen-on session"}, own: true},
	"foot":       {grammar: grammar{values: "caTDowWlLp", long: "config app-id title term"}, own: true},
	"wezterm":    {verbs: "start", skip: 1, grammar: grammar{long: "cwd class"}, own: true},
	"nix-shell": {
		grammar: grammar{values: "pAIj", long: "packages run command attr arg argstr"}, code: []string{"run", "command"}, own: true,
		unless: []string{"*"},
	},
	"sem":       {grammar: grammar{values: "j", long: "id semaphorename jobs timeout"}, words: true},
	"sshpass":   {grammar: grammar{values: "pdfP", long: ""}},
	"exec":      {grammar: grammar{values: "a"}},
	"noglob":    {},
	"nocorrect": {},
	"trickle":   {grammar: grammar{values: "duwtlnps"}},
	"nocache":   {grammar: grammar{values: "n"}},
	"retry":     {grammar: grammar{values: "tdmu", long: "times delay until while"}},
}
