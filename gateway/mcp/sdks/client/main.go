// Command client calls an MCP server with the official SDK and prints what it gets, one line of
// JSON per step. Its first argument is the server: a URL, or the name of a program whose
// arguments follow "--". The steps are pairs of a tool and its arguments; "time" with a number
// measures that many calls of the preceding step.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	steps, command := os.Args[1:], []string{}
	if i := slices.Index(steps, "--"); i >= 0 {
		steps, command = steps[:i], steps[i+1:]
	}
	ctx := context.Background()
	var via mcp.Transport
	if len(command) == 1 && strings.HasPrefix(command[0], "http") {
		via = &mcp.StreamableClientTransport{Endpoint: command[0]}
	} else {
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Stderr = os.Stderr
		via = &mcp.CommandTransport{Command: cmd}
	}
	s, err := mcp.NewClient(&mcp.Implementation{Name: "sdk", Version: "1"}, nil).Connect(ctx, via, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	tools, err := s.ListTools(ctx, nil)
	tell(tools, err)
	resource, err := s.ReadResource(ctx, &mcp.ReadResourceParams{URI: "note://readme"})
	tell(resource, err)
	prompt, err := s.GetPrompt(ctx, &mcp.GetPromptParams{Name: "sum-up"})
	tell(prompt, err)
	var last mcp.CallToolParams
	for i := 0; i+1 < len(steps); i += 2 {
		if steps[i] == "time" {
			n, err := strconv.Atoi(steps[i+1])
			if err != nil {
				log.Fatal(err)
			}
			start := time.Now()
			for range n {
				if r, err := s.CallTool(ctx, &last); err != nil || r.IsError {
					log.Fatal(err, r)
				}
			}
			fmt.Println(time.Since(start).Microseconds() / int64(n))
			continue
		}
		last = mcp.CallToolParams{Name: steps[i], Arguments: json.RawMessage(steps[i+1])}
		result, err := s.CallTool(ctx, &last)
		tell(result, err)
	}
}

func tell(v any, err error) {
	if err != nil {
		v = map[string]string{"error": err.Error()}
	}
	line, err := json.Marshal(v)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(line))
}
