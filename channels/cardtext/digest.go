package cardtext

import (
	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/templates"
)

// maxDigested is the most characters of each text of others in a digest.
const maxDigested = 120

// DigestLine reads one line of a digest.
func DigestLine(texts *templates.Texts, l *approval.DigestLine) Text {
	return Say(texts, templates.Key("digest."+l.Key), l.Fill(
		func(key string) (string, bool) {
			return texts.Plain(templates.Key(key), nil), texts.Has(templates.Key(key))
		},
		func(s string, whole bool) any {
			if whole {
				return templates.Theirs(s)
			}
			return Within(s, maxDigested)
		},
	))
}
