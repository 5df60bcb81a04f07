package effects

import "strings"

// reader judges a command that only reads, whatever its options.
func (r *reading) reader(v *invocation) []Effect {
	p := parse(v.args, &section{valued: readerValued()})
	out := []Effect{usual(KindRead).with("reads with "+v.name, "")}
	switch v.name {
	case "cd", "grep", "egrep", "rg", "echo", "printf", "test", "[", "[[", "ps", "printenv":
	default:
		for _, a := range p.values("-o", "--output", "--output-file", "--log-file", "--report-file") {
			if v.name == "sort" || v.name == "yq" || v.name == "xmllint" || v.name == "jq" || strings.HasPrefix(p.flagName("--output", "--output-file", "--log-file", "--report-file"), "--") {
				out = append(out, r.write(v, a, "writes")...)
			}
		}
	}
	if p.has("-i", "--inplace", "--in-place") && (v.name == "yq" || v.name == "perl" || v.name == "gojq" || v.name == "jaq" || v.name == "tomlq" || v.name == "xq" || v.name == "dasel") {
		for _, a := range p.operands[min(1, len(p.operands)):] {
			out = append(out, r.write(v, a, "changes")...)
		}
	}
	return r.disclosures(v, p, out)
}

func readerValued() map[string]bool { return map[string]bool{"-o": true, "--output": true} }

// flagName returns the first of the names that is present.
func (p *parsed) flagName(names ...string) string {
	for _, n := range names {
		if p.has(n) {
			return n
		}
	}
	return ""
}

// tool judges a development tool.
func (r *reading) tool(v *invocation) []Effect {
	sec := &section{valued: map[string]bool{"-o": true, "--output": true, "--out": true, "--outfile": true, "--outdir": true, "--out-dir": true, "-d": true, "--output-dir": true, "--outDir": true}}
	c := &call{invocation: v, parsed: parse(v.args, sec), r: r, sec: sec}
	if out := c.outreach(); out != nil {
		return out
	}
	out := own("runs " + v.name + " in the workspace")
	for _, a := range c.operands {
		if p := r.world.placeOf(a, v.cwd); p == placeSecret {
			out = append(out, usual(KindCredentials).with("reads the secrets in "+a.text, a.text))
		}
	}
	return append(out, c.outputs()...)
}
