// Package reading says what a proposed call means: which command lines and programs its arguments hold, which arguments are paths, addresses and statements,
// and what could not be read. A call is read once, and everything that judges it uses the same [Reading].
//
// It reads by shape. Text under a key that names a command or a program is one, whatever the executor is called: under every such key, at any depth, in lists
// and in JSON inside strings. Some keys, such as input or text, name a command only in some executors: those that run what they are given, judging by their
// name, the catalog, or the capability code:exec. A caller's claims can add to what is read but remove nothing.
//
// One table defines what the names of arguments mean, see [Role]. What is known about a client's tool overrides the shape, see [Options.Clients].
package reading
