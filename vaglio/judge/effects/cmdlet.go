package effects

import "strings"

// isCmdlet reports whether a name is a PowerShell command: Verb-Noun.
func isCmdlet(name string) bool {
	verb, noun, ok := strings.Cut(name, "-")
	return ok && len(verb) > 1 && noun != "" && verb[0] >= 'A' && verb[0] <= 'Z' && noun[0] >= 'A' && noun[0] <= 'Z' && strings.Trim(strings.ToLower(verb+noun), "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}

// cmdlet judges a PowerShell command by its verb, and by the path that it
// names.
func (r *reading) cmdlet(v *invocation) []Effect {
	sec := &section{long: true, valued: map[string]bool{}}
	for _, o := range []string{"path", "literalpath", "filepath", "destination", "outfile", "method", "uri", "body", "filter", "include", "exclude", "value", "newname", "itemtype", "name", "property", "first", "last", "encoding", "delimiter", "depth", "pattern"} {
		sec.valued["-"+o] = true
	}
	lower := make([]arg, len(v.args))
	for i, a := range v.args {
		if lower[i] = a; strings.HasPrefix(a.text, "-") {
			lower[i].text = strings.ToLower(a.text)
		}
	}
	c := &call{invocation: v, parsed: parse(lower, sec), r: r, sec: sec}
	if c.has("-whatif", "-?") {
		return reads()
	}
	verb, noun, _ := strings.Cut(strings.ToLower(v.name), "-")
	paths := append(c.values("-path", "-literalpath", "-filepath", "-destination"), c.operands...)
	switch verb + "-" + noun {
	case "remove-item", "clear-content", "clear-item", "clear-recyclebin":
		var out []Effect
		for _, p := range paths {
			out = append(out, r.remove(v, p)...)
		}
		if len(paths) == 0 {
			return unknown("deletes files whose names are not known", v.name)
		}
		return out
	case "set-content", "add-content", "out-file", "new-item", "copy-item", "move-item", "rename-item", "tee-object", "export-csv", "export-clixml", "compress-archive", "expand-archive", "set-item":
		return append(own("writes files"), c.writeAll("writes", paths)...)
	case "invoke-webrequest", "invoke-restmethod":
		method := "GET"
		if m, ok := c.value("-method"); ok {
			method = m.text
		}
		address := c.operand(0)
		if u, ok := c.value("-uri"); ok {
			address = u.text
		}
		out := r.request(method, address, "")
		for _, o := range c.values("-outfile") {
			out = append(out, r.write(v, o, "writes")...)
		}
		return out
	case "set-location", "push-location", "pop-location", "set-variable", "new-object", "import-csv", "import-module", "import-clixml", "write-host", "write-output", "write-verbose", "write-error", "write-warning", "add-type", "new-timespan", "add-member", "invoke-pester", "invoke-scriptanalyzer", "set-strictmode", "start-sleep", "new-guid", "update-typedata":
		return reads()
	}
	switch {
	case verb == "format" && noun != "table" && noun != "list" && noun != "wide" && noun != "custom" && noun != "hex", verb == "out" && noun == "printer":
		verb = "change"
	}
	switch verb {
	case "get", "select", "sort", "measure", "where", "foreach", "format", "group", "test", "compare", "convertto", "convertfrom", "convert", "join", "split", "resolve", "read", "show", "find", "search", "wait", "out", "trace", "debug":
		return r.disclosures(v, c.parsed, reads())
	case "stop", "restart", "suspend":
		if noun == "computer" {
			return one(KindPower, "changes the power state of the machine", v.name)
		}
	}
	return unknown("runs a command of PowerShell that changes something: "+v.name+" "+join(v.args), v.name)
}
