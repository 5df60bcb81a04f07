// Package commands is the only place that knows what programs do. The knowledge is data, a section per program in tables/*.txt: which options take values,
// what operands and options are, what is done to them, and what a line of the program means as a whole. One parser separates options from operands, and one
// evaluator turns a command into operations. See tables/README.md.
package commands
