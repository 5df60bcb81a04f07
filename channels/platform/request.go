package platform

import (
	"errors"
	"io"
	"net/http"
)

// Body reads what a platform delivers: a POST with at most so many bytes. Before
// it reads, refuse may look at the header and answer with a status; 0, or nil for
// refuse, takes the request. Where ok is false the request has its answer.
func Body(w http.ResponseWriter, r *http.Request, most int64, refuse func(http.Header) int) (body []byte, ok bool) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		w.WriteHeader(http.StatusMethodNotAllowed)
		return nil, false
	}
	if refuse != nil {
		if status := refuse(r.Header); status != 0 {
			w.WriteHeader(status)
			return nil, false
		}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return nil, false
	}
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return nil, false
	}
	return body, true
}
