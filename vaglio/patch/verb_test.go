package patch

import "fmt"

// String names the verb in lower case.
func (v Verb) String() string {
	names := [...]string{Write: "write", Create: "create", Delete: "delete", Move: "move", Copy: "copy", Link: "link", Mode: "mode"}
	if int(v) < len(names) && names[v] != "" {
		return names[v]
	}
	return fmt.Sprintf("Verb(%d)", uint8(v))
}
