package catalog

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/strictjson"
)

func parse(t *testing.T, doc string) any {
	t.Helper()
	var v any
	if err := strictjson.Unmarshal([]byte(doc), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func newCatalog(t *testing.T, ex Executor, closed bool) *Catalog {
	t.Helper()
	c, err := New(Config{Executors: []Executor{ex}, Closed: closed, Home: "/home/u"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSchema(t *testing.T) {
	tests := map[string]struct{ schema, args, field, want string }{
		"required":       {`{"type":"object","required":["path"],"properties":{"path":{"type":"string"}}}`, `{}`, "/path", `field "/path" is missing; it is required`},
		"integer":        {`{"type":"object","properties":{"n":{"type":"integer"}}}`, `{"n":"s3cr3t"}`, "/n", `field "/n" must be of type integer, not string`},
		"enum":           {`{"properties":{"mode":{"type":"string","enum":["a","b"]}}}`, `{"mode":"s3cr3t"}`, "/mode", `field "/mode" must be one of "a", "b"`},
		"bool_no_int":    {`{"properties":{"n":{"type":"integer"}}}`, `{"n":true}`, "/n", `must be of type integer, not boolean`},
		"types":          {`{"properties":{"n":{"type":["integer","null"]}}}`, `{"n":"s3cr3t"}`, "/n", `must be of type null or integer, not string`},
		"unknown":        {`{"additionalProperties":false}`, `{"x/y~":"s3cr3t"}`, "/x~1y~0", `is not known to this executor`},
		"nested":         {`{"properties":{"o":{"properties":{"l":{"items":{"type":"string"}}}}}}`, `{"o":{"l":["a",1]}}`, "/o/l/1", `must be of type string, not number`},
		"pattern":        {`{"properties":{"s":{"pattern":"^a+$"}}}`, `{"s":"s3cr3t"}`, "/s", `must match the pattern "^a+$"`},
		"const":          {`{"properties":{"s":{"const":7}}}`, `{"s":"s3cr3t"}`, "/s", `must be 7`},
		"length":         {`{"properties":{"s":{"maxLength":3}}}`, `{"s":"s3cr3t"}`, "/s", `must have at most 3 characters, not 6`},
		"minimum":        {`{"properties":{"n":{"minimum":1.5}}}`, `{"n":1}`, "/n", `must be at least 3/2`},
		"big_integer":    {`{"properties":{"n":{"maximum":9007199254740992}}}`, `{"n":9007199254740993}`, "/n", `must be at most 9007199254740992`},
		"any_of":         {`{"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{}`, "", `the arguments must fit one of`},
		"false":          {`{"properties":{"s":false}}`, `{"s":1}`, "/s", `is not allowed here`},
		"dependent":      {`{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, "", `must have b beside "a"`},
		"unique":         {`{"properties":{"l":{"uniqueItems":true}}}`, `{"l":["s3cr3t","s3cr3t"]}`, "/l", `must not hold the same item twice`},
		"ref":            {`{"$defs":{"p":{"type":"string"}},"properties":{"s":{"$ref":"#/$defs/p"}}}`, `{"s":1}`, "/s", `must be of type string`},
		"all_told":       {`{"required":["a","b"],"properties":{"c":{"type":"string"}}}`, `{"c":1}`, "/a", `field "/a" is missing; it is required; field "/b" is missing; it is required; field "/c" must be`},
		"short":          {`{"properties":{"s":{"minLength":7}}}`, `{"s":"s3cr3t"}`, "/s", `must have at least 7 characters, not 6`},
		"few_items":      {`{"properties":{"l":{"minItems":2}}}`, `{"l":["s3cr3t"]}`, "/l", `must have at least 2 items, not 1`},
		"many_items":     {`{"properties":{"l":{"maxItems":1}}}`, `{"l":["s3cr3t","b"]}`, "/l", `must have at most 1 items, not 2`},
		"few_fields":     {`{"properties":{"o":{"minProperties":1}}}`, `{"o":{}}`, "/o", `must have at least 1 fields, not 0`},
		"many_fields":    {`{"properties":{"o":{"maxProperties":1}}}`, `{"o":{"a":1,"b":2}}`, "/o", `must have at most 1 fields, not 2`},
		"more_than":      {`{"properties":{"n":{"exclusiveMinimum":3}}}`, `{"n":3}`, "/n", `must be more than 3`},
		"less_than":      {`{"properties":{"n":{"exclusiveMaximum":3}}}`, `{"n":3}`, "/n", `must be less than 3`},
		"multiple":       {`{"properties":{"n":{"multipleOf":2}}}`, `{"n":3}`, "/n", `must be a multiple of 2`},
		"not":            {`{"properties":{"s":{"not":{"type":"string"}}}}`, `{"s":"s3cr3t"}`, "/s", `must not have the excluded form`},
		"contains":       {`{"properties":{"l":{"contains":{"type":"integer"}}}}`, `{"l":["s3cr3t"]}`, "/l", `must have the right number of items of the required form`},
		"one_of":         {`{"properties":{"n":{"oneOf":[{"type":"integer"},{"minimum":0}]}}}`, `{"n":1}`, "/n", `must fit one of the allowed forms, and not several`},
		"twelve":         {`{"properties":{"s":{"enum":["a","b","c","d","e","f","g","h","i","j","k","l"]}}}`, `{"s":"s3cr3t"}`, "/s", `"k", "l"`},
		"thirteen":       {`{"properties":{"s":{"enum":["a","b","c","d","e","f","g","h","i","j","k","l","m"]}}}`, `{"s":"s3cr3t"}`, "/s", `"k", "l", …`},
		"a_long_name":    {`{"required":["` + strings.Repeat("n", 99) + `"]}`, `{}`, "/" + strings.Repeat("n", 99), `field "/` + strings.Repeat("n", 99) + `" is missing`},
		"a_longer_name":  {`{"required":["` + strings.Repeat("n", 100) + `"]}`, `{}`, "/" + strings.Repeat("n", 100), `field "/` + strings.Repeat("n", 99) + `…" is missing`},
		"property_names": {`{"propertyNames":{"maxLength":2}}`, `{"long":1}`, "", `characters`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCatalog(t, Executor{Name: "x", ArgsSchema: parse(t, tt.schema)}, false)
			args := parse(t, tt.args).(map[string]any)
			e, ok := errors.AsType[*Error](c.Check("x", args, ""))
			if !ok {
				t.Fatal("accepted")
			}
			if e.Kind != KindSchema || e.Field != tt.field || !strings.Contains(e.Error(), tt.want) {
				t.Errorf("got %s %q %q, want %q %q", e.Kind, e.Field, e, tt.field, tt.want)
			}
			if strings.Contains(e.Error(), "s3cr3t") || strings.Contains(e.Error(), "\n") {
				t.Errorf("tells a value, or is not a line: %q", e)
			}
		})
	}
}

func TestSchemaFailuresAreBounded(t *testing.T) {
	c := newCatalog(t, Executor{Name: "x", ArgsSchema: parse(t, `{"additionalProperties":false}`)}, false)
	args := map[string]any{}
	for i := range 1000 {
		args[strings.Repeat("k", i+1)] = i
	}
	err := c.Check("x", args, "")
	if err == nil || !strings.Contains(err.Error(), "and 992 more") || len(err.Error()) > 4000 {
		t.Errorf("got %d bytes", len(err.Error()))
	}
}

func TestSchemaAccepts(t *testing.T) {
	c := newCatalog(t, Executor{Name: "x", ArgsSchema: parse(t, `{"type":"object","properties":{"n":{"type":"integer"}}}`)}, false)
	for _, args := range []map[string]any{nil, {}, {"n": strictjson.Number("123456789012345678901234567890")}, {"other": "x"}} {
		if err := c.Check("x", args, ""); err != nil {
			t.Errorf("%v: %v", args, err)
		}
	}
}

func TestUnknownExecutor(t *testing.T) {
	open, closed := newCatalog(t, Executor{Name: "x"}, false), newCatalog(t, Executor{Name: "x"}, true)
	if err := open.Check("y", nil, ""); err != nil {
		t.Error(err)
	}
	if err := (*Catalog)(nil).Check("y", nil, ""); err != nil {
		t.Error(err)
	}
	e, ok := errors.AsType[*Error](closed.Check("y", nil, ""))
	if !ok || e.Kind != KindUnknown || !strings.Contains(e.Msg, `executor "y" is not in the catalog`) {
		t.Errorf("got %v", e)
	}
	if err := closed.Check("x", nil, ""); err != nil {
		t.Error(err)
	}
	if _, ok := closed.Find("x"); !ok {
		t.Error("does not find x")
	}
	if _, ok := (*Catalog)(nil).Find("x"); ok {
		t.Error("nothing knows x")
	}
}

// TestWhatACatalogTells checks the accessors of a catalog and of nil.
func TestWhatACatalogTells(t *testing.T) {
	c, err := New(Config{Executors: []Executor{{Name: "b"}, {Name: "a"}}, Closed: true})
	if err != nil {
		t.Fatal(err)
	}
	if names := strings.Join(c.Names(), " "); names != "a b" || !c.Closed() {
		t.Errorf("%q, closed: %v", names, c.Closed())
	}
	if _, ok := c.Find("c"); ok {
		t.Error("it finds what it has not")
	}
	var none *Catalog
	if none.Names() != nil || none.Closed() || newCatalog(t, Executor{Name: "x"}, false).Closed() {
		t.Error("none has names, or is closed")
	}
	_, err = New(Config{Executors: []Executor{{Name: "a"}, {Name: "a"}}})
	if m, ok := errors.AsType[*MistakeError](err); !ok || m.Index != 1 || m.Field != "name" || m.Unwrap() == nil {
		t.Errorf("%+v", err)
	}
}

// TestHintsAreToldInPart names up to eight hints, and says if there are more.
func TestHintsAreToldInPart(t *testing.T) {
	for n, want := range map[int]string{8: "[/1/**, /2/**, /3/**, /4/**, /5/**, /6/**, /7/**, /8/**]", 9: "/8/**, …]"} {
		var hints []string
		for i := range n {
			hints = append(hints, "/"+string(rune('1'+i))+"/**")
		}
		c := newCatalog(t, Executor{Name: "x", Capabilities: []Capability{{Name: "fs:read", Hint: hints}}}, false)
		if err := c.Check("x", map[string]any{"path": "/etc"}, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d hints: %v, want %s", n, err, want)
		}
	}
}

// TestWithoutAHome puts paths below an unknown home outside every scope.
func TestWithoutAHome(t *testing.T) {
	c, err := New(Config{Executors: []Executor{{Name: "x", Capabilities: []Capability{{Name: "fs:read", Hint: []string{"/**"}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Check("x", map[string]any{"path": "~/x"}, "/tmp"); err == nil || !strings.Contains(err.Error(), "the home is not known") {
		t.Error(err)
	}
}

func TestNewTellsEveryMistake(t *testing.T) {
	_, err := New(Config{Executors: []Executor{
		{Name: " "},
		{Name: "a"},
		{Name: "a"},
		{Name: "type", ArgsSchema: map[string]any{"type": "sting"}},
		{Name: "remote", ArgsSchema: map[string]any{"$ref": "https://example.com/schema.json"}},
		{Name: "file", ArgsSchema: map[string]any{"$ref": "file:///etc/passwd"}},
		{Name: "pattern", ArgsSchema: map[string]any{"pattern": "("}},
		{Name: "relative", Capabilities: []Capability{{Name: "fs:read", Hint: []string{"notes/**"}}}},
		{Name: "host", Capabilities: []Capability{{Name: "network:http", Hint: []string{"https://x/"}}}},
		{Name: "unnamed", Capabilities: []Capability{{}}},
		{Name: "odd", ArgsSchema: func() {}},
		{Name: "two", ArgsSchema: parse(t, `{"type":"sting","minLength":-1}`)},
		{Name: "nowhere", ArgsSchema: parse(t, `{"$ref":"#/nowhere"}`)},
		{Name: "in_a_list", ArgsSchema: parse(t, `{"allOf":[{},{"type":"sting"}]}`)},
		{Name: "empty", ArgsSchema: parse(t, `{"$schema":"http://json-schema.org/draft-07/schema#","items":[]}`)},
	}})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{
		"executor 1 has no name", `"a" is listed twice`, `executor "type": args_schema/type is "sting"`,
		`executor "remote"`, "which is not loaded", `executor "file"`,
		`executor "pattern": args_schema/pattern is "("; it must be a valid regex: `, "missing closing )",
		`hint "notes/**" is not an absolute path`, `hint "https://x/" is not a host`, `executor "unnamed": capability 1 has no name`,
		`executor "odd": args_schema cannot be written as JSON`, `executor "two": args_schema/minLength is -1;`, `executor "two": args_schema/type is "sting";`,
		`executor "nowhere": args_schema is not a JSON Schema`, `executor "in_a_list": args_schema/allOf/1/type is "sting";`,
		`executor "empty": args_schema/items is []; it must have at least 1 items`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not told in:\n%v", want, err)
		}
	}
	if lines := strings.Count(err.Error(), "\n") + 1; lines != 15 {
		t.Errorf("%d lines, want one for each of 15 mistakes:\n%v", lines, err)
	}
}

func TestPathScope(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir+"/in", 0o700); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"in/out": "/etc", "alias": "in", "in/near": "../in", "in/*": "/etc"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	fs := func(hints ...string) Executor {
		return Executor{Name: "x", Capabilities: []Capability{{Name: "fs:read", Hint: hints}, {Name: "fs:write"}}}
	}
	type m = map[string]any
	tests := map[string]struct {
		ex    Executor
		args  m
		cwd   string
		field string // "" means accepted
	}{
		"below":             {fs("/tmp/**"), m{"path": "/tmp/foo/bar.txt"}, "", ""},
		"itself":            {fs("/tmp/**"), m{"path": "/tmp/"}, "", ""},
		"home":              {fs("~/notes/**"), m{"path": "/home/u/notes/x.md"}, "", ""},
		"home_in_args":      {fs("/home/u/notes/**"), m{"path": "~/notes/x.md"}, "", ""},
		"outside":           {fs("~/notes/**", "/tmp/**"), m{"path": "/etc/passwd"}, "", "/path"},
		"neighbour":         {fs("/tmp/a/**"), m{"path": "/tmp/ab"}, "", "/path"},
		"dots":              {fs("/tmp/**"), m{"path": "/tmp/../etc/passwd"}, "", "/path"},
		"dots_inside":       {fs("/tmp/**"), m{"path": "/tmp/a/../b"}, "", ""},
		"one_step":          {fs("/tmp/*.md"), m{"path": "/tmp/a/b.md"}, "", "/path"},
		"one_step_fits":     {fs("/tmp/*.m?"), m{"path": "/tmp/b.md"}, "", ""},
		"any_steps":         {fs("/tmp/**/x.md"), m{"path": "/tmp/a/b/x.md"}, "", ""},
		"letter_of_globs":   {fs("/tmp/*a?"), m{"path": "/tmp/bac"}, "", ""},
		"literal":           {fs("/tmp/a[1].md"), m{"path": "/tmp/a[1].md"}, "", ""},
		"literal_no_class":  {fs("/tmp/a[1].md"), m{"path": "/tmp/a1.md"}, "", "/path"},
		"relative":          {fs("/tmp/**"), m{"path": "b"}, "/tmp/a", ""},
		"relative_climbs":   {fs("/tmp/**"), m{"path": "../../etc/x"}, "/tmp/a", "/path"},
		"relative_nowhere":  {fs("/tmp/**"), m{"path": "b"}, "", "/path"},
		"other_home":        {fs("/**"), m{"path": "~root/x"}, "/tmp", "/path"},
		"everything":        {fs("/**"), m{"path": "/etc/x"}, "", ""},
		"list":              {fs("/tmp/**"), m{"paths": []any{"/tmp/a", "/etc/b"}}, "", "/paths/1"},
		"src":               {fs("/tmp/**"), m{"src": "/tmp/a", "dst": "/var/b"}, "", "/dst"},
		"srcs":              {fs("/tmp/**"), m{"srcs": []any{"/x"}, "dsts": []any{"/tmp/b"}}, "", "/srcs/0"},
		"base":              {fs("/tmp/**"), m{"base_path": "/x"}, "", "/base_path"},
		"bases":             {fs("/tmp/**"), m{"base_paths": []any{"/tmp/a", "/x"}}, "", "/base_paths/1"},
		"template":          {fs("/tmp/**"), m{"dst_template": "/tmp/a/{name}.md"}, "", ""},
		"template_outside":  {fs("/tmp/**"), m{"dst_template": "/etc/{name}"}, "", "/dst_template"},
		"template_climbs":   {fs("/tmp/**"), m{"dst_template": "/tmp/{name}/../../etc/x"}, "", "/dst_template"},
		"template_climbing": {fs("/tmp/**"), m{"dst_template": "{name}/../x"}, "/tmp", "/dst_template"},
		"template_beside":   {fs("/tmp/a/**"), m{"dst_template": "/tmp/a{n}"}, "", "/dst_template"},
		"template_free":     {fs("/tmp/**"), m{"dst_template": "{name}"}, "/tmp", ""},
		"file_url":          {fs("/tmp/**"), m{"path": "file:///etc/passwd"}, "/tmp", "/path"},
		"file_url_inside":   {fs("/tmp/**"), m{"path": "file:///tmp/%61"}, "", ""},
		"file_url_home":     {fs("/tmp/**"), m{"path": "file://tmp"}, "/tmp", "/path"},
		"file_url_unread":   {fs("/tmp/**"), m{"path": "file:///tmp/%6"}, "/tmp", "/path"},
		"file_url_of_host":  {fs("/tmp/**"), m{"path": "file://host/tmp/a"}, "", ""},
		"list_of_texts":     {fs("/tmp/**"), m{"paths": []string{"/tmp/a", "/etc/b"}}, "", "/paths/1"},
		"template_of_home":  {fs("~/notes/**"), m{"dst_template": "$HOME/notes/x"}, "", ""},
		"template_home_out": {fs("~/notes/**"), m{"dst_template": "${HOME}/other/{x}"}, "", "/dst_template"},
		"template_none":     {fs("/tmp/**"), m{"dst_template": "/etc/x"}, "", "/dst_template"},
		"nul":               {fs("/tmp/**"), m{"path": "/tmp/a\x00"}, "", "/path"},
		"not_a_string":      {fs("/tmp/**"), m{"path": m{"a": "/etc"}}, "", "/path"},
		"null":              {fs("/tmp/**"), m{"path": nil}, "", ""},
		"empty":             {fs("/tmp/**"), m{"path": ""}, "/tmp", "/path"},
		"other_key":         {fs("/tmp/**"), m{"query": "/etc/passwd"}, "", ""},
		"no_hints":          {fs(), m{"path": "/etc/x"}, "", ""},
		"arg_hint":          {fs("arg:path"), m{"path": "/etc/x"}, "", ""},
		"arg_hint_only_one": {fs("arg:path"), m{"path": "/etc/x", "dst": "/y"}, "", "/dst"},
		"link_escapes":      {fs(dir + "/in/**"), m{"path": dir + "/in/out/x"}, "", "/path"},
		"link_stays":        {fs(dir + "/in/**"), m{"path": dir + "/in/near/x"}, "", ""},
		"link_hint":         {fs(dir + "/alias/**"), m{"path": dir + "/alias/x"}, "", ""},
		"link_glob":         {fs(dir + "/in/*/passwd"), m{"path": "/etc/passwd"}, "", "/path"},
		"link_dots":         {fs(dir + "/in/**"), m{"path": dir + "/in/out/../x"}, "", "/path"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := newCatalog(t, tt.ex, false).Check("x", tt.args, tt.cwd)
			if tt.field == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			e, ok := errors.AsType[*Error](err)
			if !ok || e.Kind != KindScope || e.Field != tt.field || !strings.Contains(e.Msg, outside) {
				t.Errorf("got %v, want a violation at %s", err, tt.field)
			}
		})
	}
}

// TestWhatIsWrongWithAPath checks that the error does not contain the path.
func TestWhatIsWrongWithAPath(t *testing.T) {
	c := newCatalog(t, Executor{Name: "x", Capabilities: []Capability{{Name: "fs:read", Hint: []string{"/tmp/**"}}}}, false)
	for _, row := range []struct {
		path any
		want string
	}{
		{"/etc/x", "not in any of [/tmp/**]"},
		{"file:///tmp/%6", "its file: URL cannot be read"},
		{"/tmp/\x00", "it holds a NUL character"},
		{"", "it is empty"},
		{"~root/x", "it begins with another user's home"},
		{"x", "it is relative and the call names no folder (context.cwd)"},
		{7, "it must be a string"},
	} {
		want := `field "/path" is outside allowed scope: ` + row.want
		if err := c.Check("x", map[string]any{"path": row.path}, ""); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", row.path, err, want)
		}
	}
}

func TestHostScope(t *testing.T) {
	tests := map[string]struct {
		hint, url string
		inside    bool
	}{
		"equal":         {"api.example.com", "https://api.example.com/data", true},
		"case":          {"api.example.com", "https://API.Example.com:8443/", true},
		"below":         {"*.example.com", "https://a.example.com/", true},
		"apex":          {"*.example.com", "https://example.com", true},
		"other":         {"*.example.com", "https://evil.com/", false},
		"suffix":        {"*.example.com", "https://evilexample.com/", false},
		"prefix":        {"api.example.com", "https://api.example.com.evil.com/", false},
		"user_info":     {"api.example.com", "https://api.example.com@evil.com/", false},
		"user_info_own": {"api.example.com", "https://evil.com@api.example.com/", true},
		"backslash":     {"api.example.com", `https://evil.com\@api.example.com/`, false},
		"newline":       {"api.example.com", "https://api.example.com\n.evil.com/", false},
		"no_scheme":     {"api.example.com", "api.example.com/x", false},
		"opaque":        {"api.example.com", "https:api.example.com", false},
		"trailing_dot":  {"api.example.com", "https://api.example.com./", true},
		"unicode":       {"api.example.com", "https://api.example。com/", false},
		"star":          {"*", "https://anything.org/", true},
		"empty":         {"*", "", false},
		"a_blank":       {"*", "https://a.org/ b", false},
		"a_mark":        {"*", "https://a.org/!~", true},
		"no_text":       {"*", "https://a.org/\x80", false},
		"deleted":       {"*", "https://a.org/\x7f", false},
		"control":       {"*", "https://a.org/\x1f", false},
		"not_ascii":     {"*", "https://a.org/é", false},
		"any_backslash": {"*", `https://a.org\@b.org/`, false},
		"any_opaque":    {"*", "https:a.org", false},
		"no_url":        {"*", "https://[::1", false},
		"hint_dot":      {"a.org.", "https://a.org/", true},
		"hint_case":     {"A.org", "https://a.org/", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCatalog(t, Executor{Name: "x", Capabilities: []Capability{{Name: "network:http", Hint: []string{tt.hint}}}}, false)
			for key, v := range map[string]any{"url": tt.url, "urls": []any{tt.url}} {
				err := c.Check("x", map[string]any{key: v}, "")
				if (err == nil) != tt.inside {
					t.Errorf("%s: got %v", key, err)
				}
				if err != nil && !strings.Contains(err.Error(), outside) {
					t.Errorf("got %q", err)
				}
			}
		})
	}
}

// TestACapabilityWithoutHints limits nothing, nor does one of another class.
func TestACapabilityWithoutHints(t *testing.T) {
	for _, capability := range []Capability{{Name: "network:http"}, {Name: "fs:write"}, {Name: "code:exec", Hint: []string{"x"}}} {
		c := newCatalog(t, Executor{Name: "x", Capabilities: []Capability{capability}}, false)
		if err := c.Check("x", map[string]any{"url": "https://a.org/", "path": "/etc/x"}, ""); err != nil {
			t.Errorf("%v: %v", capability, err)
		}
	}
}

// TestSeedScope runs the scope rows of the seeds' table.
func TestSeedScope(t *testing.T) {
	var table struct {
		Scope struct {
			MatchHint  [][]any `json:"match_hint"`
			MatchHost  [][]any `json:"match_host"`
			CheckHints []struct {
				Capabilities []Capability   `json:"capabilities"`
				Args         map[string]any `json:"args"`
				Expected     *string        `json:"expected"`
			} `json:"check_hints"`
			Validate []struct {
				Schema   any            `json:"schema"`
				Args     map[string]any `json:"args"`
				Expected string         `json:"expected"`
			} `json:"validate_args"`
		} `json:"metnos_scope"`
	}
	readTable(t, &table)
	s := table.Scope
	if len(s.MatchHint) != 4 || len(s.MatchHost) != 4 || len(s.CheckHints) != 4 || len(s.Validate) != 3 {
		t.Fatal("the table has changed its size")
	}
	for _, row := range s.MatchHint {
		name, hint := strings.ReplaceAll(row[0].(string), "<home>", "/home/u"), row[1].(string)
		c := newCatalog(t, Executor{Name: "x", Capabilities: []Capability{{Name: "fs:read", Hint: []string{hint}}}}, false)
		if err := c.Check("x", map[string]any{"path": name}, ""); (err == nil) != row[2].(bool) {
			t.Errorf("%v: %v", row, err)
		}
	}
	for _, row := range s.MatchHost {
		if got := matchHost(row[0].(string), row[1].(string)); got != row[2].(bool) {
			t.Errorf("%v: %v", row, got)
		}
	}
	for _, row := range s.CheckHints {
		err := newCatalog(t, Executor{Name: "x", Capabilities: row.Capabilities}, false).Check("x", row.Args, "")
		if (err == nil) != (row.Expected == nil) || (err != nil && !strings.Contains(err.Error(), "outside")) {
			t.Errorf("%+v: %v", row, err)
		}
	}
	for _, row := range s.Validate {
		err := newCatalog(t, Executor{Name: "x", ArgsSchema: row.Schema}, false).Check("x", row.Args, "")
		word := map[string]string{"one failure naming path": `"/path"`, "failure naming integer": "integer", "failure naming the enum or the value": `"a", "b"`}[row.Expected]
		if err == nil || word == "" || !strings.Contains(err.Error(), word) {
			t.Errorf("%+v: %v", row, err)
		}
	}
}

// readTable reads a part of the seeds' table into v.
func readTable(t *testing.T, v any) {
	t.Helper()
	data, err := os.ReadFile("../testdata/conformance.json")
	if err != nil {
		t.Fatal(err)
	}
	var parts map[string]any
	if err := strictjson.Unmarshal(data, &parts); err != nil {
		t.Fatal(err)
	}
	one, err := strictjson.Marshal(map[string]any{"metnos_scope": parts["metnos_scope"]})
	if err != nil {
		t.Fatal(err)
	}
	if err := strictjson.Unmarshal(one, v); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkCheckUnknown(b *testing.B) {
	c, err := New(Config{})
	if err != nil {
		b.Fatal(err)
	}
	args := map[string]any{"path": "/tmp/x"}
	b.ReportAllocs()
	for b.Loop() {
		if c.Check("x", args, "") != nil {
			b.Fatal("refused")
		}
	}
}
