package main

import (
	"fmt"
	"testing"

	"github.com/starling-grid/starling/protocol"
)

// A project's refusal of an account is a sentence with the remedy, without a number.
func TestRefusalsOfAccounts(t *testing.T) {
	s := signup{url: "https://p.example/", email: "a@b.example"}
	for num, want := range map[int]string{
		protocol.ErrNumNotFound:    "attach: there is no account of a@b.example at https://p.example/. You can: check the address, or create an account by adding --create",
		protocol.ErrNumBadPassword: "attach: https://p.example/ does not accept this password for a@b.example. You can: try again, have a forgotten one reset on the project's web site, or for a new account add --create",
		protocol.ErrNumNotUnique:   "attach: https://p.example/ says: No. You can: if you have an account there, log in to it without --create",
		protocol.ErrNumNoCreation:  "attach: https://p.example/ says: No. You can: create an account on its web site, then attach without --create",
		-183:                       "attach: https://p.example/ says: No",
	} {
		if got := s.refused(fmt.Errorf("account: %w", &protocol.AccountError{Num: num, Msg: "No."})); got == nil || got.Error() != want {
			t.Errorf("%d: got %v, want %s", num, got, want)
		}
	}
	if err := s.refused(nil); err != nil {
		t.Error(err)
	}
}
