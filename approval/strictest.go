package approval

import (
	"cmp"
	"slices"
)

// For returns the route of a call, which may make several others: the strictest of theirs, by the
// first of the rules among equally strict ones. So no call gets an easier route by another beside it.
func (r *Routing) For(cases ...Case) Route {
	if len(r.Routes) == 0 {
		return openRoute()
	}
	var strictest *Route
	first := 0
	for _, c := range cases {
		to, rule := r.forOne(c)
		if to == nil {
			return Route{} // A checked routing never gets here. Nobody may decide.
		}
		if strictest == nil || to.demands() > strictest.demands() || to.demands() == strictest.demands() && rule < first {
			strictest, first = to, rule
		}
	}
	return *strictest
}

// forOne returns the route of a call that makes no others, and the number of the rule that fits.
func (r *Routing) forOne(c Case) (to *Route, rule int) {
	for i := range r.Rules {
		if !r.Rules[i].fits(c) {
			continue
		}
		name := r.Rules[i].Route
		if i == len(r.Rules)-1 && r.OwnRoute != nil {
			name = cmp.Or(r.OwnRoute(c.Agent), name)
		}
		if to := r.route(name); to != nil {
			return to, i
		}
	}
	return nil, 0
}

// demands is higher for a stricter route: one that needs more people, separate ones, digits, or not
// just anyone.
func (r *Route) demands() int {
	n := 8 * max(r.Quorum, 1)
	for i, more := range []bool{!slices.Contains(r.Approvers, Anyone), r.Match, r.Separate} {
		if more {
			n += 1 << i
		}
	}
	return n
}
