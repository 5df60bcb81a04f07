package shell

import (
	"strconv"
	"strings"
)

// functions are the calls that matter, by language and verb. A name with a
// leading dot counts with anything before it, one with a leading @ is a method
// whose object is the target; any other name must be qualified as it stands.
//
//nolint:gochecknoglobals // A table that is only read.
var functions = map[string]map[Verb]string{
	"python": {
		VerbDelete:      "os.remove os.unlink os.rmdir os.removedirs pathlib.Path.unlink @.unlink @.rmdir posix.remove posix.unlink",
		VerbDeleteTree:  ".rmtree .remove_tree @.rmtree_p @.rmtree .send2trash",
		VerbWrite:       "os.truncate @.write_text @.write_bytes @.touch",
		VerbRead:        "netrc.netrc @.read_text @.read_bytes linecache.getlines linecache.getline np.fromfile pd.read_csv .read_csv",
		VerbList:        "os.listdir os.scandir os.walk glob.glob @.iterdir @.glob @.rglob",
		verbOpen:        "open io.open codecs.open os.open builtins.open gzip.open @.open os.fdopen",
		VerbPermissions: "os.chmod os.chown os.lchown shutil.chown @.chmod @.lchmod",
		VerbMove:        "os.rename os.renames os.replace shutil.move @.rename @.replace",
		VerbCopy:        ".copyfile .copytree .copy2 shutil.copy",
		VerbLink:        "os.symlink os.link @.symlink_to @.hardlink_to",
		VerbCreate:      "os.mkdir os.makedirs @.mkdir",
		verbShell:       "os.system os.popen .popen .system .getoutput .getstatusoutput pty.spawn .create_subprocess_shell commands.getoutput posix.system",
		verbExec:        "subprocess.run subprocess.call .check_call .check_output subprocess.Popen .Popen os.execv os.execvp os.execve os.execvpe os.spawnv os.spawnvp .posix_spawn .posix_spawnp .create_subprocess_exec sh.rm",
		verbExecl:       "os.execl os.execlp os.execle os.spawnl os.spawnlp",
		verbEval:        "exec eval builtins.exec builtins.eval",
		VerbKill:        "os.kill os.killpg",
		VerbFork:        "os.fork .fork",
		VerbNetwork:     ".urlopen .urlretrieve requests.get requests.post requests.put requests.delete requests.request requests.patch httpx.get httpx.post @.connect .create_connection",
	},
	"perl": {
		VerbDelete: "unlink rmdir", VerbDeleteTree: "rmtree remove_tree .rmtree .remove_tree", verbOpen: "open sysopen IO.File.new",
		VerbPermissions: "chmod chown", VerbMove: "rename move", VerbCopy: "copy", VerbLink: "link symlink", VerbCreate: "mkdir",
		verbShell: "system exec", VerbFork: "fork", VerbKill: "kill", verbEval: "eval", VerbWrite: "truncate", VerbList: "opendir glob",
		VerbNetwork: "getstore .get",
	},
	"ruby": {
		VerbDelete:      "File.delete File.unlink Dir.rmdir Dir.delete Dir.unlink FileUtils.rm FileUtils.rm_f FileUtils.remove FileUtils.rmdir .safe_unlink @.unlink",
		VerbDeleteTree:  ".rm_rf .rm_r .rmtree .remove_dir .remove_entry .remove_entry_secure .safe_rm_rf",
		VerbWrite:       "File.write IO.write File.binwrite File.truncate IO.binwrite FileUtils.touch",
		VerbRead:        "File.read IO.read File.readlines IO.readlines File.binread File.foreach IO.foreach IO.binread",
		VerbList:        "Dir.glob Dir.entries Dir.children Dir.each_child",
		verbOpen:        "File.open File.new open Kernel.open IO.open",
		VerbPermissions: "File.chmod File.chown FileUtils.chmod FileUtils.chmod_R FileUtils.chown FileUtils.chown_R .chmod_R .chown_R",
		VerbMove:        "File.rename FileUtils.mv FileUtils.move", VerbCopy: "FileUtils.cp FileUtils.cp_r FileUtils.copy FileUtils.copy_file",
		VerbLink: "File.symlink File.link FileUtils.ln_s FileUtils.ln_sf FileUtils.ln", VerbCreate: "Dir.mkdir FileUtils.mkdir_p",
		verbShell: "system exec spawn Kernel.system Kernel.exec IO.popen Open3.capture2 Open3.capture3 Open3.popen3 Process.spawn .capture2e PTY.spawn",
		verbEval:  "eval instance_eval", VerbFork: "fork Process.fork", VerbKill: "Process.kill",
		VerbNetwork: "Net.HTTP.get Net.HTTP.post URI.open Net.HTTP.get_response Net.HTTP.post_form TCPSocket.new TCPSocket.open",
	},
	"node": {
		VerbDelete:      ".unlinkSync .unlink .rmdirSync .rmdir",
		VerbDeleteTree:  ".rmSync fs.rm fs.promises.rm promises.rm fsPromises.rm .rimrafSync rimraf rimraf.sync .removeSync .emptyDirSync Deno.remove Deno.removeSync",
		VerbWrite:       ".writeFileSync .writeFile .truncateSync .truncate .createWriteStream Deno.writeTextFile Deno.writeTextFileSync Bun.write .outputFileSync",
		VerbAppend:      ".appendFileSync .appendFile",
		VerbRead:        ".readFileSync .readFile .createReadStream Deno.readTextFile Deno.readTextFileSync Deno.readFileSync Bun.file",
		VerbList:        ".readdirSync .readdir .opendirSync",
		verbOpen:        ".openSync fs.open",
		VerbPermissions: ".chmodSync .chmod .chownSync .chown .lchownSync",
		VerbMove:        ".renameSync .rename", VerbCopy: ".copyFileSync .copyFile .cpSync", VerbLink: ".symlinkSync .symlink .linkSync .link",
		VerbCreate: ".mkdirSync .mkdir",
		verbShell:  ".execSync child_process.exec cp.exec .shelljs.exec",
		verbExec:   ".spawnSync .execFileSync .execFile .spawn Bun.spawn Bun.spawnSync Deno.Command .execa .execaSync execa .fork",
		verbEval:   "eval Function vm.runInNewContext vm.runInThisContext", VerbKill: "process.kill",
		VerbNetwork: "fetch axios axios.get axios.post http.get https.get http.request https.request net.connect",
	},
	"php": {
		VerbDelete: "unlink rmdir", VerbWrite: "file_put_contents touch", VerbRead: "file_get_contents readfile file show_source highlight_file",
		VerbList: "scandir glob opendir", verbOpen: "fopen SplFileObject", VerbPermissions: "chmod chown chgrp", VerbMove: "rename", VerbCopy: "copy",
		VerbLink: "symlink link", VerbCreate: "mkdir", verbShell: "exec shell_exec system passthru popen proc_open",
		verbExec: "pcntl_exec", verbEval: "eval assert", VerbFork: "pcntl_fork", VerbKill: "posix_kill", VerbNetwork: "fsockopen curl_init",
	},
	"awk": {verbShell: "system"},
	"lua": {
		VerbDelete: "os.remove lfs.rmdir", verbShell: "os.execute io.popen", verbOpen: "io.open", VerbRead: "io.lines io.input loadfile", VerbWrite: "io.output",
		VerbMove: "os.rename", verbEval: "load loadstring dofile", VerbCreate: "lfs.mkdir",
	},
}

