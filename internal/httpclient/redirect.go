package httpclient

import (
	"errors"
	"net/http"
)

const most = 10

// follow is for http.Client.CheckRedirect. It repeats a POST that is answered by 301 as a POST,
// where net/http would make it a GET. Projects move their schedulers and upload handlers to https
// that way.
//
// Source: BOINC client/http_curl.cpp, CURLOPT_POST301.
func follow(req *http.Request, via []*http.Request) error {
	if len(via) >= most {
		return errors.New("stopped after 10 redirects") // net/http's words, which retryablehttp recognizes
	}
	first, last := via[0], via[len(via)-1]
	if last.Method != http.MethodPost || req.Method == http.MethodPost || req.Response.StatusCode != http.StatusMovedPermanently || first.GetBody == nil {
		return nil
	}
	body, err := first.GetBody()
	if err != nil {
		return err
	}
	req.Method, req.Body, req.GetBody, req.ContentLength = http.MethodPost, body, first.GetBody, first.ContentLength
	if t := first.Header.Get("Content-Type"); t != "" {
		req.Header.Set("Content-Type", t)
	}
	return nil
}
