package hosts

import (
	"errors"
	"net/url"
	"path"
	"strings"
)

// Prefix is what permitted addresses begin with: a scheme, a host, a port, and whole segments of a
// path.
type Prefix struct{ scheme, host, path string }

// maxAddress is the maximum length of an address, in bytes.
const maxAddress = 2000

// What can be wrong with an address.
var (
	errAddress = errors.New("must be an address such as https://flows.example.com/resume, at most 2000 bytes long, without a user, a fragment, or a path with dots or escaped slashes")
	errPlain   = errors.New("must begin with https://; http:// is only for this machine")
	errQuery   = errors.New("must have no query: it is a prefix of addresses")
)

// ParsePrefix parses a prefix. http is accepted only for loopback hosts.
func ParsePrefix(text string) (Prefix, error) {
	u, err := address(text)
	if err != nil {
		return Prefix{}, err
	}
	if u.RawQuery != "" || u.ForceQuery {
		return Prefix{}, errQuery
	}
	return Prefix{u.Scheme, hostPort(u), strings.TrimSuffix(u.Path, "/")}, nil
}

// Holds reports whether an address begins with the prefix. An address that two readers could parse
// differently does not.
func (p Prefix) Holds(text string) bool {
	u, err := address(text)
	return err == nil && p.scheme == u.Scheme && p.host == hostPort(u) && (u.Path == p.path || strings.HasPrefix(u.Path, p.path+"/"))
}

func (p Prefix) String() string { return p.scheme + "://" + p.host + p.path }

func address(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || len(text) > maxAddress || u.Hostname() == "" || u.Opaque != "" || u.User != nil || strings.Contains(text, "#") || !plainPath(u) {
		return nil, errAddress
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !Loopback(u.Hostname())) {
		return nil, errPlain
	}
	return u, nil
}

// plainPath reports whether a path can be read in only one way.
func plainPath(u *url.URL) bool {
	if u.Path == "" {
		return true
	}
	clean := path.Clean(u.Path)
	return u.RawPath == "" && !strings.Contains(u.Path, `\`) && (clean == u.Path || clean+"/" == u.Path)
}

func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	host := strings.ToLower(u.Hostname())
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return host + ":" + port
}
