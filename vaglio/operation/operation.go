// Package operation holds the words in which the engine speaks of what a call
// would do: a verb, the object that it is done to, and what is known of both.
// It knows no program, no place and no rule.
package operation

import (
	"slices"

	"github.com/metnos/vaglio/vaglio/shell"
)

// Verb says what is done to an object.
type Verb string

// The verbs for files.
const (
	// Use hands a file to a program of which nothing else is known.
	Use Verb = "use"
	// Read reads a file, or lists a folder with Recursive.
	Read Verb = "read"
	// Inspect reads a file and tells what it is like, not what is in it.
	Inspect Verb = "inspect"
	// Create makes a file; what is there stays.
	Create Verb = "create"
	// MakeFolder makes a folder.
	MakeFolder Verb = "make-folder"
	// Write changes a file or adds to it.
	Write Verb = "write"
	// Replace writes a whole file anew: what was in it is gone.
	Replace Verb = "replace"
	// Empty takes a file's content and leaves its name.
	Empty Verb = "empty"
	// Delete removes a file, with Recursive a folder and all below it.
	Delete Verb = "delete"
	// Discard removes what can be had again, such as an empty folder.
	Discard Verb = "discard"
	// Trash moves a file to the trash, from which it can be had again.
	Trash Verb = "trash"
	// Copy reads Object, whose copy goes to To.
	Copy Verb = "copy"
	// Move takes Object from where it lies and puts it to To.
	Move Verb = "move"
	// Fill puts into a folder what an installation makes, under names that nobody
	// tells but for those of With.
	Fill Verb = "fill"
	// Link makes To another name of Object.
	Link Verb = "link"
)

// The verbs for what is no file. Their object may be empty: the program then
// does it to whatever it is set up for.
const (
	// Format makes a file system on a device, or erases it.
	Format Verb = "format"
	// Partition changes a device's partition table.
	Partition Verb = "partition"
	// Destroy destroys a volume, a pool, an array or a container of a disk.
	Destroy Verb = "destroy"
	// Boot changes what the machine starts.
	Boot Verb = "boot"
	// Memory writes to raw memory.
	Memory Verb = "memory"
	// Accounts changes who may log in or become root; with an object, as far
	// as that decides about it.
	Accounts Verb = "accounts"
	// Hashes shows accounts or password hashes.
	Hashes Verb = "hashes"
	// Secrets gives out keys or passwords that a store keeps.
	Secrets Verb = "secrets"
	// KillAll stops every process, or the first one.
	KillAll Verb = "kill-all"
)

// The verbs for rights. With holds what is given.
const (
	// Permit gives a file a mode; without With that of another file.
	Permit Verb = "permit"
	// Own gives a file an owner or a group.
	Own Verb = "own"
	// Mark changes a file's access list, its attributes or its label.
	Mark Verb = "mark"
	// Lend lets a program run with rights of its own.
	Lend Verb = "lend"
)

// The verbs for what a file is called by.
const (
	// Alias makes To lead to Object.
	Alias Verb = "alias"
	// Cover hides a folder behind another one.
	Cover Verb = "cover"
	// Clean deletes what nobody keeps below a folder.
	Clean Verb = "clean"
)

// The verbs for processes, services, packages and users, which are objects by
// their names.
const (
	// Kill sends the process of a number a signal, which is With, KillNamed
	// those of a name, and Close those that use a file.
	Kill      Verb = "kill"
	KillNamed Verb = "kill-named"
	Close     Verb = "close"
	// Stop stops a service, Disable changes how one runs or that it does.
	Stop    Verb = "stop"
	Disable Verb = "disable"
	// Uninstall removes packages, Install puts their programs where programs are
	// found.
	Uninstall Verb = "uninstall"
	Install   Verb = "install"
	// Attach takes hold of a process.
	Attach Verb = "attach"
	// RemoveHome removes a user with the home.
	RemoveHome Verb = "remove-home"
	// Kernel turns a switch that crashes the machine.
	Kernel Verb = "kernel"
	// Unregister deletes a key of the registry.
	Unregister Verb = "unregister"
	// Govern is for the person alone.
	Govern Verb = "govern"
	// Ungate starts an agent whose calls the gate does not see.
	Ungate Verb = "ungate"
)

