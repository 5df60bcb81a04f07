// Command server is an MCP server built with the official SDK. It serves over stdio or, with an
// address as its argument, over HTTP.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type note struct {
	Path string `json:"path" jsonschema:"the note's file"`
}

type command struct {
	Command string `json:"command" jsonschema:"a command line"`
}

type found struct {
	Length int `json:"length"`
}

func main() {
	s := mcp.NewServer(&mcp.Implementation{Name: "notes", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "read_note", Description: "reads a note"}, func(_ context.Context, _ *mcp.CallToolRequest, n note) (*mcp.CallToolResult, found, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "read " + n.Path}}}, found{len(n.Path)}, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "run_command", Description: "runs a command"}, func(_ context.Context, _ *mcp.CallToolRequest, c command) (*mcp.CallToolResult, any, error) {
		f, err := os.OpenFile("ran.txt", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, nil, err
		}
		defer f.Close()
		fmt.Fprintln(f, c.Command)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "ran " + c.Command}}}, nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "list_notes", Description: "lists the notes in a folder"}, func(ctx context.Context, _ *mcp.CallToolRequest, n note) (*mcp.CallToolResult, any, error) {
		out, err := exec.CommandContext(ctx, "ls", "-l", n.Path).Output() // Many servers run a program.
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(out)}}}, nil, err
	})
	s.AddResource(&mcp.Resource{Name: "readme", URI: "note://readme"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "note://readme", Text: "read me"}}}, nil
	})
	s.AddPrompt(&mcp.Prompt{Name: "sum-up"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "sum it up"}}}}, nil
	})
	if len(os.Args) < 2 {
		if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			log.Fatal(err)
		}
		return
	}
	l, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("http://%s/mcp\n", l.Addr())
	log.Fatal(http.Serve(l, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)))
}
