// Package operation defines the terms for what a call would do: a verb, the object that it
// acts on, and what is known of both. It knows no program, no place and no rule.
package operation

import (
	"slices"

	"github.com/metnos/vaglio/vaglio/shell"
)

// Verb says what is done to an object.
type Verb string

// The verbs for files.
const (
	// Use passes a file to a program of which nothing else is known.
	Use Verb = "use"
	// Read reads a file, or lists a folder with Recursive.
	Read Verb = "read"
	// Inspect reads a file and prints its properties, not its content.
	Inspect Verb = "inspect"
	// Create makes a file. An existing one stays.
	Create Verb = "create"
	// MakeFolder makes a folder.
	MakeFolder Verb = "make-folder"
	// Write changes a file or adds to it.
	Write Verb = "write"
	// Replace rewrites a whole file: its content is gone.
	Replace Verb = "replace"
	// Empty removes a file's content and keeps its name.
	Empty Verb = "empty"
	// Delete removes a file, or with Recursive a folder and everything below it.
	Delete Verb = "delete"
	// Discard removes what can be had again, such as an empty folder.
	Discard Verb = "discard"
	// Trash moves a file to the trash, from which it can be had again.
	Trash Verb = "trash"
	// Copy reads Object and writes a copy to To.
	Copy Verb = "copy"
	// Move moves Object to To.
	Move Verb = "move"
	// Fill puts the output of an installation into a folder, under unknown names except for those in With.
	Fill Verb = "fill"
	// Link makes To another name of Object.
	Link Verb = "link"
)

// The verbs for things other than files. Their object may be empty: then the program acts on whatever it is configured for.
const (
	// Format makes a file system on a device, or erases it.
	Format Verb = "format"
	// Partition changes a device's partition table.
	Partition Verb = "partition"
	// Destroy destroys a volume, a pool, an array or a container of a disk.
	Destroy Verb = "destroy"
	// Boot changes what the machine boots.
	Boot Verb = "boot"
	// Memory writes to raw memory.
	Memory Verb = "memory"
	// Accounts changes who may log in or become root. With an object, it does so as far as that object decides about it.
	Accounts Verb = "accounts"
	// Hashes shows accounts or password hashes.
	Hashes Verb = "hashes"
	// Secrets prints keys or passwords that a store keeps.
	Secrets Verb = "secrets"
	// KillAll stops every process, or the first one.
	KillAll Verb = "kill-all"
)

// The verbs for permissions. With holds what is given.
const (
	// Permit gives a file a mode; without With, the mode of another file.
	Permit Verb = "permit"
	// Own gives a file an owner or a group.
	Own Verb = "own"
	// Mark changes a file's access list, its attributes or its label.
	Mark Verb = "mark"
	// Lend lets a program run with privileges of its own.
	Lend Verb = "lend"
)

// The verbs for names and folders.
const (
	// Alias makes To lead to Object.
	Alias Verb = "alias"
	// Cover hides a folder behind another one.
	Cover Verb = "cover"
	// Clean deletes what nobody keeps below a folder.
	Clean Verb = "clean"
)

// The verbs for processes, services, packages and users. Their objects are names.
const (
	// Kill sends a signal, which is With, to the process with a PID, KillNamed to those with a name, and Close to those that use a file.
	Kill      Verb = "kill"
	KillNamed Verb = "kill-named"
	Close     Verb = "close"
	// Stop stops a service; Disable changes how a service runs, or whether it does.
	Stop    Verb = "stop"
	Disable Verb = "disable"
	// Uninstall removes packages; Install puts their programs where programs are found.
	Uninstall Verb = "uninstall"
	Install   Verb = "install"
	// Attach attaches to a process, as a debugger does.
	Attach Verb = "attach"
	// RemoveHome removes a user together with the home.
	RemoveHome Verb = "remove-home"
	// Kernel triggers a kernel function that crashes the machine.
	Kernel Verb = "kernel"
	// Unregister deletes a key of the registry.
	Unregister Verb = "unregister"
	// Govern does what is reserved for the person.
	Govern Verb = "govern"
	// Ungate starts an agent whose calls the gate does not see.
	Ungate Verb = "ungate"
)

