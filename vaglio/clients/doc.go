// Package clients knows the tools of the coding agents whose hooks are
// understood. The knowledge is data, a file per client in tables/*.txt, a
// section per tool:
//
//	[ExitWorktree] data=action,discard_changes
//	action=keep   = own; leaves the worktree as it is
//	action=remove = delete irreversible workspace; discards its changes
//
// The header names tools that share their arguments; a name with a star at its
// end stands for all that begin so. `role=keys` says what the arguments are for:
// shape (what their names say, as for any other executor), data (never run),
// command, code, path, goal or url. A key that no header lists is read by its
// shape. `shell` says that commands are run by a shell, `language=` in which
// language programs are written.
//
// A line `tests = effect; message` says what a call does. The first whose tests
// all hold decides, and a call for which none holds is unknown. A test is `key`
// (the argument is given and not empty), `!key`, `key=a|b`, or `.`, which always holds. An
// effect is written as in the tables of package commands, or is a rule: @shape
// (what name and arguments say, as for any other executor), @runs (what the
// programs do that it runs), @fetches (what asking its addresses does), @writes
// (what writing to its goals does).
//
// A mistake stops the start: `file:line:column: what`.
package clients
