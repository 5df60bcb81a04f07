package shell

// builtin reads a call of a command that is part of the shell.
type builtin func(r *reader, f *frame, k *call, name string) Word

// builtins are the commands that only a plain name runs, for they are part of
// the shell.
func builtins() map[string]builtin {
	all := map[string]builtin{
		"eval": (*reader).runEval, "command": (*reader).runCommand, "builtin": (*reader).runCommand, "exec": (*reader).runExec,
		"source": (*reader).runSource, ".": (*reader).runSource, "printf": (*reader).runPrintf,
	}
	for name, do := range map[string]func(r *reader, f *frame, k *call, name string){
		"popd": (*reader).runPopd, "unset": (*reader).runUnset, "set": (*reader).runSet, "shift": (*reader).runShift, "read": (*reader).runRead,
		"mapfile": (*reader).runMapfile, "readarray": (*reader).runMapfile, "alias": (*reader).runAlias, "unalias": (*reader).runUnalias,
		"trap": (*reader).runTrap, "hash": (*reader).runHash,
	} {
		all[name] = func(r *reader, f *frame, k *call, name string) Word {
			do(r, f, k, name)
			r.emitCall(f, k)
			return Word{}
		}
	}
	for _, name := range []string{"cd", "chdir", "pushd"} {
		all[name] = func(r *reader, f *frame, k *call, name string) Word {
			r.emitCall(f, k) // it stands in the folder that it leaves
			r.runCd(k, name)
			return Word{}
		}
	}
	for _, name := range declaring() {
		all[name] = func(r *reader, f *frame, k *call, name string) Word {
			r.runDeclare(f, k, name)
			r.emitCall(f, k)
			return Word{}
		}
	}
	return all
}

// declaring are the builtins that declare variables.
func declaring() []string { return []string{"export", "declare", "typeset", "local", "readonly"} }

// dispatch reads a call by its name; false if the name says nothing.
func (r *reader) dispatch(f *frame, k *call, name string) (Word, bool) {
	if do := r.carriers.builtins[name]; do != nil && k.argv[0].Is(name) {
		return do(r, f, k, name), true
	}
	if p := r.carriers.program(name); p != nil {
		return p.read(r, f, k, p, name), true
	}
	return Word{}, false
}

func (r *reader) emitCall(f *frame, k *call) {
	r.emit(f, Command{Argv: k.argv, Redirects: k.redirs, Assigns: k.assigns, Span: k.span})
}

// runEval reads eval, whose words are code.
func (r *reader) runEval(f *frame, k *call, name string) Word {
	args := k.argv[1:]
	if len(args) > 0 && args[0].Is("--") {
		args = args[1:]
	}
	if len(k.redirs) > 0 {
		r.emit(f, Command{Redirects: k.redirs, Span: k.span})
	}
	return r.carried(f.at(k, name), r.code(args), name)
}
