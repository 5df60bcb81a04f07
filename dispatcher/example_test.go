package dispatcher_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/store/storetest"
)

// A dispatcher expects this of a store: a change is one atomic step on one record, and a
// function of the stored record alone. storetest.Run checks a store of your own against the
// whole contract.
func ExampleStore() {
	var store dispatcher.Store = storetest.NewMemory()
	ctx := context.Background()
	take := func(r approval.Record) (approval.Record, error) {
		if r.Exists() {
			return approval.Record{}, approval.ErrKeep // somebody was first
		}
		return approval.Record{Open: true, Keys: []string{"t-81/2"}, Body: []byte("asked")}, nil
	}
	first, err := store.Update(ctx, approval.KindAsk, "k2", take)
	if err != nil {
		fmt.Println(err)
		return
	}
	second, err := store.Update(ctx, approval.KindAsk, "k2", take)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("written once:", first.Seq == second.Seq)

	found, err := store.Get(ctx, approval.KindAsk, "t-81/2")
	fmt.Println("found by its key:", string(found.Body), err)

	_, err = store.Get(ctx, approval.KindAsk, "k3")
	fmt.Println("no other:", errors.Is(err, approval.ErrNotFound))

	for r, err := range store.List(ctx, approval.Query{Kind: approval.KindAsk, Open: true}) {
		fmt.Println("open:", r.ID, err)
	}
	// Output:
	// written once: true
	// found by its key: asked <nil>
	// no other: true
	// open: k2 <nil>
}
