// Package effects is the judge that reads what a call would do to the world
// and grades it by what could not be undone and whom it would touch.
//
// A call is read into a list of [Effect]. Command lines go through the shell
// reader, so that wrappers, quoting and carried code make no difference; each
// simple command is then looked up in tables of what commands do, which are
// kept as data in the tables folder. SQL text is split by a lexer that knows
// several dialects. Tools for files, requests and git are read by their
// arguments; any other executor by the verbs and nouns of its name.
//
// The lowest effect decides. What stays in the workspace and can be undone or
// rebuilt passes; what reaches further, or is lost for good, is asked. What is
// not known is asked, too. The intent can make up for a mild effect that it
// plainly asks for, never for one that is irreversible, shared or public; text
// inside the arguments is never intent.
//
// The package is deterministic: it runs nothing, opens no file and asks no
// model.
package effects
