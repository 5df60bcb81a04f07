// Package effects is the judge that reads what a call would do to the world
// and grades it by what could not be undone and whom it would touch.
//
// A call is read into a list of [Effect]. Read the package in this order: judge.go
// takes a proposal and grades what it finds; executor.go looks at what an executor
// is given, names.go, namedtools.go and filetool.go at what its name says; command.go
// goes through the commands of a command line, which programs.go looks up in the
// tables of package commands; lines.go turns a line of a table into effects, tells the
// facts that lines ask for and lists the rules for which no line is enough;
// operations.go holds what a program does to files against where they lie, which
// places.go knows. The other files hold the rules, by what they are about.
//
// The statements of a database are told apart by package sql. An executor of which no
// more is known is read by the verbs and nouns of its name.
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
