package httpapi

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/metnos/vaglio/vaglio/clients"
)

// contract compares every exchange of a test with the OpenAPI document. It is a RoundTripper, so
// that no test can forget it.
type contract struct {
	t    testing.TB
	next http.RoundTripper
	doc  *document
}

// document is the OpenAPI document, with schemas that are compiled on first use.
type document struct {
	root     map[string]any
	mu       sync.Mutex
	compiler *jsonschema.Compiler
}

func openDocument(t testing.TB) *document {
	t.Helper()
	text, err := yaml.YAMLToJSON(builtin)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("openapi.json", parsed); err != nil {
		t.Fatal(err)
	}
	return &document{root: parsed.(map[string]any), compiler: c}
}

func (d *document) at(path ...string) any {
	var v any = d.root
	for _, p := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[p]
		if m, ok := v.(map[string]any); ok {
			if ref, ok := m["$ref"].(string); ok {
				v = d.at(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
			}
		}
	}
	return v
}

// validate checks a body against a schema of the document.
func (d *document) validate(schema any, body []byte) error {
	m, ok := schema.(map[string]any)
	if !ok {
		return fmt.Errorf("no schema")
	}
	if m["type"] == "string" && m["$ref"] == nil {
		return nil // a text body
	}
	ref, ok := m["$ref"].(string)
	if !ok {
		return fmt.Errorf("body schemas are references, got %v", m)
	}
	d.mu.Lock()
	s, err := d.compiler.Compile("openapi.json" + ref)
	d.mu.Unlock()
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	return s.Validate(v)
}

// template returns the document's path template that matches the URL's path.
func (d *document) template(path string) string {
	got := strings.Split(path, "/")
	for p := range d.at("paths").(map[string]any) {
		want := strings.Split(p, "/")
		if slices.EqualFunc(want, got, func(w, g string) bool {
			return w == g || strings.HasPrefix(w, "{") && g != ""
		}) {
			return p
		}
	}
	return ""
}

func (c *contract) RoundTrip(r *http.Request) (*http.Response, error) {
	var sent []byte
	if r.Body != nil {
		sent, _ = io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(sent))
	}
	resp, err := c.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	if err := c.check(r, sent, resp, body); err != nil {
		c.t.Errorf("%s %s → %d breaks the OpenAPI document: %v\n%s", r.Method, r.URL.Path, resp.StatusCode, err, body)
	}
	return resp, nil
}

func (c *contract) check(r *http.Request, sent []byte, resp *http.Response, body []byte) error {
	mediaType, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if resp.StatusCode >= 400 {
		if mediaType != "application/problem+json" {
			return fmt.Errorf("a failure of type %q", mediaType)
		}
		if err := c.doc.validate(map[string]any{"$ref": "#/components/schemas/Problem"}, body); err != nil {
			return err
		}
	}
	path := c.doc.template(r.URL.EscapedPath())
	op := c.doc.at("paths", path, strings.ToLower(r.Method))
	if path == "" || op == nil {
		if resp.StatusCode != http.StatusNotFound && resp.StatusCode != http.StatusMethodNotAllowed {
			return fmt.Errorf("the document has no such call")
		}
		return nil
	}
	answer := c.doc.at("paths", path, strings.ToLower(r.Method), "responses", strconv.Itoa(resp.StatusCode))
	if answer == nil {
		return fmt.Errorf("the document has no such status")
	}
	content, _ := answer.(map[string]any)["content"].(map[string]any)
	if content == nil {
		if len(body) > 0 {
			return fmt.Errorf("a body where none is documented")
		}
		return nil
	}
	typed, ok := content[mediaType].(map[string]any)
	if !ok {
		return fmt.Errorf("media type %q, want one of %v", mediaType, slices.Sorted(maps.Keys(content)))
	}
	if err := c.doc.validate(typed["schema"], body); err != nil {
		return err
	}
	// The document must permit every request that the API accepted.
	if request := c.requestSchema(path, r.Method); request != nil && resp.StatusCode < 300 {
		if err := c.doc.validate(request, sent); err != nil {
			return fmt.Errorf("the request was taken: %w", err)
		}
	}
	return nil
}

func (c *contract) requestSchema(path, method string) any {
	media, _ := c.doc.at("paths", path, strings.ToLower(method), "requestBody", "content", "application/json").(map[string]any)
	return media["schema"]
}

func TestEveryRouteIsInTheDocument(t *testing.T) {
	d := openDocument(t)
	var want, got []string
	for _, r := range routes() {
		want = append(want, r.method+" "+r.path)
		security := d.at("paths", r.path, strings.ToLower(r.method), "security")
		if list, _ := security.([]any); r.public != (security != nil && len(list) == 0) {
			t.Errorf("%s %s: public is %v, the document says otherwise", r.method, r.path, r.public)
		}
	}
	for path, item := range d.at("paths").(map[string]any) {
		for method := range item.(map[string]any) {
			if method != "parameters" {
				got = append(got, strings.ToUpper(method)+" "+path)
			}
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("routes differ from the document (-routes +document):\n%s", diff)
	}
}

// TestClientsAreThoseKnown checks that the document names exactly the clients whose tools are
// known.
func TestClientsAreThoseKnown(t *testing.T) {
	var want []any
	for _, name := range clients.Names() {
		want = append(want, name)
	}
	got := openDocument(t).at("components", "schemas", "Context", "properties", "client", "enum")
	if diff := cmp.Diff(any(want), got); diff != "" {
		t.Errorf("clients differ from the document (-known +document):\n%s", diff)
	}
}

// TestSchemasCompile finds broken references that no exchange happens to use.
func TestSchemasCompile(t *testing.T) {
	d := openDocument(t)
	for name := range d.at("components", "schemas").(map[string]any) {
		if _, err := d.compiler.Compile("openapi.json#/components/schemas/" + name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDocumentHasNoEmptyMember finds an unquoted comma in a sentence: within YAML's braces it
// starts another, unintended member, which linters reject.
func TestDocumentHasNoEmptyMember(t *testing.T) {
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case nil:
			t.Errorf("%s is empty; put its sentence in quotes", at)
		case map[string]any:
			for name, member := range v {
				walk(at+"/"+name, member)
			}
		case []any:
			for i, member := range v {
				if member != nil { // null may be one of the values
					walk(fmt.Sprintf("%s/%d", at, i), member)
				}
			}
		}
	}
	walk("", openDocument(t).root)
}
