package catalog

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/metnos/vaglio/internal/strictjson"
)

// noFiles refuses to load what a schema refers to.
type noFiles struct{}

// Load always fails: a schema must be complete.
func (noFiles) Load(string) (any, error) {
	return nil, errors.New("it is not loaded")
}

const (
	// schemaURL is a name for the compiler; nothing is ever fetched from it.
	schemaURL = "vaglio:///args"
	// schemaField is the field of an executor that holds the schema.
	schemaField = "args_schema"
)

// compile compiles a schema, or returns the mistakes in it with their places.
func compile(doc any) (*jsonschema.Schema, []failure) {
	if doc == nil {
		return nil, nil
	}
	raw, err := strictjson.Marshal(doc)
	if err != nil {
		return nil, []failure{{schemaField, "args_schema cannot be written as JSON: " + err.Error()}}
	}
	var plain any
	if err := strictjson.Unmarshal(raw, &plain); err != nil {
		return nil, []failure{{schemaField, "args_schema: " + err.Error()}}
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(noFiles{})
	c.UseRegexpEngine(func(pattern string) (jsonschema.Regexp, error) { return regexp.Compile(pattern) }) // which no input can stall
	if err := c.AddResource(schemaURL, plain); err != nil {
		return nil, schemaFaults(plain, err)
	}
	schema, err := c.Compile(schemaURL)
	if err != nil {
		return nil, schemaFaults(plain, err)
	}
	return schema, nil
}

// schemaFaults converts the compiler's error: which fields are wrong, what they are, and what they
// should be.
func schemaFaults(doc any, err error) []failure {
	if elsewhere, ok := errors.AsType[*jsonschema.LoadURLError](err); ok {
		return []failure{{schemaField, fmt.Sprintf("args_schema refers to %q, another document, which is not loaded; write the definition into the schema", shorten(elsewhere.URL))}}
	}
	if wrapped, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		err = wrapped.Err
	}
	invalid, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return []failure{{schemaField, "args_schema is not a JSON Schema: " + tidy(err)}}
	}
	var all []failure
	gatherFaults(doc, invalid, &all)
	slices.SortStableFunc(all, func(a, b failure) int { return strings.Compare(a.field, b.field) })
	return slices.Compact(all)
}

// gatherFaults collects the leaves of an error. Of several alternatives, it follows the one that was
// probably meant.
func gatherFaults(doc any, e *jsonschema.ValidationError, into *[]failure) {
	causes := e.Causes
	if _, either := e.ErrorKind.(*kind.AnyOf); either {
		causes = []*jsonschema.ValidationError{meant(causes)}
	}
	for _, cause := range causes {
		gatherFaults(doc, cause, into)
	}
	if len(causes) > 0 {
		return
	}
	must := explain(e.ErrorKind)
	if f, ok := e.ErrorKind.(*kind.Format); ok {
		must += ": " + tidy(f.Err)
	}
	at := schemaField + pointer(e.InstanceLocation)
	*into = append(*into, failure{at, fmt.Sprintf("%s is %s; it %s", at, shown(doc, e.InstanceLocation), must)})
}

// meant returns the alternative that fits best: one of the right type, and among those the one whose
// error is deepest.
func meant(causes []*jsonschema.ValidationError) *jsonschema.ValidationError {
	depth := func(e *jsonschema.ValidationError) int {
		whole := len(e.InstanceLocation)
		for len(e.Causes) > 0 { // also through references
			e = e.Causes[0]
		}
		if _, other := e.ErrorKind.(*kind.Type); other && len(e.InstanceLocation) == whole {
			return -1
		}
		return len(e.InstanceLocation)
	}
	return slices.MaxFunc(causes, func(a, b *jsonschema.ValidationError) int { return cmp.Compare(depth(a), depth(b)) })
}

// shown returns the part of the schema at a place.
func shown(doc any, at []string) string {
	for _, step := range at {
		switch in := doc.(type) {
		case map[string]any:
			doc = in[step]
		case []any:
			if n, err := strconv.Atoi(step); err == nil {
				doc = in[n]
			}
		}
	}
	text, err := strictjson.Marshal(doc)
	if err != nil {
		return "no JSON"
	}
	return shorten(string(text))
}

// tidy returns the compiler's error on one line.
func tidy(err error) string {
	text := strings.ReplaceAll(err.Error(), schemaURL, "")
	return strings.Join(strings.Fields(text), " ")
}
