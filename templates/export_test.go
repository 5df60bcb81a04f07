package templates

import "slices"

// Fields returns the names of the fields of every text.
func Fields() map[Key][]string {
	c := checker{}
	c.reference()
	all := map[Key][]string{}
	for key, fields := range c.fields {
		all[key] = []string{}
		for name := range fields {
			all[key] = append(all[key], name)
		}
		slices.Sort(all[key])
	}
	return all
}
