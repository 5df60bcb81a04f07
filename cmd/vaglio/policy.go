package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/metnos/vaglio/vaglio/catalog"
)

// maxPolicy bounds the policy file, in bytes.
const maxPolicy = 4 << 20

// policy is the structured part of the configuration. Its zero value knows no
// executor and is open.
type policy struct {
	// catalog is what is known of executors; nil knows none.
	catalog *catalog.Catalog
	// path is the file's, for the guard to keep; empty when there is none.
	path string
}

// loadPolicy reads the policy file; an empty path is the empty policy.
func loadPolicy(path, home string) (policy, error) {
	if path == "" {
		return policy{}, nil
	}
	return readPolicy(path, home)
}

// readPolicy reads the policy file strictly: an unknown key is a mistake, and
// the mistake says where it is.
func readPolicy(path, home string) (policy, error) {
	f, err := os.Open(path)
	if err != nil {
		return policy{}, fmt.Errorf("METNOS_POLICY: %w", plain(err))
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxPolicy+1))
	if err != nil {
		return policy{}, fmt.Errorf("METNOS_POLICY: %w", plain(err))
	}
	if len(b) > maxPolicy {
		return policy{}, fmt.Errorf("METNOS_POLICY: %s is longer than %d bytes", path, maxPolicy)
	}
	c, err := parsePolicy(path, b, home)
	if err != nil {
		return policy{}, err
	}
	return policy{c, path}, nil
}

// parsePolicy reads a policy. name is the file's, for the mistakes.
func parsePolicy(name string, b []byte, home string) (*catalog.Catalog, error) {
	var c catalog.Config
	dec := yaml.NewDecoder(bytes.NewReader(b), yaml.Strict())
	switch err := dec.Decode(&c); {
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("METNOS_POLICY: %s is empty", name)
	case err != nil:
		return nil, fmt.Errorf("METNOS_POLICY: %s:%s", name, yamlMistake(err))
	}
	if err := dec.Decode(new(any)); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("METNOS_POLICY: %s holds more than one document", name)
	}
	c.Home = home
	known, err := catalog.New(c)
	if err != nil {
		return nil, fmt.Errorf("METNOS_POLICY: %s: %s", name, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return known, nil
}

// yamlMistake returns the library's error as "line:column: text", without the
// excerpt of the file that it adds.
func yamlMistake(err error) string {
	if e, ok := errors.AsType[yaml.Error](err); ok {
		at := e.GetToken().Position
		return fmt.Sprintf("%d:%d: %s", at.Line, at.Column, e.GetMessage())
	}
	return " " + err.Error()
}
