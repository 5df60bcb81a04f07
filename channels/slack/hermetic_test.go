package slack_test

import (
	"os"
	"strings"
	"testing"
)

// TestMain removes proxies from the environment, because the platform is in the tests' own
// process.
func TestMain(m *testing.M) {
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasSuffix(strings.ToUpper(name), "_PROXY") && name != "GOPROXY" {
			if err := os.Unsetenv(name); err != nil {
				panic(err)
			}
		}
	}
	os.Exit(m.Run())
}
