package unixtext

import "regexp"

// mayPrint matches what may print something in perl and ruby, actsOnly a program of awk in which no rule does.
var (
	mayPrint = regexp.MustCompile(`(?i)print|put|say|write|\bpp?\b|<<|display|out`)
	actsOnly = regexp.MustCompile(`^\s*(?:0|(?:[^{}]*\{(?:[^{}p]|p[^r{}])*\}\s*)*)\s*$`)
)

// Quiet reports whether a program that runs for each line prints nothing by itself.
func Quiet(language, program string) bool {
	if language == "awk" {
		return actsOnly.MatchString(program)
	}
	return !mayPrint.MatchString(program)
}
