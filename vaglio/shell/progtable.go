package shell

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
		VerbRead:        "io.FileIO fileinput.input fileinput.FileInput shutil.make_archive .getspall .getspnam np.loadtxt netrc.netrc @.read_text @.read_bytes linecache.getlines linecache.getline np.fromfile pd.read_csv .read_csv",
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
		VerbDelete: "unlink rmdir", VerbDeleteTree: "rmtree remove_tree .rmtree .remove_tree", verbOpen: "open sysopen IO.File.new POSIX.open",
		VerbPermissions: "chmod chown", VerbMove: "rename move", VerbCopy: "copy", VerbLink: "link symlink", VerbCreate: "mkdir",
		verbShell: "system exec", VerbFork: "fork", VerbKill: "kill", verbEval: "eval", VerbWrite: "truncate", VerbList: "opendir glob",
		VerbNetwork: "getstore .get",
	},
	"ruby": {
		VerbDelete:      "File.delete File.unlink Dir.rmdir Dir.delete Dir.unlink FileUtils.rm FileUtils.rm_f FileUtils.remove FileUtils.rmdir .safe_unlink @.unlink",
		VerbDeleteTree:  "FileUtils.rmtree @.rmtree .rm_rf .rm_r .remove_dir .remove_entry .remove_entry_secure .safe_rm_rf",
		VerbWrite:       "File.write IO.write File.binwrite File.truncate IO.binwrite FileUtils.touch",
		VerbRead:        "File.read IO.read File.readlines IO.readlines File.binread File.foreach IO.foreach IO.binread @.read @.binread @.readlines @.each_line",
		VerbList:        "Dir.glob Dir.entries Dir.children Dir.each_child Dir.foreach @.children @.each_child @.glob",
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

func callVerbs() []Verb {
	return []Verb{
		VerbDelete, VerbDeleteTree, VerbWrite, VerbAppend, VerbRead, VerbList, VerbPermissions, VerbMove, VerbCopy, VerbLink, VerbCreate,
		VerbKill, VerbFork, VerbNetwork, verbShell, verbExec, verbEval, verbOpen, verbExecl,
	}
}