// lookupCall finds the verb of a call and whether its object is the target.
func (p *program) lookupCall(name string) (verb Verb, method, ok bool) {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if last == "" {
		return "", false, false
	}
	for _, v := range callVerbs() {
		for n := range strings.FieldsSeq(functions[p.lang.name][v]) {
			switch {
			case n == name:
				return v, false, true
			case n[0] == '.' && n[1:] == last:
				return v, false, true
			case strings.HasPrefix(n, "@.") && n[2:] == last && name != last:
				verb, method, ok = v, true, true
			}
		}
	}
	return verb, method, ok
}

func callVerbs() []Verb {
	return []Verb{
		VerbDelete, VerbDeleteTree, VerbWrite, VerbAppend, VerbRead, VerbList, VerbPermissions, VerbMove, VerbCopy, VerbLink, VerbCreate,
		VerbKill, VerbFork, VerbNetwork, verbShell, verbExec, verbEval, verbOpen, verbExecl,
	}
}

// nameOperand evaluates what begins with a name.
//
//nolint:cyclop // One case per form that the grammar knows.
func (p *program) nameOperand() value {
	t := p.peek(0)
	p.at++
	name := t.text
	if p.lang.sigil != "" && len(name) > 1 && (name[0] == '$' || name[0] == '@') {
		if v, ok := p.vars["$"+name[1:]]; ok {
			return p.postfix(v)
		}
		if v, ok := p.vars["@"+name[1:]]; ok {
			return p.postfix(v)
		}
	}
	if v, ok := p.vars[name]; ok && v.path == "" {
		return p.postfix(v)
	}
	if p.lang.name == "awk" && name[0] == '$' {
		return p.field(name)
	}
	if p.lang.name == "awk" && (name == "print" || name == "printf" || name == "getline") {
		return p.awkIO(name)
	}
	if full, ok := p.imports[name]; ok {
		name = full
	}
	v := value{path: name}
	if p.bareCall(name) {
		return p.call(name, value{}, p.bareArgs())
	}
	return p.postfix(v)
}

