// Package code reads inline programs of other languages than the shell's:
// python -c, a here-document for node, perl -e, awk.
//
// [Reader] is the [shell.ProgramReader] of the product. It cuts a program into
// tokens in one pass, by what the table says of the language's comments,
// strings and operators, and notes there which brackets and words belong
// together and which stretches the program may pass by. Then one scan for all
// languages reads expression by expression, without a grammar of statements:
// literals, joins, variables, decoders, lists, the program's functions. A
// variable that is set where the program may pass by has one value more. What
// its functions do stands in verbs.txt, by language; a call that touches
// files, processes or the network becomes a [shell.Call], a command that it
// runs is read by the shell reader in turn.
//
// What cannot be known stays unknown, and unknown text that is run or
// evaluated is a problem. Every bound is one too: a program that is too long,
// too deep or too costly never passes in silence. Names that the scan did not
// come to are read by themselves at the end, so that what it does not
// understand hides nothing.
package code
