package project

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/internal/settings"
	"github.com/metnos/vaglio/vaglio/code"
	"github.com/metnos/vaglio/vaglio/shell"
)

// quoted returns a command line of words that the shell takes literally.
func quoted(words ...string) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString("'" + strings.ReplaceAll(w, "'", `'\''`) + "' ")
	}
	return b.String()
}

// dockerRemark matches comments inside a continued line.
var dockerRemark = regexp.MustCompile(`\\\n([ \t]*#[^\n]*\n)+`)

// dockerfile returns the Dockerfile of a build. What only comes through the input unknown is an archive of a folder, as a rule, and builds like one.
func (v *visit) dockerfile(r *row) (file, text string) {
	names := r.files
	if plain := operands(v.words); len(plain) > 0 {
		names = slices.Concat([]string{plain[len(plain)-1] + "/" + r.files[0]}, r.files)
	}
	if name, ok := v.value("-f", "--file"); ok {
		names = []string{name}
	}
	if slices.Contains(v.words, "-") || slices.Contains(inputNames[:], names[0]) {
		text, _, _ = v.input()
		return inputNames[1], text
	}
	file, text, _ = v.first(names...)
	return file, text
}

// readDockerfile adds what building an image runs.
func readDockerfile(v *visit, r *row) {
	file, text := v.dockerfile(r)
	text = dockerRemark.ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat("\\\n", strings.Count(s, "\n")) })
	all, copies := settings.Lines(text), &copies{files: map[string][]string{}, seen: map[[2]string]bool{}, left: 20_000}
	for i := 0; i < len(all); i++ {
		l := all[i]
		body, lines := v.hereText(l.Text, all[i+1:])
		i += lines
		word, run, _ := strings.Cut(strings.TrimSpace(l.Text), " ")
		for run = strings.TrimSpace(run); strings.HasPrefix(run, "--"); run = strings.TrimSpace(run) {
			_, run, _ = strings.Cut(run, " ")
		}
		words := []string{"sh", "-c", run}
		if lines > 0 {
			words[2] = run + "\n" + body
			if strings.HasPrefix(run, "<<") { // it is the script itself
				words[2] = "sh " + words[2]
			}
		}
		if strings.HasPrefix(run, "[") {
			v.decode(file, run, &words) // a list of words, unless it is malformed
		}
		switch {
		case strings.EqualFold(word, "RUN"):
			v.add(file, l.Number, "sh", inContainer(nil, words...))
			v.copied(copies, l.Number, file, strings.Join(words, " "))
		case strings.EqualFold(word, "COPY"), strings.EqualFold(word, "ADD"):
			for words := partsOf(strings.Trim(run, `["] `)); len(words) > 1; words = words[1:] {
				copies.add(words[0], words[len(words)-1])
			}
		}
	}
}

// bakeOutput finds where a target of a bake file puts what it builds.
var bakeOutput = regexp.MustCompile(`"?output"?\s*[=:]\s*\[([^\]]*)\]`)

// readBake reads what building the images of a bake file writes and sends.
func readBake(v *visit, r *row) {
	for file, text := range v.files(r) {
		for _, m := range bakeOutput.FindAllStringSubmatch(text, -1) {
			for _, to := range quotedText.FindAllString(m[1], -1) {
				v.addFrom(file, text, m[0], "docker buildx build --output "+to+" .")
			}
		}
	}
}

// copies is what a Dockerfile copies from the command's folder.
type copies struct {
	files   map[string][]string // sources by destination, and by their own base name
	folders [][2]string         // source and destination
	seen    map[[2]string]bool
	left    int // lookups that remain
}

// add records a copy. What has an extension counts as a file.
func (c *copies) add(from, to string) {
	one := [2]string{from, to}
	if c.seen[one] {
		return
	}
	c.seen[one] = true
	if len(path.Ext(path.Clean(from))) < 2 { // a lone dot is no extension
		c.folders = append(c.folders, one)
	}
	c.files[to] = append(c.files[to], from)
	if name := path.Base(from); name != to {
		c.files[name] = append(c.files[name], from)
	}
}

// of returns the files that a name may mean.
func (c *copies) of(name string) []string {
	all := slices.Clone(c.files[name])
	if base := path.Base(name); base != name {
		all = append(all, c.files[base]...)
	}
	if c.left -= len(all) + len(c.folders); c.left < 0 {
		return nil
	}
	return append(all, lists.Each(c.folders, func(f [2]string) string { return path.Join(f[0], strings.TrimPrefix(name, f[1])) })...)
}

