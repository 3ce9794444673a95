package reason

import "github.com/starling-grid/starling/internal/words"

// CureNow returns the cure of a trouble for a person who asked for something just now, such as to attach to a
// project, or an empty text. The cures in Troubles are for attached projects, which the agent contacts again.
func (r Reason) CureNow() words.Text { return curesNow[r.Code] }

var curesNow = map[Code]words.Text{
	Offline:         words.T("Check the network connection."),
	NameUnknown:     words.T("Check that this computer is online, and open the address in a browser."),
	ProxyDown:       checkProxy,
	ProxyRefused:    checkProxy,
	CertExpired:     words.T("Check this computer's date and time."),
	CertNotYetValid: words.T("Check this computer's date and time."),
	CertWrongName:   openPage,
	CertUntrusted:   words.T("Install the root certificates (Debian package: ca-certificates), and check whether a proxy or a virus scanner opens secure connections."),
	TLSFailed:       words.T("Check whether the address starts with http:// or https://, for example in a browser."),
	NotAProject:     openPage,
	NotFound:        checkAddress,
	HTTPError:       checkAddress,
	RedirectRefused: checkAddress,
	Forbidden:       checkAddress,
	Closed:          words.T("Choose another project."),
	ServerDown:      words.T("Check the address and its port, or try again later."),
	ServerSilent:    tryLater,
	ConnectionLost:  tryLater,
	TooManyRequests: tryLater,
	Maintenance:     tryLater,
	ServerError:     tryLater,
	ReplyUnusable:   tryLater,
	ContactFailed:   tryLater,
}

var (
	checkAddress = words.T("Open the address in a browser to check it.")
	checkProxy   = words.T("Check proxy in starling.toml and the environment (HTTP_PROXY, HTTPS_PROXY, NO_PROXY).")
	openPage     = words.T("Open the address in a browser: log in to the network if it asks for that, and check the address.")
	tryLater     = words.T("Try again later.")
)
