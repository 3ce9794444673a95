//go:build !linux

package world

import "errors"

func redirect(int, string) (back func(), err error) { return nil, errors.ErrUnsupported }
