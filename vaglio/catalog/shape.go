package catalog

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// mostFailures is how many failures one error lists.
const mostFailures = 8

// failure is one thing that is wrong with the arguments.
type failure struct{ field, msg string }

// report joins failures into one error; the first one determines the field.
func report(k Kind, executor string, failures []failure) *Error {
	e := &Error{Kind: k, Executor: executor, Field: failures[0].field}
	parts := make([]string, 0, mostFailures+1)
	for i, f := range failures {
		if i == mostFailures {
			parts = append(parts, fmt.Sprintf("and %d more", len(failures)-i))
			break
		}
		parts = append(parts, label(f.field)+" "+f.msg)
	}
	e.Msg = strings.Join(parts, "; ")
	return e
}

func label(field string) string {
	if field == "" {
		return "the arguments"
	}
	return "field " + strconv.Quote(shorten(field))
}

func schemaError(executor string, err error) error {
	invalid, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return &Error{Kind: KindSchema, Executor: executor, Msg: "the arguments cannot be validated"}
	}
	var all []failure
	gather(invalid, &all)
	slices.SortStableFunc(all, func(a, b failure) int { return strings.Compare(a.field, b.field) })
	all = slices.Compact(all)
	if len(all) == 0 {
		all = []failure{{msg: "do not fit the schema"}}
	}
	return report(KindSchema, executor, all)
}

// gather collects the leaves of an error, which name the real causes. Alternatives are reported as
// one failure, because their leaves contradict each other.
func gather(e *jsonschema.ValidationError, into *[]failure) {
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf, *kind.Not, *kind.Contains:
		*into = append(*into, failure{pointer(e.InstanceLocation), explain(e.ErrorKind)})
		return
	}
	if len(e.Causes) > 0 {
		for _, cause := range e.Causes {
			gather(cause, into)
		}
		return
	}
	at := pointer(e.InstanceLocation)
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			*into = append(*into, failure{at + "/" + escape(name), "is missing; it is required"})
		}
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			*into = append(*into, failure{at + "/" + escape(name), "is not known to this executor; leave it out"})
		}
	default:
		*into = append(*into, failure{at, explain(k)})
	}
}

// explain says what would be right. It only describes the schema's side.
func explain(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		return "must be of type " + strings.Join(k.Want, " or ") + ", not " + k.Got
	case *kind.Enum:
		return "must be one of " + list(k.Want)
	case *kind.Const:
		return "must be " + list([]any{k.Want})
	case *kind.Pattern:
		return "must match the pattern " + strconv.Quote(shorten(k.Want))
	case *kind.Format:
		return "must be a valid " + k.Want
	case *kind.UniqueItems:
		return "must not hold the same item twice"
	case *kind.FalseSchema:
		return "is not allowed here"
	}
	for _, tell := range [...]func(jsonschema.ErrorKind) string{explainForm, explainSize, explainRange} {
		if text := tell(k); text != "" {
			return text
		}
	}
	return "must fit the schema's " + strconv.Quote(strings.Join(k.KeywordPath(), "/"))
}

func explainForm(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.AnyOf, *kind.OneOf:
		return "must fit one of the allowed forms, and not several where one is asked"
	case *kind.Not:
		return "must not have the excluded form"
	case *kind.Contains, *kind.MinContains, *kind.MaxContains:
		return "must have the right number of items of the required form"
	case *kind.DependentRequired:
		return "must have " + strings.Join(k.Missing, ", ") + " beside " + strconv.Quote(k.Prop)
	case *kind.Dependency:
		return "must have " + strings.Join(k.Missing, ", ") + " beside " + strconv.Quote(k.Prop)
	default:
		return ""
	}
}

func explainSize(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.MinLength:
		return fmt.Sprintf("must have at least %d characters, not %d", k.Want, k.Got)
	case *kind.MaxLength:
		return fmt.Sprintf("must have at most %d characters, not %d", k.Want, k.Got)
	case *kind.MinItems:
		return fmt.Sprintf("must have at least %d items, not %d", k.Want, k.Got)
	case *kind.MaxItems:
		return fmt.Sprintf("must have at most %d items, not %d", k.Want, k.Got)
	case *kind.MinProperties:
		return fmt.Sprintf("must have at least %d fields, not %d", k.Want, k.Got)
	case *kind.MaxProperties:
		return fmt.Sprintf("must have at most %d fields, not %d", k.Want, k.Got)
	default:
		return ""
	}
}

func explainRange(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Minimum:
		return "must be at least " + k.Want.RatString()
	case *kind.Maximum:
		return "must be at most " + k.Want.RatString()
	case *kind.ExclusiveMinimum:
		return "must be more than " + k.Want.RatString()
	case *kind.ExclusiveMaximum:
		return "must be less than " + k.Want.RatString()
	case *kind.MultipleOf:
		return "must be a multiple of " + k.Want.RatString()
	default:
		return ""
	}
}

// list returns the values that a schema names.
func list(values []any) string {
	const most = 12
	words := make([]string, 0, len(values))
	for i, v := range values {
		if i == most {
			words = append(words, "…")
			break
		}
		if s, ok := v.(string); ok {
			words = append(words, strconv.Quote(shorten(s)))
			continue
		}
		words = append(words, shorten(fmt.Sprint(v)))
	}
	return strings.Join(words, ", ")
}

// pointer returns the steps as a JSON pointer.
func pointer(steps []string) string {
	var b strings.Builder
	for _, step := range steps {
		b.WriteByte('/')
		b.WriteString(escape(step))
	}
	return b.String()
}

func escape(step string) string {
	return strings.ReplaceAll(strings.ReplaceAll(step, "~", "~0"), "/", "~1")
}
