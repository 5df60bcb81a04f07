package headline

import (
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/wording"
	"github.com/metnos/vaglio/vaglio/wording/spoken"
)

// byGraphQL is what the judge says of a mutation.
const byGraphQL wording.Phrase = "sends a request that changes something by GraphQL"

// mutates names the fields of a mutation in GraphQL, which are what is called.
func (c *call) mutates(said wording.Sentence) wording.Sentence {
	texts := []string{c.command}
	for _, key := range c.keys {
		texts = append(texts, c.args[key]...)
	}
	for _, text := range texts {
		if fields := mutationsIn(text, nil); len(fields) > 0 {
			called := make([]string, len(fields))
			for i := range fields {
				called[i] = fields[i].name
			}
			return append(wording.Sentence{{Phrase: "calls %s by GraphQL", Args: []wording.Clause{named(called)}}}, said[1:]...)
		}
	}
	return said
}

// fieldsAsSteps returns what the mutations that a tool is given do, each as a step of that name.
func fieldsAsSteps(args map[string]any) (steps []step) {
	variables, _ := args["variables"].(map[string]any)
	if text, ok := args["variables"].(string); ok {
		_ = strictjson.Unmarshal([]byte(text), &variables) // else none is known
	}
	at := map[string]int{}
	for _, key := range spoken.List("texts mutations") {
		text, _ := args[key].(string)
		for _, f := range mutationsIn(text, variables) {
			steps = joinedBy(steps, step{words: reading.Words(f.name), args: opened(f.args), times: 1}, at)
		}
	}
	return steps
}

// field is what a mutation calls, and the arguments that it gives it.
type field struct {
	name string
	args map[string]any
}

// token matches what counts in GraphQL: texts, comments, brackets, signs, names and numbers.
var token = regexp.MustCompile(`"""(?s:.*?)"""|"(?:\\.|[^"\\])*"|#[^\n\r]*|[(){}\[\]:]|[$@]?-?[\w.]+`)

// graphQL is a text that is read.
type graphQL struct {
	tokens    []string
	variables map[string]any
	depth     int // of brackets in brackets
}

// longestQuery is the size of the longest text in bytes that is read as GraphQL.
const longestQuery = 64 << 10

// mutationsIn returns what the mutations in a text call.
func mutationsIn(text string, variables map[string]any) (called []field) {
	if !strings.Contains(text, "mutation") || len(text) > longestQuery {
		return nil
	}
	g := graphQL{tokens: slices.DeleteFunc(token.FindAllString(text, -1), func(t string) bool { return t[0] == '#' }), variables: variables}
	for mutates := false; len(g.tokens) > 0; {
		switch t := g.next(); t {
		case "mutation", "query", "subscription", "fragment":
			mutates = t == "mutation"
		case "(":
			g.object(")")
		case "{":
			if called = append(called, g.fields()...); !mutates {
				called = nil
			}
		}
	}
	return called
}

// next takes the next token, "" at the end.
func (g *graphQL) next() string {
	if len(g.tokens) == 0 {
		return ""
	}
	t := g.tokens[0]
	g.tokens = g.tokens[1:]
	return t
}

// takes takes the next token if it is this one.
func (g *graphQL) takes(t string) bool {
	ok := len(g.tokens) > 0 && g.tokens[0] == t
	if ok {
		g.tokens = g.tokens[1:]
	}
	return ok
}

// nested counts how deep brackets nest, until what it returns is called. Deeper than anybody writes, the text ends.
func (g *graphQL) nested() func() {
	const most = 50
	if g.depth++; g.depth > most {
		g.tokens = nil
	}
	return func() { g.depth-- }
}

// fields reads the fields up to the bracket that ends them.
func (g *graphQL) fields() (out []field) {
	defer g.nested()()
	for len(g.tokens) > 0 && !g.takes("}") {
		switch t := g.next(); {
		case t == "{":
			g.fields() // of what comes back
		case t == "(" && len(out) > 0:
			out[len(out)-1].args = g.object(")")
		case t == ":" && len(out) > 0:
			out[len(out)-1].name = g.next() // before it stands what the answer is called
		case !strings.ContainsAny(t[:1], "\"@$.[]:()"):
			out = append(out, field{name: t, args: map[string]any{}})
		}
	}
	return out
}

// object reads names with their values up to the bracket that ends them.
func (g *graphQL) object(end string) map[string]any {
	defer g.nested()()
	out := map[string]any{}
	for len(g.tokens) > 0 && !g.takes(end) {
		if name := g.next(); g.takes(":") {
			out[name] = g.value()
		}
	}
	return out
}

// value reads a value; nil is one that is not known.
func (g *graphQL) value() any {
	defer g.nested()()
	switch t := g.next(); {
	case t == "{":
		return g.object("}")
	case t == "[":
		var list []any
		for len(g.tokens) > 0 && !g.takes("]") {
			list = append(list, g.value())
		}
		return list
	case strings.HasPrefix(t, "$"):
		return g.variables[t[1:]]
	default:
		return strings.Trim(t, `"`)
	}
}

// webhook describes what is done to a webhook, or to anything else that is made or set up with an address, which it will
// request by itself from then on. The call itself does not request the address.
func (c *call) webhook(kind operation.Kind) wording.Sentence {
	t, ok := c.named()
	hook := ok && t.thing != nil && slices.Contains(t.thing.Words, "webhook")
	keeps := (hook || kind == operation.KindSend) && c.keepsAddress(hook)
	asked := len(c.urls) > 0 && c.first("method", "httpmethod") != ""
	if c.sends() || !keeps && (!hook || asked) {
		return nil
	}
	said, _ := c.object()
	return said
}

// keepsAddress reports whether a tool sets up something with an address and does not request that now.
func (c *call) keepsAddress(hook bool) bool {
	does, _, _ := c.verb()
	own := c.words[min(c.server, len(c.words)):]
	asks := !hook && slices.ContainsFunc(own, func(w string) bool { return spoken.Is("requests names", w) })
	return does != nil && (does.Makes || does.Partly) && len(c.urls) > 0 && !asks
}

// asks describes a request to an address.
const asks wording.Phrase = "sends a %s request to %s"

// request describes a tool's request to an address.
func (c *call) request(kind operation.Kind) wording.Sentence {
	method := strings.ToUpper(c.first("method", "httpmethod", "verb", "requestmethod"))
	urls := c.urls
	if at := c.first("endpoint", "path", "apipath", "dockerapipath", "kubernetesapipath", "route", "uri"); len(urls) == 0 && strings.HasPrefix(at, "/") && c.has("api", "http", "rest", "request", "call", "proxy") {
		urls = []string{at}
	}
	if kind != operation.KindSend && c.keepsAddress(false) || len(urls) == 0 || method == "" || strings.ContainsFunc(method, func(r rune) bool { return r < 'A' || r > 'Z' }) {
		return nil
	}
	return wording.Sentence{{Phrase: asks, Args: []wording.Clause{{Text: method}, named(urls)}}}
}
