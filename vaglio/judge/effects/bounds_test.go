package effects_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/effects"
)

// hostile returns calls that are large in every possible way; none may pass.
func hostile() map[string]vaglio.Proposal {
	type A = vaglio.Args
	call := func(name string, args A) vaglio.Proposal {
		return vaglio.Proposal{Executor: name, Args: args, Context: vaglio.Context{Cwd: testCwd}}
	}
	nested := any("leaf")
	for range 10_000 {
		nested = map[string]any{"a": []any{nested}}
	}
	many := A{}
	for i := range 100_000 {
		many[fmt.Sprintf("key%d", i)] = "value"
	}
	list := make([]any, 20_000)
	for i := range list {
		list[i] = fmt.Sprintf("src/file%d", i)
	}
	return map[string]vaglio.Proposal{
		"SQLText":       call("execute_sql", A{"query": "select '" + strings.Repeat("x", 1<<20) + "'; drop table t"}),
		"SQLStatements": call("execute_sql", A{"query": strings.Repeat("select 1;", 100_000) + "delete from t"}),
		"SQLParens":     call("execute_sql", A{"query": "select " + strings.Repeat("(", 200_000) + "1; drop table t"}),
		"SQLComments":   call("execute_sql", A{"query": strings.Repeat("/*!", 50_000) + " drop table t"}),
		"SQLWords":      call("execute_sql", A{"query": "with x as (select 1) " + strings.Repeat("a ", 400_000) + "; truncate t"}),
		"SQLMeta":       call("execute_sql", A{"query": strings.Repeat("\\! rm -rf src\n", 20_000)}),
		"DeepArgs":      call("frobnicate", A{"a": nested}),
		"DeepFields":    call("browser_fill_form", A{"fields": nested, "password": "x"}),
		"ManyKeys":      call("frobnicate", many),
		"ManyFiles":     call("delete_file", A{"paths": list}),
		"Command":       command(strings.Repeat("echo a; ", 120_000) + "rm -rf src"),
		"Words":         command("rm " + strings.Repeat("src ", 250_000)),
		"Name":          call(strings.Repeat("frobnicate_", 90_000), A{}),
		"Code":          call("python", A{"code": "import psycopg2\n" + strings.Repeat("c.execute(x)\n", 70_000)}),
		"URL":           call("http_request", A{"method": "POST", "url": "https://x.example/" + strings.Repeat("a/", 500_000)}),
		"Query":         call("http_request", A{"method": "GET", "url": "https://x.example/?exfil=" + strings.Repeat("a=b&", 250_000)}),
		"Redis":         command("redis-cli <<'E'\n" + strings.Repeat("del a\n", 150_000) + "E"),
		"RedisItself":   command("redis-cli <<< '-x'"), // A line without a command reads the lines no second time.
		"Sftp":          command("sftp h <<'E'\n" + strings.Repeat("get a\n", 150_000) + "put b\nE"),
	}
}

// TestHostile checks that nothing large passes because of its size. BenchmarkHostile measures how
// fast that is.
func TestHostile(t *testing.T) {
	t.Parallel()
	j := newJudge(t)
	for name, p := range hostile() {
		got, err := j.Grade(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if got.Score >= effects.Threshold {
			t.Errorf("%s passes with %.2f: %.200s", name, got.Score, got.Reasoning)
		}
		if len(got.Signals) > 60 || len(got.Reasoning) > 1000 {
			t.Errorf("%s: %d signals, a reasoning of %d bytes", name, len(got.Signals), len(got.Reasoning))
		}
	}
}

// BenchmarkHostile measures the worst inputs; each should take less than a second.
func BenchmarkHostile(b *testing.B) {
	j := newJudge(b)
	for name, p := range hostile() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := j.Grade(b.Context(), p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
