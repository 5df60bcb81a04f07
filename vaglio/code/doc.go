// Package code reads inline programs of other languages than the shell's:
// python -c, a here-document for node, perl -e, awk.
//
// [Reader] is the [shell.ProgramReader] of the product. It cuts a program into
// tokens in one pass, by what the table says of the language's comments,
// strings and operators, and evaluates it abstractly by one evaluator for all:
// literals, joins, variables, decoders, lists, the program's functions. What
// its functions do stands in verbs.txt, by language; a call that touches
// files, processes or the network becomes a [shell.Call], a command that it
// runs is read by the shell reader in turn.
//
// What cannot be known stays unknown, and unknown text that is run or
// evaluated is a problem. Every bound is one too: a program that is too long,
// too deep or too costly never passes in silence. Names that no statement led
// to are read by themselves at the end, so that what the evaluator does not
// understand hides nothing.
package code
