// Package shell reads a command line as a shell reads it and says what it
// would run, as far as that can be known without running it.
//
// [Read] parses the source with mvdan.cc/sh and evaluates the syntax tree
// abstractly: quoting, variables, braces, arithmetic, functions, loops and
// pure substitutions are resolved where they are constant; whatever cannot be
// known is kept as an unknown part of a [Word] and never guessed. Wrappers
// such as sudo, env or xargs are peeled, and text that ends up in an
// interpreter (bash -c, eval, a here-document, a pipe into sh, python -c) is
// read in turn; programs of other languages by [Options.Programs]. Nothing is executed, no file is opened and the environment is
// not consulted: the result depends on the arguments alone.
//
// The reader errs on the side of more: both branches of a conditional are
// read, exit does not end the reading, and a function that might be defined
// counts as defined and as missing. What is data, such as a quoted argument
// of echo or a commit message, never becomes a [Command].
//
// The work is bounded by a budget of steps that does not depend on the clock.
// A source that is too large, too deep, too costly or not a shell program
// yields a [Problem], and what could be read before it. A caller must treat a
// problem as a finding, never as a pass.
package shell