// copied adds the scripts that a line of a Dockerfile names, if an earlier line copied them from the command's folder.
func (v *visit) copied(c *copies, line int, dockerfile, text string) {
	runners := map[string][]string{"python": {"python3", "-c"}, "node": {"node", "-e"}, "": {"sh", "-c"}, "sh": {"sh", "-c"}}
	for _, name := range partsOf(text) {
		for _, file := range c.of(name) {
			file = v.in(file)
			if !v.once("copied " + file) {
				continue
			}
			by := runners[v.reader.language(file)]
			if text, ok := v.c.Files.Content(file); ok && by != nil {
				v.add(file, 1, "sh", inContainer(nil, by[0], by[1], text))
			}
		}
	}
	if c.left < 0 {
		v.over(dockerfile, line)
	}
}

// hereStart matches the start of a here-document, as in shells.
var hereStart = regexp.MustCompile(`<<-?\s*(["']?)([A-Za-z_][A-Za-z0-9_]*)["']?`)

// hereText returns the here-document that a line starts, including its end marker, and its number of lines; nothing if it does not end.
func (v *visit) hereText(line string, below []settings.Line) (text string, lines int) {
	m := hereStart.FindStringSubmatch(line)
	var b strings.Builder
	for i := 0; m != nil && i < len(below) && v.spends(len(below[i].Text)); i++ {
		b.WriteString(below[i].Text + "\n")
		if strings.TrimLeft(below[i].Text, "\t") == m[2] {
			return b.String(), i + 1
		}
	}
	return "", 0
}

// readYAML adds what is under the row's keys, at any depth: a text is a command line, a list
// its words, or, with a star behind the key, lines. "container" before the keys means that it runs in a container.
func readYAML(v *visit, r *row) {
	keys := strings.Fields(r.language)
	inside := keys[0] == "container"
	if inside && v.c.Name == "docker" && !slices.Contains(v.words, "compose") {
		return
	}
	for file, text := range v.files(r) {
		var tree any
		if v.decode(file, text, &tree) || path.Ext(file) == ".json" && v.parsed(file, text, &tree) {
			v.under(file, text, keys, inside, tree)
		}
	}
}

// under adds what is under the keys in a tree.
func (v *visit) under(file, text string, keys []string, inside bool, tree any) {
	switch t := tree.(type) {
	case []any:
		for _, e := range t {
			v.under(file, text, keys, inside, e)
		}
	case map[string]any:
		t = mountedPod(t)
		var words []string
		for _, key := range keys {
			if name, each := strings.CutSuffix(key, "/"); each {
				v.each(file, text, t, inside, t[name])
				continue
			}
			name, lines := strings.CutSuffix(key, "*")
			switch val := valueOf(t[name]).(type) {
			case string:
				v.place(file, text, t, inside, val)
			case []any:
				for _, l := range texts(val) {
					if lines {
						v.place(file, text, t, inside, l)
					} else {
						words = append(words, l)
					}
				}
			}
		}
		v.place(file, text, t, inside, words...)
		for _, key := range slices.Sorted(maps.Keys(t)) {
			v.under(file, text, keys, inside, t[key])
		}
	}
}

// valueOf returns what a key says; in CMake's presets, the value is below it.
func valueOf(said any) any {
	if typed, is := said.(map[string]any); is && typed["value"] != nil {
		return typed["value"]
	}
	return said
}

// each adds a command, or one for each name below a key of a part of a file.
func (v *visit) each(file, text string, part map[string]any, inside bool, said any) {
	switch t := said.(type) {
	case string:
		v.place(file, text, part, inside, t)
	case []any:
		v.place(file, text, part, inside, texts(t)...)
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(t)) {
			v.each(file, text, part, inside, t[name])
		}
	}
}

// place adds a command, one text or several words, from a part of a file. A service of the session's own without any runs what its image does.
func (v *visit) place(file, text string, part map[string]any, inside bool, words ...string) {
	bare := inside && part["image"] != nil && part["command"] == nil && part["entrypoint"] == nil
	if v.seen["more"] || len(words) == 0 && (!bare || !slices.Contains(slices.Concat(v.c.Changed, v.c.Written), file)) {
		return // with all its folders, a line may be as long as the file
	}
	first, _, _ := strings.Cut(append(words, "image")[0], "\n")
	if len(words) == 1 {
		words = []string{"sh", "-c", words[0]}
	}
	line := quoted(words...)
	if inside {
		line = inContainer(part, words...)
	}
	v.addFrom(file, text, first, line)
}

// readServices adds the command that compose runs in a service.
func readServices(v *visit, r *row) {
	command := append(slices.Clone(v.words), lists.Each(v.c.Behind, shell.Word.String)...)
	for _, name := range v.named(r.files) {
		var tree struct{ Services map[string]map[string]any }
		file, text, _ := v.content(name)
		v.decode(file, text, &tree) // into none, if there is no such file
		if at := slices.IndexFunc(command, func(w string) bool { return tree.Services[w] != nil }); at >= 0 {
			v.place(file, text, tree.Services[command[at]], true, command[at+1:]...)
		}
	}
}

