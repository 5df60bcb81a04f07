// Package powershell reads command lines of PowerShell and of cmd.exe and returns what they would run, in the terms of package shell.
//
// It reads a text once, from beginning to end, and what is in brackets as a text of its own: words, quotes, pipes, blocks, variables, joined texts, and the
// commands of tables.txt. Anything beyond that is a problem of its result, never an error: whoever judges the result asks about it.
package powershell
