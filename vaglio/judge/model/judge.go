package model

import (
	"context"
	"errors"
	"math"
	"strconv"

	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
)

// JudgeError converts the error of a model that did not answer to a judge's. It leaves a deadline
// or the end of ctx as it is, for the engine to name.
func JudgeError(err error) error {
	e, ok := errors.AsType[*Error](err)
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return err
	case !ok:
		return &vaglio.JudgeError{Fault: "the model could not be asked", Class: vaglio.FaultModel, Err: err}
	case e.Fault == FaultDown:
		return &vaglio.JudgeError{Fault: e.Error(), Class: vaglio.FaultDown, Err: e.Err}
	default:
		return &vaglio.JudgeError{Fault: e.Error(), Class: vaglio.FaultModel, Err: e.Err}
	}
}

// Ended returns a judge's error if the model refused or its answer was cut, nil if it can be read.
func (r *Reply) Ended() error {
	switch {
	case r.Refused:
		return &vaglio.JudgeError{Fault: "the model declined to answer", Class: vaglio.FaultRefused}
	case r.Cut:
		return &vaglio.JudgeError{Fault: "the model's answer broke off at its limit of tokens", Class: vaglio.FaultCut}
	}
	return nil
}

// MalformedError says what is wrong with a model's verdict.
type MalformedError struct {
	// Field is the member; empty means the whole answer.
	Field string
	// Problem says what is wrong with it, without quoting the answer.
	Problem string
}

// Error names the member and what is wrong with it.
func (e *MalformedError) Error() string {
	if e.Field == "" {
		return e.Problem
	}
	return "its " + e.Field + " " + e.Problem
}

// Share parses a member that is a number in [0,1]. Nothing is clamped.
func Share(members map[string]strictjson.Value, field string) (float64, error) {
	v, ok := members[field]
	if !ok {
		return 0, &MalformedError{field, "is missing"}
	}
	if v.Kind() != '0' {
		return 0, &MalformedError{field, "is not a number"}
	}
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil || math.IsNaN(f) || f < 0 || f > 1 {
		return 0, &MalformedError{field, "is not from 0 to 1"}
	}
	return f, nil
}

// Text parses a member that is a string.
func Text(members map[string]strictjson.Value, field string) (string, error) {
	v, ok := members[field]
	if !ok {
		return "", &MalformedError{field, "is missing"}
	}
	var text string
	if v.Kind() != '"' || strictjson.UnmarshalLoose(v, &text) != nil {
		return "", &MalformedError{field, "is not text"}
	}
	return text, nil
}