// mountedPod returns a Kubernetes pod whose containers have what the pod has: folders and privileges, as the services of a compose file have them.
func mountedPod(pod map[string]any) map[string]any {
	folders := map[any]string{}
	volumes, _ := pod["volumes"].([]any)
	for _, e := range volumes {
		volume, _ := e.(map[string]any)
		if host, ok := volume["hostPath"].(map[string]any); ok {
			folders[volume["name"]] = fmt.Sprint(host["path"])
		}
	}
	for _, key := range []string{"containers", "initContainers"} {
		containers, _ := pod[key].([]any)
		if containers = slices.Clone(containers); len(containers) > 0 {
			pod = maps.Clone(pod)
			pod[key] = containers
		}
		for i, e := range containers {
			c, _ := e.(map[string]any)
			mounts, _ := c["volumeMounts"].([]any)
			var all []any
			for _, e := range mounts {
				if m, _ := e.(map[string]any); folders[m["name"]] != "" {
					all = append(all, fmt.Sprintf("%v:%v", folders[m["name"]], m["mountPath"]))
				}
			}
			if rights, _ := c["securityContext"].(map[string]any); c != nil {
				c = maps.Clone(c)
				c["volumes"], c["privileged"] = all, rights["privileged"] == true || pod["hostPID"] == true
				containers[i] = c
			}
		}
	}
	return pod
}

// inContainer returns a command line that runs in the container that a compose file's service or a devcontainer.json describes, with all that this gives it.
func inContainer(service map[string]any, words ...string) string {
	c := []string{"docker", "run", "--rm"}
	given, _ := service["runArgs"].([]any)
	c = append(c, texts(given)...)
	mounts, _ := service["mounts"].([]any)
	c = append(c, lists.Each(texts(mounts), func(m string) string { return "--mount=" + m })...)
	long := slices.DeleteFunc(slices.Clone(mounts), func(e any) bool { _, text := e.(string); return text })
	list, _ := service["volumes"].([]any)
	for _, e := range slices.Concat(list, long) {
		if m, ok := e.(map[string]any); ok { // the long form
			e = fmt.Sprintf("%v:%v", m["source"], m["target"])
		}
		if folder, ok := e.(string); ok {
			c = append(c, "-v", folder)
		}
	}
	if service["privileged"] == true || service["pid"] == "host" {
		c = append(c, "--privileged", "--pid=host")
	}
	for _, told := range [][2]string{{"network_mode", "--network="}, {"working_dir", "--workdir="}} {
		if s, ok := service[told[0]].(string); ok {
			c = append(c, told[1]+s)
		}
	}
	hosts, _ := service["extra_hosts"].([]any)
	c = append(c, lists.Each(texts(hosts), func(host string) string { return "--add-host=" + strings.Replace(host, "=", ":", 1) })...)
	return quoted(append(append(c, "image"), words...)...)
}

func texts(list []any) (all []string) {
	for _, e := range list {
		if s, ok := e.(string); ok {
			all = append(all, s)
		}
	}
	return all
}

// readTasks records the tasks that the words name. A word that is not known may name any.
func readTasks(v *visit, r *row) {
	text := strings.Join(v.words, " ")
	names := slices.DeleteFunc(operands(v.words), func(w string) bool { return w == "exec" || slices.Contains(r.with, w) })
	if v.asksForAll() || v.all || len(v.named(r.files)) > 0 || len(names) == 0 && r.language == "" {
		return
	}
	if len(names) == 0 {
		text = r.language
	}
	v.asks, v.runsOf = append(partsOf(text), "_"), map[string]string{}
}

// asked returns what of a program with tasks runs.
func (v *visit) asked(file, language, text string) string {
	if v.asks == nil {
		return text
	}
	var others []string
	for _, other := range v.c.Changed {
		if other != file && !v.reader.IsProse(other) {
			more, _ := v.c.Files.Content(other)
			others = append(others, more)
		}
	}
	v.runsOf[file] = code.Default().Asked(language, text, v.asks, others...)
	return v.runsOf[file]
}

// foundIn returns what of a program with tasks a command may run that finds the file by itself: no task that its words and the session's files do not mention.
func (v *visit) foundIn(file, language, text string) string {
	if asks, of := v.asks, v.runsOf; asks == nil {
		v.asks, v.runsOf = append(partsOf(strings.Join(v.words, " ")), "_"), map[string]string{}
		defer func() { v.asks, v.runsOf = asks, of }()
	}
	if code.Default().Asked(language, text, v.asks) == text {
		return text // no other file of the session matters, however many there are
	}
	return v.asked(file, language, text)
}
