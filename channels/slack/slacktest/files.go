package slacktest

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/metnos/vaglio/internal/strictjson"
)

// MaxAlt is the most characters in a file's description.
const MaxAlt = 1000

// uploadPath is where files are uploaded to.
const uploadPath = "/upload/"

// upload is a file on its way.
type upload struct {
	file File
	size int
	done bool
}

func (s *Server) uploadURL(args map[string]string) answer {
	size, err := strconv.Atoi(args["length"])
	if err != nil || size <= 0 || args["filename"] == "" || utf8.RuneCountInString(args["alt_txt"]) > MaxAlt {
		return answer{err: "invalid_arguments"}
	}
	id := s.id("F")
	s.uploads[id] = &upload{file: File{ID: id, Name: args["filename"], Alt: args["alt_txt"]}, size: size}
	return answer{fields: map[string]any{"file_id": id, "upload_url": "http://" + args["_host"] + uploadPath + id}}
}

// takeUpload takes a file's bytes, raw or in a form.
func (s *Server) takeUpload(w http.ResponseWriter, r *http.Request) {
	var data []byte
	var err error
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
		var part io.ReadCloser
		if part, _, err = r.FormFile("file"); err == nil {
			defer part.Close()
			data, err = io.ReadAll(part)
		}
	} else {
		data, err = io.ReadAll(r.Body)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, Request{Method: "upload"})
	if f := s.Next("upload"); f != nil {
		f.write(w)
		return
	}
	u := s.uploads[strings.TrimPrefix(r.URL.Path, uploadPath)]
	if err != nil || u == nil || len(data) != u.size {
		http.Error(w, "the upload cannot be taken", http.StatusBadRequest)
		return
	}
	u.file.Data, u.done = data, true
	_, _ = fmt.Fprintf(w, "OK - %d", len(data)) // a client that left needs no answer
}

func (s *Server) uploaded(args map[string]string) answer {
	var files []struct {
		ID    string `json:"id"`
		Title string `json:"title"`
	}
	if err := strictjson.UnmarshalLoose([]byte(args["files"]), &files); err != nil || len(files) == 0 {
		return answer{err: "invalid_arguments"}
	}
	c, a := s.place(args["channel_id"])
	if a.err != "" {
		return a
	}
	var list []any
	for _, f := range files {
		u := s.uploads[f.ID]
		if u == nil || !u.done {
			return answer{err: "file_not_found"}
		}
		delete(s.uploads, f.ID)
		file := u.file
		file.Title = f.Title
		s.post(c, Message{User: BotUID, Text: args["initial_comment"], ThreadTS: args["thread_ts"], File: &file})
		list = append(list, map[string]any{"id": file.ID, "title": file.Title})
	}
	return answer{fields: map[string]any{"files": list}}
}
