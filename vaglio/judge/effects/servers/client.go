package servers

import (
	"net/url"
	"slices"
	"strings"
)

// Client is what a database's client is told of where the database is.
type Client struct {
	// Family is the kind of database: postgres, mysql, redis or mongo.
	Family string
	// Hosts and Ports are what its options say; all of them must agree.
	Hosts, Ports []string
	// Names are the words that name a database or its address.
	Names []string
	// Env are the variables that it gets; one whose value is not known has none.
	Env map[string]string
	// TCP says that it is told to use the network.
	TCP bool
}

// family is how the clients of a kind of database find it.
type family struct{ usual, host, port, schemes string }

//nolint:gochecknoglobals // Made once, never changed.
var families = map[string]family{
	"postgres": {"5432", "PGHOST", "PGPORT", "postgres postgresql"},
	"mysql":    {"3306", "MYSQL_HOST", "MYSQL_TCP_PORT", "mysql mysqlx mariadb"},
	"redis":    {"6379", "", "", "redis valkey"},
	"mongo":    {"27017", "", "", "mongodb"},
}

// Port returns the port of this machine at which the client looks for its database. ok is false if it may look anywhere else.
func (c *Client) Port() (port string, ok bool) {
	f, known := families[c.Family]
	if !known || c.Redirected() {
		return "", false
	}
	hosts, ports, full, ok := c.named(f)
	if !ok {
		return "", false
	}
	hosts, ports = c.orSet(hosts, f.host), c.orSet(ports, f.port)
	socket := len(hosts) == 0 && f.host != ""
	if socket || slices.ContainsFunc(hosts, func(h string) bool { return !c.here(h, full) }) {
		return "", false
	}
	if len(ports) == 0 {
		return f.usual, true
	}
	return ports[0], isNumber(ports[0]) && len(slices.Compact(ports)) == 1
}

// orSet returns what the words say or, if they say nothing, what a variable does.
func (c *Client) orSet(said []string, variable string) []string {
	if value, set := c.Env[variable]; len(said) == 0 && set {
		return []string{value}
	}
	return said
}

// named returns the hosts and ports of the words, and whether one is an address. ok is false if one may be another way to say it.
func (c *Client) named(f family) (hosts, ports []string, full, ok bool) {
	hosts, ports = slices.Clone(c.Hosts), slices.Clone(c.Ports)
	for _, name := range c.Names {
		host, at, is := c.address(f, name)
		switch {
		case is:
			hosts, ports, full = append(hosts, host), append(ports, at), true
		case strings.ContainsAny(name, "=:/,"):
			return nil, nil, false, false
		}
	}
	return hosts, ports, full, true
}

// here reports whether a host is this machine, not a socket on it: where the name of the machine stands alone, clients of MySQL use that, whatever the port.
func (c *Client) here(host string, full bool) bool {
	return slices.Contains([]string{"127.0.0.1", "::1", "0.0.0.0"}, host) || host == "localhost" && (c.Family != "mysql" || c.TCP || full)
}

// address returns the host and the port of an address, is false if a word is none that is fully known.
func (c *Client) address(f family, name string) (host, port string, is bool) {
	if c.Family == "mongo" && !strings.Contains(name, "://") && strings.ContainsAny(name, ":/") {
		name = "mongodb://" + name
	}
	u, err := url.Parse(name)
	if err != nil || !slices.Contains(strings.Fields(f.schemes), u.Scheme) || strings.ContainsAny(u.Host, ",%") {
		return "", "", false
	}
	for key := range u.Query() {
		other := func(part string) bool { return strings.Contains(strings.ToLower(key), part) }
		if slices.ContainsFunc([]string{"host", "port", "serv", "sock"}, other) {
			return "", "", false
		}
	}
	if port = u.Port(); port == "" {
		port = f.usual
	}
	return u.Hostname(), port, true
}

// Redirected reports whether a variable, or a setting in a word, may lead the client to another database than its words name.
func (c *Client) Redirected() bool {
	if slices.ContainsFunc(c.Names, func(name string) bool {
		_, settings, _ := strings.Cut(strings.ToLower(name), "?")
		return strings.Contains(settings, "host") || strings.Contains(settings, "%") || strings.Contains(strings.ToLower(name), "service=")
	}) {
		return true
	}
	named := []string{"PGHOSTADDR", "PGSERVICE", "PGSERVICEFILE", "PGSYSCONFDIR", "MYSQL_HOME", "MYSQL_GROUP_SUFFIX", "MYSQL_TEST_LOGIN_FILE"}
	return slices.ContainsFunc(named, func(name string) bool { _, set := c.Env[name]; return set })
}
