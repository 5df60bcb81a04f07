// Package filemode tells what the modes that chmod takes would allow.
package filemode

import "strings"

// The bits of one digit of an octal mode.
const (
	mayWrite = 2
	mayRead  = 4
)

// BreaksFolder reports whether a mode lets everybody write, or removes rights that a system folder
// needs.
func BreaksFolder(mode string) bool {
	if octal, ok := lastDigits(mode); ok {
		owner, other := octal[0], octal[2]
		return (other-'0')&mayWrite != 0 || owner < '5' || (octal[1] == '0' && other == '0' && owner != '7')
	}
	return Opens(mode) || takes(mode)
}

// ClosesFolder reports whether an octal mode keeps everybody but the owner and the group out.
func ClosesFolder(mode string) bool {
	octal, ok := lastDigits(mode)
	return ok && (octal[2]-'0')&1 == 0
}

// lastDigits returns the digits for owner, group and others of an octal mode.
func lastDigits(mode string) (string, bool) {
	if mode == "" || strings.Trim(mode, "01234567") != "" {
		return "", false
	}
	const digits = 3
	for len(mode) < digits {
		mode = "0" + mode
	}
	return mode[len(mode)-digits:], true
}

// Opens reports whether a mode lets the group or others write.
func Opens(mode string) bool {
	if octal, ok := lastDigits(mode); ok {
		return (octal[1]-'0')&mayWrite != 0 || (octal[2]-'0')&mayWrite != 0
	}
	return grants(mode, 'w', true)
}

// OpensToAll reports whether a mode lets everybody write and, in a folder, delete what others put
// there.
func OpensToAll(mode string) bool {
	if octal, ok := lastDigits(mode); ok {
		mode = strings.TrimLeft(mode, "0")
		return (octal[2]-'0')&mayWrite != 0 && (len(mode) == len(octal) || len(mode) > len(octal) && mode[0] != '1')
	}
	return grants(mode, 'w', false)
}

// Shows reports whether a mode lets others read.
func Shows(mode string) bool {
	if octal, ok := lastDigits(mode); ok {
		return (octal[2]-'0')&mayRead != 0
	}
	return grants(mode, 'r', true)
}

// grants reports whether a symbolic mode gives others a right. A clause without a class of users is
// subject to the umask, so it counts only for writing, and only if anyway is set.
func grants(mode string, right byte, anyway bool) bool {
	for clause := range strings.SplitSeq(mode, ",") {
		at := strings.IndexAny(clause, "+=")
		if at < 0 || strings.IndexByte(clause[at+1:], right) < 0 {
			continue
		}
		if strings.ContainsAny(clause[:at], "oa") || (at == 0 && right == 'w' && anyway) {
			return true
		}
	}
	return false
}

// Private reports whether a mode leaves a file to its owner alone, or only takes rights from the
// group and others.
func Private(mode string) bool {
	if octal, ok := lastDigits(mode); ok {
		return octal[1:] == "00"
	}
	takes := false
	for clause := range strings.SplitSeq(mode, ",") {
		at := strings.IndexAny(clause, "-+=")
		if at > 0 && strings.Trim(clause[:at], "u") == "" && strings.Trim(clause[at+1:], "rwx") == "" {
			continue // which is the owner's
		}
		if at <= 0 || strings.Trim(clause[:at], "go") != "" || clause[at] != '-' && clause[at:] != "=" {
			return false
		}
		takes = true
	}
	return takes
}

// Bars reports whether a mode takes from the owner what a program or a library needs: to be read
// and, if run is set, to be executed.
func Bars(mode string, run bool) bool {
	if octal, ok := lastDigits(mode); ok {
		owner := octal[0] - '0'
		return owner&mayRead == 0 || (run && owner&1 == 0)
	}
	for clause := range strings.SplitSeq(mode, ",") {
		at := strings.IndexAny(clause, "-=")
		if at < 0 || (at > 0 && !strings.ContainsAny(clause[:at], "ua")) {
			continue
		}
		hasX, hasR := strings.Contains(clause[at:], "x"), strings.Contains(clause[at:], "r")
		if taken := clause[at] == '-'; hasR == taken || (run && hasX == taken) {
			return true
		}
	}
	return false
}

// takes reports whether a symbolic mode takes rights from the owner or everybody.
func takes(mode string) bool {
	for clause := range strings.SplitSeq(mode, ",") {
		at := strings.IndexAny(clause, "-=")
		if at < 0 {
			continue
		}
		who, what := clause[:at], clause[at+1:]
		everybody := who == "" || strings.ContainsAny(who, "ua")
		if clause[at] == '-' && everybody && strings.ContainsAny(what, "rwx") {
			return true
		}
		if clause[at] == '=' && (everybody || who == "o" || who == "go") && !strings.Contains(what, "x") {
			return true
		}
	}
	return false
}

// SetsID reports whether a mode sets the setuid or setgid bit.
func SetsID(mode string) bool {
	if octal, ok := lastDigits(mode); ok {
		const withBits = 4
		return len(mode) >= withBits && len(octal) > 0 && mode[len(mode)-withBits] >= '2' && mode[len(mode)-withBits] != '3' && mode[len(mode)-withBits] != '0'
	}
	for clause := range strings.SplitSeq(mode, ",") {
		if who, what, ok := strings.Cut(clause, "+"); ok && strings.Contains(what, "s") && who != "o" {
			return true
		}
	}
	return false
}
