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
	// Discard removes what can be had again: an empty folder, or a file that
	// goes to the bin.
	Discard Verb = "discard"
	// Copy reads Object, whose copy goes to To.
	Copy Verb = "copy"
	// Move takes Object from where it lies and puts it to To.
	Move Verb = "move"
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

// Verbs are all verbs.
func Verbs() []Verb {
	return []Verb{
		Use, Read, Inspect, Create, MakeFolder, Write, Replace, Empty, Delete, Discard, Copy, Move, Link,
		Format, Partition, Destroy, Boot, Memory, Accounts, Hashes, Secrets, KillAll,
	}
}

// Known reports whether a text is one of the verbs.
func (v Verb) Known() bool { return slices.Contains(Verbs(), v) }

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
	// Whole stands for no object of its own.
	Whole ObjectKind = "whole"
)

// Object is what something is done to.
type Object struct {
	Kind ObjectKind
	// Word is the object's name, as far as it is known. The zero Word of the
	// kind Whole has no name.
	Word shell.Word
	// Host says that the name is one of another machine.
	Host bool
}

// Operation is one thing that a command would do.
type Operation struct {
	Verb   Verb
	Object Object
	// To is where Copy, Move and Link put their object; the zero Word when
	// that is not said.
	To   shell.Word
	Role Role
	// Recursive says that all below a folder is meant.
	Recursive bool
	// Parts says that a part of the object's word may be the name: what follows
	// an equal sign, an at sign, a colon or a comma, or an option's letter.
	Parts bool
	// Phrase is how the verb is said of this program, in the third person
	// without a subject ("copies files to"); "" for the verb's own.
	Phrase string
}
