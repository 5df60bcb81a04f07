// Package powershell reads command lines of PowerShell and of cmd.exe and
// returns what they would run, in the terms of package shell.
//
// It knows words, quotes, pipes, blocks, simple values and the table of
// commands in tables.txt. What it does not know is a problem of its result,
// never an error: whoever judges the result asks about it.
package powershell
