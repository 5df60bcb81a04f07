package platform

import (
	"errors"
	"io"
	"net/http"
)

// Body reads what a platform delivers: a POST of at most the given number of bytes. Before
// it reads, refuse, unless nil, may inspect the header and return a status to answer with;
// 0 accepts the request. If ok is false the request has been answered.
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
