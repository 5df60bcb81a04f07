// Package reading says what a proposed call means: which command lines and
// programs stand in its arguments, which of them are paths, addresses and
// statements, and what could not be read. A call is read once, and whoever
// judges it uses the same [Reading].
//
// It reads by shape. A text under a key that names a command or a program is
// one, whatever the executor is called: every such key, at any depth, in lists
// and in JSON that stands inside a string. Some keys name a command in company
// only, such as input or text: they count where the executor runs what it is
// given, by its name, by what the catalog says, or by the capability code:exec.
// A caller's claims can add to what is read and take nothing away.
//
// What the names of arguments mean stands in one table, see [Role]. What is
// known of a client's tool wins over shape, see [Options.Clients].
package reading
