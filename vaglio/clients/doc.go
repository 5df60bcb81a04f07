// Package clients knows the tools of the coding agents whose hooks vaglio supports. The
// knowledge is data, one file per client in tables/*.txt, with one section per tool:
//
//	[ExitWorktree] data=action,discard_changes
//	action=keep   = own; leaves the worktree as it is
//	action=remove = delete irreversible workspace; discards its changes
//
// The header names tools that share their arguments; a name that ends with a star stands for all names that begin like it. `role=keys` says what arguments
// are for: shape (what their names say, as for any other executor), data (never run), command, code, path, goal or url. A key that no header lists is read by
// its shape. A call whose argument `key:text` is anything but a text is sent back. `shell` says that a shell runs the commands; `language=` gives the
// language of programs.
//
// A line `tests = effect; message` says what a call does. The first line whose tests all hold decides; if there is none, the call is unknown. A test is `key`
// (the argument is given and not empty), `!key`, `key=a|b`, or `.`, which always holds. An effect is written as in the tables of package commands, or is a
// rule: @shape (what name and arguments say, as for any other executor), @runs (what the programs do that it runs), @fetches (what requesting its addresses
// does), @writes (what writing to its goals does).
//
// A mistake in a table is an error at startup: `file:line:column: what`.
package clients
