// Package servers says where databases of new containers can be reached on this machine, and which of them a client's words name.
package servers

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/internal/settings"
)

// Container is what a container is started with.
type Container struct {
	// Image names what it is made from.
	Image string
	// Command is what runs in it instead of what the image says, or the words for that.
	Command []string
	// Ports are the ports that it publishes, and Mounts the volumes and folders that it gets, each as docker run takes them.
	Ports, Mounts []string
	// Emptied says that its data is in memory and goes with it.
	Emptied bool
	// Bent says that it differs in more from what the image does by itself: its program, its network.
	Bent bool
}

// Published is a port of a container, Inside, that can be reached at a port of this machine.
type Published struct{ Port, Inside string }

// Published returns the ports at which it can be reached. all is false if others may be among them.
func (c *Container) Published() (list []Published, all bool) {
	all = true
	for _, p := range c.Ports {
		p, _, _ = strings.Cut(p, "/")
		before, inside, two := cutLast(p)
		_, port, _ := cutLast(before)
		if !two || !isNumber(port) || !isNumber(inside) {
			all = all && !two && isNumber(p) // the engine picks a port that is free
			continue
		}
		list = append(list, Published{port, inside})
	}
	return list, all
}

func cutLast(s string) (before, after string, found bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return "", s, false
	}
	return s[:i], s[i+1:], true
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// New reports whether it is made from a database's image, which known tells, runs the database and gets
// no data from before: no volume with a name, and no folder but one that it only reads.
func (c *Container) New(known func(image string) bool) bool {
	if c.Bent || !known(imageName(c.Image)) || slices.ContainsFunc(c.Mounts, holdsData) {
		return false
	}
	return len(c.Command) == 0 || strings.HasPrefix(c.Command[0], "-") ||
		slices.Contains([]string{"postgres", "mysqld", "mariadbd", "redis-server", "valkey-server", "mongod"}, c.Command[0])
}

// imageName returns an image's name without its version and the usual registry.
func imageName(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if at := strings.LastIndexByte(image, ':'); at > strings.LastIndexByte(image, '/') {
		image = image[:at]
	}
	return strings.TrimPrefix(strings.TrimPrefix(image, "docker.io/"), "library/")
}

// holdsData reports whether a mount may bring a database's data: anything that has a source, is written to and not read just once, when the database is made.
func holdsData(mount string) bool {
	if strings.Contains(mount, "=") { // the long form
		return !strings.Contains(mount, "type=tmpfs")
	}
	parts := strings.Split(mount, ":")
	readOnly := len(parts) > 2 && slices.Contains(strings.Split(parts[2], ","), "ro")
	return !readOnly && len(parts) > 1 && !strings.HasPrefix(path.Clean(parts[1])+"/", "/docker-entrypoint-initdb.d/")
}

// InCompose returns the containers that a compose file describes, and whether it names their project or a volume of it. all is false if it says more.
func InCompose(text string) (list []Container, project, volumes, all bool) {
	var file struct {
		Include  any            `yaml:"include"`
		Name     any            `yaml:"name"`
		Services map[string]any `yaml:"services"`
		Volumes  any            `yaml:"volumes"`
	}
	if ok, _ := settings.Decode("compose.yml", text, &file); !ok {
		return nil, false, false, false
	}
	all = file.Include == nil && len(file.Services) > 0 && !strings.Contains("\n"+text, "\n---") // of several parts, one was read
	for _, s := range file.Services {
		service, _ := s.(map[string]any)
		c := Container{Image: fmt.Sprint(service["image"]), Command: words(service["command"])}
		for _, key := range []string{"entrypoint", "network_mode", "extends", "build", "volumes_from", "configs", "profiles", "provider"} {
			c.Bent = c.Bent || service[key] != nil
		}
		for _, v := range listOf(service["volumes"]) {
			c.Mounts = append(c.Mounts, asMount(v))
		}
		for _, p := range listOf(service["ports"]) {
			c.Ports = append(c.Ports, asPort(p))
		}
		for _, at := range words(service["tmpfs"]) {
			c.Emptied = c.Emptied || strings.HasPrefix(at, "/var/lib/") || at == "/data"
		}
		list = append(list, c)
	}
	return list, file.Name != nil, file.Volumes != nil, all
}

func listOf(v any) []any {
	list, _ := v.([]any)
	return list
}

func words(v any) []string {
	if s, ok := v.(string); ok {
		return strings.Fields(s)
	}
	return lists.Each(listOf(v), func(e any) string { return fmt.Sprint(e) })
}

// asMount returns a volume of a compose file as docker run takes it.
func asMount(v any) string {
	m, long := v.(map[string]any)
	switch {
	case !long:
		return fmt.Sprint(v)
	case m["type"] == "tmpfs" || m["source"] == nil:
		return fmt.Sprint(m["target"])
	case m["read_only"] == true:
		return fmt.Sprintf("%v:%v:ro", m["source"], m["target"])
	}
	return fmt.Sprintf("%v:%v", m["source"], m["target"])
}

func asPort(v any) string {
	m, long := v.(map[string]any)
	switch {
	case !long:
		return fmt.Sprint(v)
	case m["published"] == nil:
		return fmt.Sprint(m["target"])
	}
	return fmt.Sprintf("%v:%v", m["published"], m["target"])
}

// Opening returns what a tool's arguments open of this machine to a container, as options of docker run. They may be those of the engine's interface.
func Opening(args map[string]any) (options []string) {
	host, _ := args["HostConfig"].(map[string]any)
	for _, args := range []map[string]any{args, host} {
		for _, key := range slices.Sorted(maps.Keys(args)) {
			option := opening[strings.ToLower(strings.ReplaceAll(key, "_", ""))]
			switch v := args[key].(type) {
			case []any:
				for _, e := range v {
					if m, long := e.(map[string]any); long {
						e = lower(m)
					}
					options = append(options, option+asMount(e))
				}
			case map[string]any:
				if m := lower(v); m["source"] != nil {
					options = append(options, option+asMount(m))
					continue
				}
				for _, host := range slices.Sorted(maps.Keys(v)) { // by what they are on the host
					options = append(options, option+host+":"+host)
				}
			default:
				options = append(options, option+fmt.Sprint(v))
			}
		}
	}
	return slices.DeleteFunc(options, func(o string) bool { return !strings.HasPrefix(o, "--") })
}

// lower returns an object with its keys in lower case, and the source of a mount under one of them.
func lower(m map[string]any) map[string]any {
	out := map[string]any{}
	for key, e := range m {
		out[strings.ToLower(key)] = e
	}
	out["source"] = cmp.Or(out["source"], out["src"])
	return out
}

var opening = map[string]string{ //nolint:gochecknoglobals // Made once, never changed.
	"volumes": "--volume=", "volume": "--volume=", "binds": "--volume=", "mounts": "--volume=", "mount": "--volume=", "devices": "--device=",
	"privileged": "--privileged=", "network": "--network=", "networkmode": "--network=", "pid": "--pid=", "pidmode": "--pid=", "capadd": "--cap-add=",
}

// InBox stands before the name of a container in a fact of what was opened.
const InBox = "in "
