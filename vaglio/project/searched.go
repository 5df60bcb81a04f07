package project

import (
	"math"

	"github.com/metnos/vaglio/vaglio/shell"
)

// search is a text of a file that is searched for what a command runs from a folder.
type search struct{ how, file, text, dir string }

// found is what was found, and how many bytes were looked at and produced.
type found struct {
	tasks []shell.Task
	bytes int
}

// mostSearched is how many bytes of texts are kept with what was found in them.
const mostSearched = 2 << 20

// searches looks for what a text runs, once however many commands of a session may run it: nothing but the text and the folder decides what is found.
func (v *visit) searches(how, file, text string, find func(v *visit, file, text string)) {
	key := search{how, file, text, v.dir}
	was, ok := v.reader.searched.Get(key)
	if !ok {
		alone := &visit{dir: v.dir, left: maxBytes, reader: v.reader}
		find(alone, file, text)
		if was = (found{alone.tasks, maxBytes - alone.left}); alone.seen["more"] {
			was = found{bytes: math.MaxInt}
		}
		size := len(text)
		for _, t := range was.tasks {
			size += len(t.Text)
		}
		v.reader.searched.Put(key, was, size)
	}
	if v.seen["more"] || was.bytes > v.left || len(v.tasks)+len(was.tasks) >= maxTasks {
		find(v, file, text)
		return
	}
	v.left -= was.bytes
	v.tasks = append(v.tasks, was.tasks...)
}
