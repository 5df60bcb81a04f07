package reading_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio/reading"
)

// What is not only calls is no batch: whoever judges the calls would overlook the rest.
func TestBatch(t *testing.T) {
	t.Parallel()
	most := strings.TrimSuffix(strings.Repeat(`{"tool":"a","parameters":{}},`, 50), ",")
	many := most + `,{"tool":"a","parameters":{}}`
	for _, row := range []struct{ executor, args, want string }{
		{"batch", `{"tool_calls":[{"tool":"a","parameters":{"x":"1"}},{"tool":"b","parameters":{}}]}`, "a{x:1} b{}"},
		{"multi_tool_use.parallel", `{"tool_uses":[{"recipient_name":"functions.a","parameters":{}}]}`, "a{}"},
		{"ParallelToolCalls", `{"calls":[{"id":"1","type":"function","name":"a","arguments":"{\"x\":\"1\"}"}],"description":"d"}`, "a{x:1}"},
		{"batch", `{"calls":[{"name":"mcp__r__b","input":{}}]}`, "mcp__r__b{}"},
		{"mcp__s__batch", `{"calls":[{"name":"a","input":{}}]}`, ""},
		{"mcp__batch__delete", `{"calls":[{"name":"a","input":{}}]}`, ""},
		{"tool_calls", `{"calls":[{"name":"a","input":{}}]}`, ""},
		{"batch_delete", `{"calls":[{"name":"a","input":{}}]}`, ""},
		{"batch", `{}`, ""},
		{"batch", `{"calls":[]}`, ""},
		{"batch", `{"calls":[` + many + `]}`, ""},
		{"batch", `{"calls":[` + most + `]}`, strings.TrimSuffix(strings.Repeat("a{} ", 50), " ")},
		{"batch", `{"steps":[{"name":"a","input":{}}]}`, ""},
		{"batch", `{"calls":[{"name":"a","input":{}}],"tool_calls":[{"name":"b","input":{}}]}`, ""},
		{"batch", `{"calls":[{"name":"a","input":{}}],"command":"b"}`, ""},
		{"batch", `{"calls":[{"name":"a","input":{}}],"description":["b"]}`, ""},
		{"batch", `{"calls":[{"name":"a","input":{},"command":"b"}]}`, ""},
		{"batch", `{"calls":[{"name":"a","tool":"b","input":{}}]}`, ""},
		{"batch", `{"calls":[{"name":"a","input":{},"Input":{"x":"1"}}]}`, ""},
		{"batch", `{"calls":[{"name":"a","input":{},"args":"{}"}]}`, ""},
		{"batch", `{"calls":[{"name":"a"}]}`, ""},
		{"batch", `{"calls":[{"input":{}}]}`, ""},
		{"batch", `{"calls":[{"name":"functions.","input":{}}]}`, ""},
		{"batch", `{"calls":[{"name":["a"],"input":{}}]}`, ""},
		{"batch", `{"calls":[{"name":"a","input":null}]}`, ""},
		{"batch", `{"calls":[{"name":"a","input":"null"}]}`, ""},
		{"batch", `{"calls":[{"name":"a","input":"{\"x\":1,\"x\":2}"}]}`, ""},
		{"batch", `{"calls":[{"name":"a","input":["x"]}]}`, ""},
		{"batch", `{"calls":[{"name":"a","input":{}},"b"]}`, ""},
		{"batch", `{"calls":[{"name":"batch","input":{"calls":[{"name":"a","input":{}}]}}]}`, ""},
	} {
		var args map[string]any
		if err := strictjson.UnmarshalLoose([]byte(row.args), &args); err != nil {
			t.Fatal(err)
		}
		var got []string
		calls := reading.Batch(row.executor, args)
		if is := row.want != "" || row.args == `{"calls":[]}`; is != (calls != nil) { // a batch of none is one
			t.Errorf("%s %s: a batch is %t", row.executor, row.args, !is)
		}
		for _, n := range calls {
			said := n.Executor + "{"
			for _, k := range reading.SortedKeys(n.Args) {
				text, ok := n.Args[k].(string)
				if !ok {
					text = strconv.Quote(k)
				}
				said += k + ":" + text
			}
			got = append(got, said+"}")
		}
		if strings.Join(got, " ") != row.want {
			t.Errorf("%s %s: %q, want %q", row.executor, row.args, got, row.want)
		}
	}
}
