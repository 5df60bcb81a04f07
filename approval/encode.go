package approval

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
)

// The forms that [EncodeAsk] and [EncodeStep] write. A change that an older program would
// misread raises one. The second form of an ask has buttons that stand for some of its
// calls, or for nothing any more. The third tells people next to a card how its ask ended.
// The fourth says what an approval is about, and until when a denial stands. The fifth has
// questions from people. The sixth allows for a call's values to be dropped. The seventh
// has calls that a person changed. The eighth has calls that join late, postponed reminders
// and hand-overs. A step's second form names its route.
const (
	askForm       = 8
	stepForm      = 2
	judgementForm = 1
	// obscuredForm is the first form in which every ask says where masked values decide.
	obscuredForm = 8
)

// FormError says that this program does not know the form of a stored body: a newer program
// wrote it, or vaglio did not.
type FormError struct {
	// What is what was read, such as "ask".
	What string
	// Found is the body's form; 0 if it states none.
	Found int
	// Known is the newest form that this program reads.
	Known int
}

func (e *FormError) Error() string {
	if e.Found <= 0 {
		return fmt.Sprintf("stored %s states no form: it was not written by vaglio", e.What)
	}
	return fmt.Sprintf("stored %s has form %d and this vaglio reads up to %d: use the newer vaglio that wrote it", e.What, e.Found, e.Known)
}

type askBody struct {
	V   int  `json:"v"`
	Ask *Ask `json:"ask"`
}

type stepBody struct {
	V    int   `json:"v"`
	Step *Step `json:"step"`
}

type judgementBody struct {
	V         int               `json:"v"`
	Judgement *vaglio.Judgement `json:"judgement"`
}

func (b *askBody) form() int       { return b.V }
func (b *stepBody) form() int      { return b.V }
func (b *judgementBody) form() int { return b.V }

// EncodeAsk returns the ask as the body of a record of [KindAsk].
func EncodeAsk(a Ask) ([]byte, error) {
	return encode("ask", askBody{askForm, &a})
}

// DecodeAsk reads what [EncodeAsk] wrote. It returns a [*FormError] if a newer program
// wrote it.
func DecodeAsk(body []byte) (Ask, error) {
	var b askBody
	if err := decode("ask", askForm, body, &b); err != nil {
		return Ask{}, err
	}
	if b.Ask == nil {
		return Ask{}, errors.New("stored ask is empty")
	}
	if b.V < obscuredForm {
		b.Ask.presumeObscured()
	}
	return *b.Ask, nil
}

// EncodeStep returns the step as the body of a record of [KindStep].
func EncodeStep(s Step) ([]byte, error) {
	return encode("step", stepBody{stepForm, &s})
}

// AppendStep appends what [EncodeStep] returns to dst.
func AppendStep(dst []byte, s *Step) ([]byte, error) {
	body, err := strictjson.Append(dst, stepBody{stepForm, s})
	if err != nil {
		return dst, fmt.Errorf("encode step: %w", err)
	}
	return body, nil
}

// DecodeStep reads what [EncodeStep] wrote. It returns a [*FormError] if a newer program
// wrote it.
func DecodeStep(body []byte) (Step, error) {
	var b stepBody
	if err := decode("step", stepForm, body, &b); err != nil {
		return Step{}, err
	}
	if b.Step == nil {
		return Step{}, errors.New("stored step is empty")
	}
	return *b.Step, nil
}

// EncodeJudgement returns the judgement as the body of a record of [KindJudgement].
func EncodeJudgement(j vaglio.Judgement) ([]byte, error) {
	return encode("judgement", judgementBody{judgementForm, &j})
}

// DecodeJudgement reads what [EncodeJudgement] wrote. It returns a [*FormError] if a newer
// program wrote it.
func DecodeJudgement(body []byte) (vaglio.Judgement, error) {
	var b judgementBody
	if err := decode("judgement", judgementForm, body, &b); err != nil {
		return vaglio.Judgement{}, err
	}
	if b.Judgement == nil {
		return vaglio.Judgement{}, errors.New("stored judgement is empty")
	}
	return *b.Judgement, nil
}

// encode writes map members in order, so that equal values have equal bodies.
func encode(what string, v any) ([]byte, error) {
	body, err := strictjson.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", what, err)
	}
	return body, nil
}

// decode reads a body of a known form. It refuses unknown members, because writing the
// value back would drop them. If a newer program added them, the error is about the form,
// not about the members. The decoder's own error may quote the body, which holds live
// arguments, so only the position of the mistake is reported.
func decode(what string, known int, body []byte, v interface{ form() int }) error {
	err := strictjson.UnmarshalStored(body, v)
	form := v.form()
	if err != nil {
		var only struct {
			V int `json:"v"`
		}
		if err := strictjson.UnmarshalLoose(body, &only); err != nil {
			return damaged(what, err)
		}
		form = only.V
	}
	if form < 1 || form > known {
		return &FormError{What: what, Found: form, Known: known}
	}
	if err != nil {
		return damaged(what, err)
	}
	return nil
}

// KeptAt returns the time of the step or judgement in a record's body and decodes little
// else. It returns the errors of a full decoding, as far as it looks.
func KeptAt(kind Kind, body []byte) (time.Time, error) {
	var b struct {
		V         int      `json:"v"`
		Step      *instant `json:"step"`
		Judgement *instant `json:"judgement"`
	}
	if err := strictjson.UnmarshalLoose(body, &b); err != nil && !errors.Is(err, errFound) {
		return time.Time{}, damaged(string(kind), err)
	}
	is, known := b.Step, stepForm
	if kind == KindJudgement {
		is, known = b.Judgement, judgementForm
	}
	switch {
	case b.V < 1 || b.V > known:
		return time.Time{}, &FormError{What: string(kind), Found: b.V, Known: known}
	case is == nil:
		return time.Time{}, fmt.Errorf("stored %s is empty", kind)
	}
	return is.at, nil
}

// instant is when something happened that says it itself, under "at".
type instant struct{ at time.Time }

// errFound ends the reading of what is behind an instant, which may be long.
var errFound = errors.New("the instant was found")

// UnmarshalJSONFrom reads an object up to its instant.
func (i *instant) UnmarshalJSONFrom(d *strictjson.Decoder) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		if name.String() != "at" {
			if err := d.SkipValue(); err != nil {
				return err
			}
			continue
		}
		v, err := d.ReadValue()
		if err != nil {
			return err
		}
		return cmp.Or(i.at.UnmarshalJSON(v), errFound)
	}
	return errors.New("there is no instant")
}

func damaged(what string, err error) error {
	at, syntax, known := strictjson.Mistake(err)
	switch {
	case !known:
		return fmt.Errorf("stored %s cannot be read", what)
	case syntax:
		return fmt.Errorf("stored %s cannot be read: it is not JSON from byte %d on", what, at)
	default:
		return fmt.Errorf("stored %s cannot be read: mistake at byte %d", what, at)
	}
}
