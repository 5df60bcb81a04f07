// Package lists makes lists of what functions make of the elements of others.
package lists

// Each returns what a function makes of each element, nil of none.
func Each[E, R any](list []E, of func(E) R) (out []R) {
	for _, e := range list {
		out = append(out, of(e))
	}
	return out
}

// All returns, one after the other, the lists that a function makes of each element.
func All[E, R any](list []E, of func(E) []R) (out []R) {
	for _, e := range list {
		out = append(out, of(e)...)
	}
	return out
}
