// Package effects is the judge that works out what a call would do to the world and grades it by
// what cannot be undone and whom it would affect.
//
// A call is read into a list of [Effect]. Read the package in this order: judge.go takes a
// proposal and grades what it finds; executor.go looks at an executor's arguments, and names.go,
// namedtools.go and filetool.go at what its name says; command.go goes through the commands of a
// command line, which programs.go looks up in the tables of package commands; lines.go turns a
// table line into effects, answers the facts that lines ask for and lists the rules for what a
// line cannot express; operations.go checks what a program does to files against where they are,
// which places.go knows. The other files hold the rules by subject.
//
// Package sql tells database statements apart. If nothing else is known about an executor, the
// verbs and nouns of its name decide.
//
// The lowest effect decides. What stays in the workspace and can be undone or rebuilt passes; what
// reaches further or is lost for good is asked about, and so is what is unknown. The intent can
// make up for a mild effect that it plainly asks for, but never for one that is irreversible,
// shared or public. Text in the arguments is never intent.
//
// The package is deterministic: it runs nothing, opens no file and asks no model.
package effects
