package web

import (
	"net"
	"net/http"
	"strings"

	"github.com/metnos/vaglio/internal/hosts"
)

// policy lets a page use what comes from here and nothing else: no inline
// script or style, no frame around it, no form that leads elsewhere.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// armour sets the headers of every answer and refuses other hosts' names, which
// is what a page that rebinds its own name to this machine would send.
func (w *Web) armour(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		h := rw.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Cache-Control", "no-store")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
		if !w.known(r.Host) {
			http.Error(rw, "This is not the address of the inbox. Open it by the link that “vaglio inbox” prints.",
				http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(rw, r)
	})
}

// known reports whether the host is this machine, or the public address.
func (w *Web) known(hostport string) bool {
	host := hostOf(hostport)
	if w.public != nil && strings.EqualFold(host, w.public.Hostname()) {
		return true
	}
	return hosts.Loopback(host)
}

func hostOf(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]")
}