// The verbs whose result another command of the same line may use.
const (
	// List prints the names in a folder; Show prints the object's own name.
	List Verb = "list"
	Show Verb = "show"
	// Seek asks for the processes that a pattern picks, or with the kind Whole the first one; Trace asks for those with a name or using a file; Census for all.
	Seek   Verb = "seek"
	Trace  Verb = "trace"
	Census Verb = "census"
	// Pick keeps some lines of its input, or with the kind Whole some of all processes.
	Pick Verb = "pick"
	// Mounts tells where file systems are mounted.
	Mounts Verb = "mounts"
	// Search prints the names below a folder that pass the tests in With, which are pairs of a class and a value; Sweep deletes these files.
	Search Verb = "search"
	Sweep  Verb = "sweep"
	// Run runs the object as a command line, or as a program with the words in With.
	Run Verb = "run"
	// Carry passes its words to an unknown program.
	Carry Verb = "carry"
)

// Verbs returns all verbs.
func Verbs() []Verb {
	return []Verb{
		Use, Read, Inspect, Create, MakeFolder, Write, Replace, Empty, Delete, Discard, Trash, Copy, Move, Fill, Link,
		Format, Partition, Destroy, Boot, Memory, Accounts, Hashes, Secrets, KillAll,
		Permit, Own, Mark, Lend, Alias, Cover, Clean,
		Kill, KillNamed, Close, Stop, Disable, Uninstall, Install, Attach, RemoveHome, Kernel, Unregister, Govern, Ungate,
		List, Show, Seek, Trace, Census, Pick, Mounts, Search, Sweep, Run, Carry,
	}
}

// Known reports whether v is one of the verbs.
func (v Verb) Known() bool { return slices.Contains(Verbs(), v) }

// Alters reports whether the verb changes or removes a file.
func (v Verb) Alters() bool {
	return slices.Contains([]Verb{Create, Write, Fill, Replace, Empty, Delete, Discard, Trash, Move}, v)
}

// Role says how the object is named.
type Role string

// The roles.
const (
	// Operand is a word that is the object's name.
	Operand Role = "operand"
	// Option is the value of an option.
	Option Role = "option"
	// Target is where sources go: a file, or a folder that takes them.
	Target Role = "target"
	// Inside is the name that a source gets if the target is a folder.
	Inside Role = "inside"
	// Mention is a word that is no operand but may contain a name.
	Mention Role = "mention"
)

// ObjectKind is the kind of an object.
type ObjectKind string

// The kinds of objects.
const (
	Path   ObjectKind = "path"
	Device ObjectKind = "device"
	// Name is the name of a user.
	Name ObjectKind = "name"
	// Whole is no object of its own.
	Whole ObjectKind = "whole"
)

// Phase says which phase considers an operation.
type Phase string

// The phases.
const (
	// Both is every phase.
	Both Phase = ""
	// Final is the guard alone.
	Final Phase = "final"
	// Graded is the effects judge alone.
	Graded Phase = "graded"
)

// Object is what an operation acts on.
type Object struct {
	Kind ObjectKind
	// Word is the object's name, as far as it is known. A zero Word with the kind Whole has no name.
	Word shell.Word
	// Host says that the object is on another machine.
	Host bool
	// Written is the name as the call writes it, including its machine.
	Written shell.Word
}

// Operation is one thing that a command would do.
type Operation struct {
	Verb   Verb
	Object Object
	// To is where Copy, Move and Link put their object; the zero Word if that is not given.
	To   shell.Word
	Role Role
	// With is what the object is given: a mode, an owner, a signal, words.
	With []shell.Word
	// Phase says which phase considers the operation.
	Phase Phase
	// Recursive says that everything below a folder is included.
	Recursive bool
	// Parts says that part of the object's word may be the name: what follows an equal sign, an at sign, a colon or a comma, or an option's letter.
	Parts bool
	// Phrase describes what this program does, in the third person without a subject ("copies files to"); "" for the verb's own phrase.
	Phrase string
}
