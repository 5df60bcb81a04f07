package cardtext

// RoomForEnd is how many characters per call a card reserves for how the call ends.
const RoomForEnd = 160

// endedLeast is the smallest budget of an ended call that is still listed.
const endedLeast = 60

// Layout lays out a card, with a budget of characters for each waiting call and another for
// each ended one, and reports whether the result fits the platform. A budget of 0 lists no
// calls.
type Layout[P any] func(waiting, ended int) (page P, fits bool)

// Whole lays out a card with the waiting calls in full and less and less of those that
// ended. It reports false if that does not fit.
func (l Layout[P]) Whole() (page P, fits bool) {
	for _, ended := range []int{Everything, 200, endedLeast} {
		if page, fits = l(Everything, ended); fits {
			break
		}
	}
	return page, fits
}

// Cut lays out a card with less and less of every call, starting with at most the given
// number of characters, until it fits. A card that never fits lists no calls.
func (l Layout[P]) Cut(most int) P {
	for _, budget := range []int{3000, 1500, 600, 250, 100, 40} {
		if budget > most {
			continue
		}
		if page, fits := l(budget, min(budget, endedLeast)); fits {
			return page
		}
	}
	page, _ := l(0, 0)
	return page
}
