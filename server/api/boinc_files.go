package api

import (
	"fmt"
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

// uploadFiles stores the files that come with a request as file_0, file_1, …
func (c *boincCall) uploadFiles() error {
	if form := c.http.MultipartForm; form == nil || len(form.File) != len(c.in.Files) {
		return faultf(http.StatusBadRequest, "send as many as it names, as file_0, file_1 and so on", "the request names %d files and has others", len(c.in.Files))
	}
	for i, name := range c.in.Files {
		f, _, err := c.http.FormFile(fmt.Sprint("file_", i))
		if err != nil {
			return faultf(http.StatusBadRequest, "send files as file_0, file_1 and so on", "the request has no file_%d", i)
		}
		err = c.stage(c.http.Context(), c.token.ID, strings.TrimSpace(name), f)
		_ = f.Close()
		if err != nil {
			return err
		}
	}
	c.out.Empty("success")
	return nil
}
