package api

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// queryFiles lists which of the files that a request names the project does not have, by their
// places in it.
func (c *boincCall) queryFiles() error {
	c.out.Open("absent_files")
	for i, name := range c.in.Files {
		name = strings.TrimSpace(name)
		if err := uploadable(name); err != nil {
			return err
		}
		_, there, err := c.hasFile(c.http.Context(), c.token.ID, name)
		if err != nil {
			return err
		}
		if !there {
			c.out.Int("file", int64(i))
		}
	}
	c.out.Close("absent_files")
	return nil
}

// uploadFiles stores the files that follow a request as file_0, file_1, …, one after the other.
func (c *boincCall) uploadFiles() error {
	if c.parts == nil {
		return faultf(http.StatusBadRequest, "send it as multipart/form-data", "the request names %d files and brings none", len(c.in.Files))
	}
	for i, name := range c.in.Files {
		part, err := c.parts.NextPart()
		if err == nil && part.FormName() != fmt.Sprint("file_", i) {
			err = io.EOF
		}
		if errors.Is(err, io.EOF) {
			return faultf(http.StatusBadRequest, "send as many as it names, as file_0, file_1 and so on, in this order", "the request names %d files and has no file_%d", len(c.in.Files), i)
		}
		if err == nil {
			_, err = c.receive(c.http, c.token, strings.TrimSpace(name), part, 1)
		}
		if err != nil {
			return err
		}
	}
	if _, err := c.parts.NextPart(); !errors.Is(err, io.EOF) {
		return faultf(http.StatusBadRequest, "name each of them as phys_name", "the request names %d files and has more", len(c.in.Files))
	}
	c.out.Empty("success")
	return nil
}
