package databasefiles_test

import (
	"testing"

	"github.com/metnos/vaglio/internal/databasefiles"
)

// TestSchemaFile holds which schemas of prisma are known to keep all in one file.
func TestSchemaFile(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]string{
		"datasource db {\n  provider = \"sqlite\"\n  url      = \"file:./dev.db\"\n}\n":                                        "./dev.db",
		"// a\ndatasource db {\n  provider = \"sqlite\" // b\n  url = \"file:dev.db\"\n}\nmodel A {\n  id Int @id\n}":          "dev.db",
		"datasource db {\n  provider = \"sqlite\"\n  url = env(\"A\")\n}":                                                      "",
		"datasource db {\n  provider = \"postgresql\"\n  url = \"file:dev.db\"\n}":                                             "",
		"datasource db {\n  provider = \"sqlite\"\n  url = \"file:dev.db\"\n  shadowDatabaseUrl = \"mysql://a/b\"\n}":          "",
		"datasource a {\n provider = \"sqlite\"\n url = \"file:a\"\n}\ndatasource b {\n provider = \"mysql\"\n url = \"x\"\n}": "",
		"/* datasource db {\n provider = \"sqlite\"\n url = \"file:a\"\n} */":                                                  "",
	} {
		if file, ok := databasefiles.SchemaFile(schema); file != want && ok || ok != (want != "") {
			t.Errorf("%q: %q, %v, want %q", schema, file, ok, want)
		}
	}
}
