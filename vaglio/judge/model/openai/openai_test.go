package openai_test

import (
	"testing"

	"github.com/metnos/vaglio/vaglio/judge/model"
	"github.com/metnos/vaglio/vaglio/judge/model/modeltest"
	"github.com/metnos/vaglio/vaglio/judge/model/openai"
)

func TestContract(t *testing.T) {
	modeltest.Contract(t, modeltest.OpenAI, func(s model.Server) model.Model { return openai.New(s) })
}
