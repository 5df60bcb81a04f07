package approval

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Question is a question from a person to the agent about an ask that waits, and the
// agent's answer. It does not answer the ask: it decides nothing and moves no deadline.
type Question struct {
	By      Person    `json:"by"`
	Channel string    `json:"channel"`
	At      time.Time `json:"at"`
	// Words are the person's question.
	Words string `json:"words"`
	// Told says that the agent was given the question.
	Told bool `json:"told,omitempty"`
	// Answer is the agent's answer, given at AnsweredAt; both are zero until then.
	Answer     string    `json:"answer,omitempty"`
	AnsweredAt time.Time `json:"answered_at,omitzero"`
}

// MaxQuestions is how many questions people may ask about one ask: someone who needs more
// should deny, and say what to do.
const MaxQuestions = 2

// Open reports whether the agent has not answered yet.
func (q *Question) Open() bool { return q.AnsweredAt.IsZero() }

// Question puts a question to the agent. If it cannot be asked, Question changes nothing
// and returns an [*OrderError] or a [*WordsError].
func (a *Ask) Question(q Question) error {
	words, err := checkWords(q.Words)
	switch {
	case err != nil:
		return err
	case words == "":
		return &OrderError{Key: OrderWords, Value: string(a.ID)}
	}
	if a.Lapse(q.At); !a.Waiting() {
		return &OrderError{Key: OrderNothing, Value: string(a.ID)}
	}
	switch n := len(a.Questions); {
	case n > 0 && a.Questions[n-1].Open():
		return &OrderError{Key: OrderAsked, Value: string(a.ID)}
	case n >= MaxQuestions:
		return &OrderError{Key: OrderRounds, Value: string(a.ID)}
	}
	q.Words, q.By.Name = words, clip(strings.ToValidUTF8(q.By.Name, "�"), maxPerson)
	q.Told, q.Answer, q.AnsweredAt = false, "", time.Time{}
	a.Questions = append(a.Questions, q)
	// A person who asked something must not find further calls on the card.
	a.Closed = true
	return nil
}

// Asked returns the question that the agent has not answered while its ask waits, or nil.
func (a *Ask) Asked() *Question {
	if n := len(a.Questions); n > 0 && a.Questions[n-1].Open() && a.Waiting() {
		return &a.Questions[n-1]
	}
	return nil
}

// TellQuestion records that the agent was given the open question. It reports false if
// there is none, or if that is already recorded.
func (a *Ask) TellQuestion() bool {
	q := a.Asked()
	if q == nil || q.Told {
		return false
	}
	q.Told = true
	return true
}

// AnswerQuestion records the agent's answer to the open question, cut to the length that a
// person's words may have. It reports false and changes nothing if no question is open or
// the answer is empty: a repeated call brings its answer again.
func (a *Ask) AnswerQuestion(words string, at time.Time) bool {
	words = strings.TrimSpace(strings.ToValidUTF8(words, "�"))
	q := a.Asked()
	if q == nil || words == "" {
		return false
	}
	q.Answer, q.AnsweredAt, q.Told = clip(words, MaxWords), at, true
	return true
}

// talk encodes in a view how far the questions got.
func (a *Ask) talk() string {
	var b strings.Builder
	for i := range a.Questions {
		if b.WriteByte('?'); !a.Questions[i].Open() {
			b.WriteByte('!')
		}
	}
	return b.String()
}

// checkWords checks a person's words and returns them trimmed.
func checkWords(words string) (string, error) {
	words = strings.TrimSpace(words)
	switch n := utf8.RuneCountInString(words); {
	case !utf8.ValidString(words):
		return "", &WordsError{Problem: "are not valid UTF-8; send them as UTF-8 text"}
	case n > MaxWords:
		return "", &WordsError{fmt.Sprintf("have %d characters; at most %d are taken", n, MaxWords), n}
	}
	return words, nil
}

// QuestionText is a person's question in the form the waiting agent gets it.
type QuestionText struct {
	Words   string    `json:"words"`
	AskedAt time.Time `json:"asked_at"`
	// Repeated says that an earlier answer already carried the question: the agent need not
	// stop waiting for it again.
	Repeated bool `json:"repeated,omitempty"`
}

// Questioned returns the answer of a waiting ask, with the question that its agent has not
// answered; without one, it returns the answer unchanged.
func (a Answer) Questioned(q *Question) Answer {
	if q != nil && a.Decision == RulingPending {
		a.Question = &QuestionText{Words: q.Words, AskedAt: q.At, Repeated: q.Told}
	}
	return a
}

// maxQuestion is the number of characters of a question that its text holds.
const maxQuestion = 420

// text tells the agent what it is asked, and how to answer.
func (q *QuestionText) text(r *Refusal) string {
	return clip("vaglio: this call has not run yet. A person who may allow it asks you something first.\n"+
		"The person's question: "+clip(quote(q.Words, maxQuestion), maxQuestion+40)+"\n"+
		"Wanted: "+oneLine(clip(r.Wanted, 140))+"\n"+
		"It keeps waiting. Answer in words, and then make exactly the same call again: the person reads your answer, and decides.", maxText)
}