// The verbs for what another command of the same line may take up.
const (
	// List prints the names in a folder, Show the object's own name.
	List Verb = "list"
	Show Verb = "show"
	// Seek asks for the processes that a pattern picks, or with the kind Whole
	// for the first one, Trace for those of a name or of a file, Census for all
	// of them.
	Seek   Verb = "seek"
	Trace  Verb = "trace"
	Census Verb = "census"
	// Pick keeps some lines of what it is fed, or with the kind Whole some of
	// all processes.
	Pick Verb = "pick"
	// Mounts tells where file systems are mounted.
	Mounts Verb = "mounts"
	// Search prints the names below a folder that pass the tests of With, each of
	// which has a class and a value, and Sweep deletes what has them.
	Search Verb = "search"
	Sweep  Verb = "sweep"
	// Run runs the object as a command line, or as a program with the words
	// of With.
	Run Verb = "run"
	// Carry hands its words to a program that is not known.
	Carry Verb = "carry"
)

// Verbs are all verbs.
func Verbs() []Verb {
	return []Verb{
		Use, Read, Inspect, Create, MakeFolder, Write, Replace, Empty, Delete, Discard, Trash, Copy, Move, Fill, Link,
		Format, Partition, Destroy, Boot, Memory, Accounts, Hashes, Secrets, KillAll,
		Permit, Own, Mark, Lend, Alias, Cover, Clean,
		Kill, KillNamed, Close, Stop, Disable, Uninstall, Install, Attach, RemoveHome, Kernel, Unregister, Govern, Ungate,
		List, Show, Seek, Trace, Census, Pick, Mounts, Search, Sweep, Run, Carry,
	}
}

// Known reports whether a text is one of the verbs.
func (v Verb) Known() bool { return slices.Contains(Verbs(), v) }

// Alters reports whether a file is another one, or gone, once the verb is done.
func (v Verb) Alters() bool {
	return slices.Contains([]Verb{Create, Write, Fill, Replace, Empty, Delete, Discard, Trash, Move}, v)
}

// Role says how the object came to be named.
type Role string

// The roles.
const (
	// Operand is a word that stands for the object by itself.
	Operand Role = "operand"
	// Option is the value of an option.
	Option Role = "option"
	// Target is where sources go: a file, or a folder that takes them.
	Target Role = "target"
	// Inside is the name that a source gets if the target is a folder.
	Inside Role = "inside"
	// Mention is a word that is no operand but may hold a name.
	Mention Role = "mention"
)

// ObjectKind says what sort of thing an object is.
type ObjectKind string

// The kinds of objects.
const (
	Path   ObjectKind = "path"
	Device ObjectKind = "device"
	// Name is the name of a user.
	Name ObjectKind = "name"
	// Whole stands for no object of its own.
	Whole ObjectKind = "whole"
)

// Phase says who asks for an operation.
type Phase string

// The phases.
const (
	// Both is for every phase.
	Both Phase = ""
	// Final is for the guard alone.
	Final Phase = "final"
	// Graded is for the judge of effects alone.
	Graded Phase = "graded"
)

// Object is what something is done to.
type Object struct {
	Kind ObjectKind
	// Word is the object's name, as far as it is known. The zero Word of the
	// kind Whole has no name.
	Word shell.Word
	// Host says that the name is one of another machine.
	Host bool
	// Written is the name as the call has it, with the machine that it is of.
	Written shell.Word
}

// Operation is one thing that a command would do.
type Operation struct {
	Verb   Verb
	Object Object
	// To is where Copy, Move and Link put their object; the zero Word when
	// that is not said.
	To   shell.Word
	Role Role
	// With is what the object is given: a mode, an owner, a signal, words.
	With []shell.Word
	// Phase says which phase weighs it.
	Phase Phase
	// Recursive says that all below a folder is meant.
	Recursive bool
	// Parts says that a part of the object's word may be the name: what follows
	// an equal sign, an at sign, a colon or a comma, or an option's letter.
	Parts bool
	// Phrase is how the verb is said of this program, in the third person
	// without a subject ("copies files to"); "" for the verb's own.
	Phrase string
}
