package cardtext

// RoomForEnd is how many characters a card keeps free per call for how it ends.
const RoomForEnd = 160

// endedLeast is the least budget for a call that ended and is named at all.
const endedLeast = 60

// Layout lays a card out, with one budget of characters for each call that waits
// and one for those that ended, and reports whether the platform takes that. A
// budget of 0 names no call at all.
type Layout[P any] func(waiting, ended int) (page P, fits bool)

// Whole lays a card out with all of the calls that wait, and ever less of those
// that ended. It is false where that does not fit.
func (l Layout[P]) Whole() (page P, fits bool) {
	for _, ended := range []int{Everything, 200, endedLeast} {
		if page, fits = l(Everything, ended); fits {
			break
		}
	}
	return page, fits
}

// Cut lays a card out with ever less of every call, beginning with at most so
// many characters, until it fits; a card that never does names no call.
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
