// Package code reads inline programs in languages other than the shell's: python -c, a
// here-document for node, perl -e, awk.
//
// [Reader] is the product's [shell.ProgramReader]. In one pass it cuts a program into tokens,
// using the comments, strings and operators that the table lists for the language, and notes which
// brackets and words belong together and which parts the program may skip. Then one scan for all
// languages reads the program expression by expression, without a grammar of statements: literals,
// concatenations, variables, decoders, lists, and the program's own functions. A variable that is
// set in a part that may be skipped has one more possible value. The table verbs.txt says what
// functions do, by language. A call that touches files, processes or the network becomes a
// [shell.Call]; the shell reader reads a command that the program runs.
//
// What cannot be known stays unknown, and unknown text that is run or evaluated is a problem.
// Every limit is one, too: a program that is too long, too deep or too costly never passes
// silently. Names that the scan did not reach are read separately at the end, so that what it does
// not understand hides nothing.
package code