// bareCall reports whether a known function is called without parentheses.
func (p *program) bareCall(name string) bool {
	if !p.lang.bare || p.isOp(0, "(") {
		return false
	}
	if _, _, ok := p.lookupCall(name); !ok {
		return false
	}
	if p.isOp(0, "{") && name == "eval" {
		return false // a block, not a text
	}
	t := p.peek(0)
	return t.kind == lexString || t.kind == lexName && !p.isOp(1, "=") || t.kind == lexNumber || p.isOp(0, "<", "{", "\\", ":", "[") || name == "fork" || name == "rmtree"
}

// field is a field of awk's present line.
func (p *program) field(name string) value {
	if name == "$" {
		p.operand() // $(NF-1) and $i
		return textValue(unknown("$"))
	}
	n, err := strconv.Atoi(name[1:])
	if err != nil || p.record == nil {
		return textValue(unknown("$"))
	}
	if n >= len(p.record) {
		return textValue(Word{})
	}
	return textValue(p.record[n])
}

// bareArgs reads arguments up to the statement's end.
//
//nolint:cyclop // One case per form that the grammar knows.
func (p *program) bareArgs() []value {
	var out []value
	if p.lang.name == "perl" && p.isOp(0, "{") && (p.peek(-1).text == "system" || p.peek(-1).text == "exec") {
		for p.at < len(p.toks) && !p.isOp(0, "}") {
			p.at++ // system {$program} @words
		}
		p.at++
	}
	for p.at < len(p.toks) && p.r.step(p.f, 1) {
		if p.isOp(0, ";", ")", "}", "]") || p.peek(0).text == "or" || p.peek(0).text == "while" || p.peek(0).text == "if" || p.peek(0).text == "for" {
			if p.peek(0).text == "while" || p.peek(0).text == "for" {
				p.loop = true
			}
			return out
		}
		if t := p.peek(0); p.isOp(0, ",") || p.lang.sigil != "" && (t.text == "my" || t.text == "our") && t.kind == lexName {
			p.at++
			continue
		}
		before := p.at
		out = append(out, p.expression())
		if p.at == before {
			p.at++
		}
	}
	return out
}

// postfix applies member access, subscripts and calls.
//
//nolint:cyclop // One case per form that the grammar knows.
func (p *program) postfix(v value) value {
	for p.at < len(p.toks) && p.r.step(p.f, 1) {
		switch {
		case p.isOp(0, ".", "::", "->", ":") && p.peek(1).kind == lexName && (!p.isOp(0, ".") || p.lang.concat != "." || v.path != "") && (!p.isOp(0, ":") || p.lang.name == "lua"):
			v = p.member(v)
		case p.isOp(0, "(") && v.path != "":
			p.at++
			v = p.call(v.path, value{}, p.listUntil(")"))
		case p.isOp(0, "[") && p.isOp(1, "::") && p.isOp(2, "-") && p.peek(3).text == "1" && p.isOp(4, "]"):
			p.at += 5
			v = p.reversed(v)
		case p.isOp(0, "[") && (v.multi || v.path != ""):
			p.at++
			v = p.index(v, p.listUntil("]"))
		case p.isOp(0, "{") && (v.path == "$ENV" || v.path == "ENV" || v.path == "$_ENV"):
			p.at++
			name := p.peek(0).text
			if t := p.peek(0); t.kind == lexString {
				name, _ = t.word.Text()
			}
			p.at += 2
			v = textValue(p.env(name))
		default:
			return p.constant(v)
		}
	}
	return p.constant(v)
}

