package about

import (
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/effects"
	"github.com/metnos/vaglio/vaglio/mask"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/shell"
)

// Obscured returns the places where a masked secret decides what the call does, so that
// someone who reads the masked call cannot tell. The worst comes first; the result is empty
// if everything that decides is readable. Seen returns a proposal with its reading; if nil,
// the call is read by its shape alone.
func (n *Namer) Obscured(p vaglio.Proposal, seen func(vaglio.Proposal) vaglio.Proposal) []approval.Obscured {
	t := &trace{at: map[approval.Obscured]bool{}}
	found := false
	put := func(string) string { found = true; return trail }
	mask.Replaced("", map[string]any{"executor": p.Executor}, put)
	t.note(approval.ObscuredCommand, found)
	p.Args = mask.Replaced(p.Executor, p.Args, put)
	if !found {
		return nil
	}
	if p.Context.Reading = nil; seen != nil {
		p = seen(p)
	}
	p.Context.Reading = n.reading(p)
	t.reading(p.Context.Reading)
	for _, e := range n.judge.Read(p).Effects {
		t.effect(&e)
	}
	var all []approval.Obscured
	for _, o := range approval.AllObscured() {
		if t.at[o] {
			all = append(all, o)
		}
	}
	return all
}

// trail replaces every secret and is then looked for in the reading of the call. It has the
// form of a word, like the text that masking leaves in a command.
const trail = "vagliomask7b1e0d93"

// trace records where the trail was found.
type trace struct {
	at map[approval.Obscured]bool
}

func (t *trace) note(o approval.Obscured, found bool) {
	if found {
		t.at[o] = true
	}
}

func (t *trace) reading(rd *reading.Reading) {
	for _, u := range rd.URLs {
		t.address(u.Text)
		t.note(approval.ObscuredAddress, u.Text == trail)
	}
	for _, r := range rd.Recipients {
		t.note(approval.ObscuredRecipient, strings.Contains(r.Text, trail))
	}
	for i := range rd.Commands {
		c := &rd.Commands[i]
		if !c.IsLine() || len(rd.Gaps) > 0 { // what was not read may be a program, too
			t.program(c.Text)
		}
		if c.Script == nil {
			continue
		}
		for _, p := range c.Script.Problems {
			t.note(approval.ObscuredCommand, trailed(p.Word))
		}
		for j := range c.Script.Commands {
			t.command(&c.Script.Commands[j])
		}
	}
}

// command checks one command: its name, what it decodes, and where it runs.
func (t *trace) command(c *shell.Command) {
	if len(c.Argv) == 0 {
		return
	}
	t.note(approval.ObscuredCommand, strings.Contains(c.Name, trail) || trailed(c.Argv[0]))
	if c.Remote != nil {
		t.note(approval.ObscuredRecipient, trailed(c.Remote.Target))
	}
	if c.Name == "echo" || c.Name == "printf" {
		return // their output is checked where it is read
	}
	operands := c.Argv[1:]
	t.note(approval.ObscuredDecoder, decodes(c) && (trailed(c.Stdin.Text) || slices.ContainsFunc(operands, trailed)))
	for _, w := range operands {
		if trailed(w) {
			t.program(w.String())
		}
	}
}

// program checks text that may be a program: what it decodes, and the addresses in it.
func (t *trace) program(text string) {
	t.note(approval.ObscuredDecoder, strings.Contains(text, trail) && decoding.MatchString(text))
	t.address(text)
}

// address checks the host and path of each address in the text for the trail.
func (t *trace) address(text string) {
	for _, m := range addresses.FindAllStringSubmatch(text, -1) {
		where := m[1]
		if i := strings.IndexAny(where, "?#"); i >= 0 {
			where = where[:i]
		}
		host, path, _ := strings.Cut(where, "/")
		host = host[strings.LastIndexByte(host, '@')+1:]
		t.note(approval.ObscuredAddress, strings.Contains(host, trail) || strings.Contains(path, trail))
	}
}

// effect checks the target of an effect. A credential is meant to be secret, and so is the
// value in NAME=value.
func (t *trace) effect(e *effects.Effect) {
	if !strings.Contains(e.Target, trail) {
		return
	}
	if strings.Contains(e.Target, "://") {
		t.address(e.Target)
		return
	}
	switch e.Kind {
	case operation.KindSend, operation.KindPublish, operation.KindPeople:
		t.note(approval.ObscuredRecipient, true)
	case operation.KindCredentials:
	case operation.KindForeignCode, operation.KindUnknown:
		t.note(approval.ObscuredCommand, true)
	case operation.KindDelete, operation.KindOverwrite, operation.KindMove, operation.KindKill:
		t.note(approval.ObscuredObject, true)
	default:
		t.note(approval.ObscuredObject, e.Reversibility == operation.Irreversible && !strings.Contains(e.Target, "="+trail))
	}
}

func trailed(w shell.Word) bool { return strings.Contains(w.String(), trail) }

var (
	// addresses matches an address and captures what follows its scheme.
	addresses = regexp.MustCompile(`(?i)\b[a-z][a-z0-9+.-]*://([^\s'"<>` + "`" + `]+)`)
	// decoding matches calls of functions that decode text.
	decoding = regexp.MustCompile(`(?i)(b(ase)?(16|32|64|85)_?decode|decode_?base64|decode64|frombase64string|from_base64|base64::decode|atob|a2b_(hex|base64)|unhexlify|fromhex|hex2bin|decodestring|unpack)\s*\(`)
)

// decodes reports whether a command decodes its input or its operands.
func decodes(c *shell.Command) bool {
	switch c.Name {
	case "base64", "base32", "basenc", "gbase64", "gbase32", "b64", "openssl", "gpg", "gpg2", "age", "rage", "gzip", "bzip2", "xz", "zstd":
		return slices.ContainsFunc(c.Argv[1:], undoing)
	case "xxd":
		return slices.ContainsFunc(c.Argv[1:], func(w shell.Word) bool { return strings.HasPrefix(w.String(), "-r") })
	case "uudecode", "gunzip", "zcat", "gzcat", "bunzip2", "bzcat", "unxz", "xzcat", "zstdcat", "unzstd", "tr", "rev":
		return true
	case "jq":
		return slices.ContainsFunc(c.Argv[1:], func(w shell.Word) bool { return strings.Contains(w.String(), "@base64d") })
	default:
		return false
	}
}

// undoing reports whether a word is the option that makes an encoder, compressor or
// encrypter work in reverse.
func undoing(w shell.Word) bool {
	text := w.String()
	if strings.HasPrefix(text, "--") {
		return strings.HasPrefix(text, "--d")
	}
	return strings.HasPrefix(text, "-") && strings.ContainsAny(text, "dD")
}
