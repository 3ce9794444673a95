package httpclient

import (
	"crypto/x509"
	"sync"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// trustFallback makes this process trust the usual authorities on a system without certificates. It takes
// 4 ms, so commands that do not connect leave it out.
var trustFallback = sync.OnceFunc(func() {
	pool := x509.NewCertPool()
	for r := range bundle.Roots() {
		c, err := x509.ParseCertificate(r.Certificate)
		if err != nil {
			panic(err) // the module's own test parses all
		}
		pool.AddCertWithConstraint(c, r.Constraint)
	}
	x509.SetFallbackRoots(pool)
})