// member reads .name, and the call that may follow.
//
//nolint:cyclop // One case per form that the grammar knows.
func (p *program) member(v value) value {
	name := p.peek(1).text
	p.at += 2
	full := name
	if v.path != "" {
		full = v.path + "." + name
	}
	if full == "process.env" || strings.HasSuffix(full, ".environ") {
		if p.isOp(0, ".") && p.peek(1).kind == lexName && full == "process.env" {
			name = p.peek(1).text
			p.at += 2
			return textValue(p.env(name))
		}
		return value{path: full}
	}
	if p.isOp(0, "(") {
		p.at++
		if v.path == "" {
			full = "?." + name
		}
		return p.call(full, v, p.listUntil(")"))
	}
	if p.bareCall(full) {
		return p.call(full, v, p.bareArgs())
	}
	if v.path == "" && len(v.alts) > 0 {
		if out, ok := p.method(name, v, nil); ok {
			return out
		}
	}
	return value{path: full, alts: v.alts, list: v.list, multi: v.multi}
}

// constant is the value of a name that stands for a known text.
func (p *program) constant(v value) value {
	if v.path == "" || v.multi || len(v.alts) > 0 && v.path == "" {
		return v
	}
	switch v.path {
	case "Dir.home", "os.homedir":
		return textValue(p.home())
	case "os.sep", "path.sep", "File.SEPARATOR":
		return textValue(Text("/"))
	case "$HOME":
		return textValue(p.home())
	}
	return v
}

func (p *program) home() Word {
	w, _ := p.r.home("")
	return w
}

// env is the value of an environment variable.
func (p *program) env(name string) Word {
	if name == "HOME" || name == "USERPROFILE" {
		return p.home()
	}
	if v, ok := assigned(p.f.assigns, name); ok {
		return v
	}
	w, _ := p.r.variable(name)
	return w
}

// index evaluates a subscript.
//
//nolint:cyclop // One case per form that the grammar knows.
func (p *program) index(v value, at []value) value {
	if len(at) != 1 {
		return noValue()
	}
	key, ok := at[0].word().Text()
	switch {
	case ok && (strings.HasSuffix(v.path, "environ") || v.path == "ENV" || v.path == "process.env" || v.path == "$_ENV" || v.path == "$_SERVER" || v.path == "ENVIRON"):
		return textValue(p.env(key))
	case v.path == "sys.argv" || v.path == "ARGV" || v.path == "$ARGV" || v.path == "process.argv" || v.path == "arg":
		n, err := strconv.Atoi(key)
		if v.path == "sys.argv" || v.path == "arg" {
			n--
		}
		if err == nil && n >= 0 && n < len(p.args) {
			return textValue(p.args[n])
		}
	case v.multi:
		n, err := strconv.Atoi(key)
		if err == nil && n >= 0 && n < len(v.list) {
			return v.list[n]
		}
	}
	return noValue()
}

// call evaluates a call: a pure function to its value, one that matters to a
// command of the script.
//
//nolint:cyclop // One case per form that the grammar knows.
func (p *program) call(name string, recv value, args []value) value {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if out, ok := p.moduleCall(name, args); ok {
		return out
	}
	if how, ok := printers[p.lang.name][name]; ok {
		if name == "os.write" && len(args) > 1 {
			args = args[1:]
		}
		p.print(p.printed(how, args))
		return noValue()
	}
	if out, ok := p.dispatchCall(last, args); ok {
		return out
	}
	if verb, method, ok := p.lookupCall(name); ok {
		if method && (recv.path != "" || len(recv.alts) == 0) {
			return noValue()
		}
		p.effect(name, verb, method, recv, args)
		if verb == VerbList && len(args) > 0 {
			return p.onEach(args[0], globbed)
		}
		return noValue()
	}
	if out, ok := p.pureCall(name, last, args); ok {
		return out
	}
	if recv.path == "" || len(recv.alts) > 0 || recv.multi {
		if out, ok := p.method(last, recv, args); ok {
			return out
		}
	}
	return value{path: name + "()"}
}
