package approval

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Question is what a person asks the agent about an ask that waits, and what the
// agent says. It is no answer to the ask: nothing is decided by it, and no deadline
// moves.
type Question struct {
	By      Person    `json:"by"`
	Channel string    `json:"channel"`
	At      time.Time `json:"at"`
	// Words are the person's.
	Words string `json:"words"`
	// Told says that the agent was given the question.
	Told bool `json:"told,omitempty"`
	// Answer are the agent's words, and AnsweredAt when it said them; zero so far.
	Answer     string    `json:"answer,omitempty"`
	AnsweredAt time.Time `json:"answered_at,omitzero"`
}

// MaxQuestions is how often the people of one ask may ask back: who needs more than
// that should deny, and say what to do.
const MaxQuestions = 2

// Open reports whether the agent has not answered yet.
func (q *Question) Open() bool { return q.AnsweredAt.IsZero() }

// Question puts a question to the agent. An [*OrderError] or a [*WordsError] says
// why it cannot be; nothing changed then.
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
	// Who was asked something is not to meet further calls on the card.
	a.Closed = true
	return nil
}

// Asked returns the question that the agent has not answered, while its ask waits;
// nil for none.
func (a *Ask) Asked() *Question {
	if n := len(a.Questions); n > 0 && a.Questions[n-1].Open() && a.Waiting() {
		return &a.Questions[n-1]
	}
	return nil
}

// TellQuestion notes that the agent was given the open question. It reports false
// where there is none, or it was before.
func (a *Ask) TellQuestion() bool {
	q := a.Asked()
	if q == nil || q.Told {
		return false
	}
	q.Told = true
	return true
}

// AnswerQuestion keeps what the agent says to the open question, as much of it as
// a person's words may have. It reports false, and changes nothing, where no
// question is open or nothing is said: a repeated call says its answer again.
func (a *Ask) AnswerQuestion(words string, at time.Time) bool {
	words = strings.TrimSpace(strings.ToValidUTF8(words, "�"))
	q := a.Asked()
	if q == nil || words == "" {
		return false
	}
	q.Answer, q.AnsweredAt, q.Told = clip(words, MaxWords), at, true
	return true
}

// talk stands in a view for how far the questions got.
func (a *Ask) talk() string {
	s := ""
	for i := range a.Questions {
		if s += "?"; !a.Questions[i].Open() {
			s += "!"
		}
	}
	return s
}

// checkWords checks a person's words, and returns them without the spaces around.
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

// QuestionText is a person's question as the waiting agent is given it.
type QuestionText struct {
	Words   string    `json:"words"`
	AskedAt time.Time `json:"asked_at"`
	// Repeated says that an earlier answer told of it: the agent need not stop
	// waiting for it again.
	Repeated bool `json:"repeated,omitempty"`
}

// Questioned returns the answer of an ask that waits, with the question that its
// agent has not answered; without one, the answer as it is.
func (a Answer) Questioned(q *Question) Answer {
	if q != nil && a.Decision == RulingPending {
		a.Question = &QuestionText{Words: q.Words, AskedAt: q.At, Repeated: q.Told}
	}
	return a
}

// maxQuestion is how many characters of a question its text holds.
const maxQuestion = 420

// text tells the agent what it is asked, and how it answers.
func (q *QuestionText) text(r *Refusal) string {
	return clip("vaglio: this call has not run yet. A person who may allow it asks you something first.\n"+
		"The person's question: "+clip(quote(q.Words, maxQuestion), maxQuestion+40)+"\n"+
		"Wanted: "+oneLine(clip(r.Wanted, 140))+"\n"+
		"It waits on. Answer in words, and then make exactly the same call again: the person reads your answer, and decides.", maxText)
}
