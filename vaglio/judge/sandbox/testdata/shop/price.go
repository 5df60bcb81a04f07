// Package shop is what a judge's sandbox is tried with.
package shop

// Total is what a number of things costs, in cents: from ten on, a tenth less.
func Total(each, number int) int {
	sum := each * number
	if number >= 10 {
		sum -= sum / 10
	}
	return sum
}
