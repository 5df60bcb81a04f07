package cardtext

import (
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/templates"
)

// maxDigested is the most characters of each foreign text in a digest.
const maxDigested = 120

// DigestLine puts one line of a digest into words.
func DigestLine(texts *templates.Texts, l *report.DigestLine) Text {
	return Say(texts, templates.Key("digest."+l.Key), l.Fill(texts.Word, texts.InWords, func(s string, whole bool) any {
		if whole {
			return templates.Theirs(s)
		}
		return Within(s, maxDigested)
	}))
}
