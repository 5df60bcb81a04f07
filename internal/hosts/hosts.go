// Package hosts parses the names of machines as programs do.
package hosts

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Number parses a numeric host: in the usual form, or in fewer parts, octal or hexadecimal, as the
// C library accepts.
func Number(host string) (netip.Addr, bool) {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap(), true
	}
	parts := strings.Split(strings.ToLower(host), ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var sum uint64
	for i, p := range parts {
		base := 10
		if hex, ok := strings.CutPrefix(p, "0x"); ok {
			p, base = hex, 16
		} else if strings.HasPrefix(p, "0") {
			base = 8
		}
		bits := 8 // the last part fills what is left
		if i == len(parts)-1 {
			bits = 8 * (4 - i)
		}
		n, err := strconv.ParseUint(p, base, bits)
		if err != nil {
			return netip.Addr{}, false
		}
		sum = sum<<bits | n
	}
	return netip.AddrFrom4([4]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}), true
}

// Loopback reports whether a host name always means this machine. A name that merely resolves to it
// today does not count.
func Loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && addr.Unmap().IsLoopback()
}

// Internal reports whether a host name belongs to this machine or to a network of one's own: a name without a
// dot, one of a domain that nobody can register, or an address of a private network.
func Internal(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
	if ip, ok := Number(host); ok {
		return ip.IsLoopback() || ip.IsPrivate()
	}
	if strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" {
		return false // also a name that is only known when it runs
	}
	_, domain, dotted := strings.Cut(host, ".")
	return host != "" && (!dotted || slices.Contains(unregistered, domain[strings.LastIndexByte(domain, '.')+1:]) || domain == "home.arpa" || strings.HasSuffix(domain, ".home.arpa"))
}

// unregistered are the top-level domains that never stand for anything in public.
//
//nolint:gochecknoglobals // Only looked at.
var unregistered = []string{"internal", "local", "localdomain", "localhost", "lan", "corp", "intranet", "home", "private", "test"}

// Of returns the host of an address in lower case, without its port.
func Of(address string) string {
	address = strings.Trim(address, "'\"")
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil {
		return unparsed(address)
	}
	return strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
}

// unparsed returns the host of an address that is not a URL, such as one whose port is a variable.
func unparsed(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	rest = rest[strings.LastIndexByte(rest, '@')+1:]
	if port := strings.LastIndexByte(rest, ':'); port >= 0 && !strings.HasSuffix(rest, "]") {
		rest = rest[:port]
	}
	return strings.ToLower(strings.Trim(rest, "[]"))
}
