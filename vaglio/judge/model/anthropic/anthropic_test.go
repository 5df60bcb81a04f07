package anthropic_test

import (
	"testing"

	"github.com/metnos/vaglio/vaglio/judge/model"
	"github.com/metnos/vaglio/vaglio/judge/model/anthropic"
	"github.com/metnos/vaglio/vaglio/judge/model/modeltest"
)

func TestContract(t *testing.T) {
	modeltest.Contract(t, modeltest.Anthropic, func(s model.Server) model.Model { return anthropic.New(s) })
}
