package reason

import "time"

// The causes of trouble with a project's servers. In the first group the trouble is on the way to
// the server or in the server. In the second, the server has deliberately answered so.
const (
	Offline           Code = "network_unreachable"
	NameUnknown       Code = "name_not_resolved"
	ProxyDown         Code = "proxy_unreachable"
	ProxyRefused      Code = "proxy_refused"
	RedirectRefused   Code = "redirect_refused"
	ServerDown        Code = "server_down"
	ServerSilent      Code = "server_silent"
	ConnectionLost    Code = "connection_lost"
	CertExpired       Code = "certificate_expired"
	CertNotYetValid   Code = "certificate_not_yet_valid"
	CertWrongName     Code = "certificate_for_another_name"
	CertUntrusted     Code = "certificate_untrusted"
	TLSFailed         Code = "tls_failed"
	NotAProject       Code = "not_a_project"
	NotFound          Code = "http_not_found"
	Forbidden         Code = "http_forbidden"
	TooManyRequests   Code = "http_too_many_requests"
	Maintenance       Code = "maintenance"
	ServerError       Code = "server_error"
	HTTPError         Code = "http_error"
	ReplyUnusable     Code = "reply_unusable"
	NotAcknowledged   Code = "results_not_acknowledged"
	ContactFailed     Code = "contact_failed"
	PlatformRefused   Code = "platform_not_supported"
	OwnRefused        Code = "own_programs_not_supported"
	KeyRefused        Code = "account_key_refused"
	ClientTooOld      Code = "client_too_old"
	ComputerRefused   Code = "computer_refused"
	SigningKeyChanged Code = "signing_key_changed"
	Closed            Code = "project_closed"
	NoVirtualBox      Code = "virtualbox_needed"
	NoContainers      Code = "containers_needed"
	Moved             Code = "project_moved"
)

const (
	tryNow = "To try now: starling update {url}"
	keeps  = "The agent keeps trying, and computing continues."
	again  = keeps + " " + tryNow
	wait   = "Wait: the agent keeps trying, and computing continues. " + tryNow
	detach = "To detach: starling detach {url}"
)

// Troubles are the causes of trouble with a project's servers.
var Troubles = []Entry{
	{Offline, "This computer has no network connection to {about}.", "This computer has no network connection.", "Check the network connection. " + again},
	{NameUnknown, "The name {about} cannot be resolved: this computer is offline, or the address is wrong.", "The server's name cannot be resolved: this computer is offline, or the address is wrong.", "Check that this computer is online, and open the project's address in a browser. " + again},
	{ProxyDown, "The proxy {about} cannot be reached.", "The proxy cannot be reached.", "Check proxy in starling.toml and the environment (HTTP_PROXY, HTTPS_PROXY, NO_PROXY). " + tryNow},
	{ProxyRefused, "The proxy refused the connection ({about}).", "The proxy refused the connection.", "Check the name and the password in proxy in starling.toml or in the environment (HTTP_PROXY, HTTPS_PROXY). " + tryNow},
	{RedirectRefused, "{about} redirects the agent to where it does not follow: in a circle, to an address that it cannot use, in a way that leaves a file behind, or from https to http, where others could read your account key.", "The server redirects the agent to where it does not follow: in a circle, to an address that it cannot use, in a way that leaves a file behind, or from https to http, where others could read your account key.", "Only the project can correct that. If it lasts for days, inform the project. " + again},
	{ServerDown, "{about} refuses connections: the server is down, or a firewall blocks the connection.", "The server refuses connections: it is down, or a firewall blocks the connection.", wait},
	{ServerSilent, "{about} does not answer: the server is down or overloaded, or a firewall blocks the connection.", "The server does not answer: it is down or overloaded, or a firewall blocks the connection.", wait},
	{ConnectionLost, "The connection to {about} was lost before the reply was complete.", "The connection was lost before the reply was complete.", wait},
	{CertExpired, "The certificate of {about} has expired, or this computer's clock is wrong.", "The server's certificate has expired, or this computer's clock is wrong.", "Check this computer's date and time. If they are right, the project must renew its certificate; the agent keeps trying. " + tryNow},
	{CertNotYetValid, "The certificate of {about} is not valid yet: this computer's clock is probably wrong.", "The server's certificate is not valid yet: this computer's clock is probably wrong.", "Set this computer's date and time, or use NTP. " + tryNow},
	{CertWrongName, "The server that answers for {about} has a certificate for another name.", "The server has a certificate for another name.", "Check the project's address in a browser. A network login page can be the cause: log in there first. " + tryNow},
	{CertUntrusted, "The certificate of {about} is not trusted: a proxy may be intercepting the connection, or root certificates are missing.", "The server's certificate is not trusted: a proxy may be intercepting the connection, or root certificates are missing.", "Install the root certificates (Debian package: ca-certificates), and check whether a proxy or a virus scanner opens secure connections. " + tryNow},
	{TLSFailed, "No secure connection to {about} can be made.", "No secure connection can be made.", "Open the project's address in a browser, and check whether it starts with http:// or https://. " + again},
	{NotAProject, "{about} answered with a web page that is not a project's: a network login page, a maintenance notice, or a wrong address.", "The answer is a web page that is not a project's: a network login page, a maintenance notice, or a wrong address.", "Open the project's address in a browser: log in to the network if it asks for that, and check that the page is the project's. " + tryNow},
	{NotFound, "The address leads nowhere ({about}): it is wrong, or the project has moved or closed.", "The address leads nowhere: it is wrong, or the project has moved or closed.", "Look on the project's web site for its address. If it has closed, detach: starling detach {url}"},
	{Forbidden, "The server denies access ({about}).", "The server denies access.", "Look on the project's web site, or ask its operators. " + again},
	{TooManyRequests, "The server takes no more requests for now ({about}).", "The server takes no more requests for now.", wait},
	{Maintenance, "The project is down for maintenance ({about}).", "The project is down for maintenance.", wait},
	{ServerError, "The project's server has a fault ({about}).", "The project's server has a fault.", wait},
	{HTTPError, "The server answered with {about}, which the agent cannot use.", "The server gave an answer that the agent cannot use.", "Open the project's address in a browser to check it. " + again},
	{ReplyUnusable, "The reply of {about} cannot be understood.", "The server's reply cannot be understood.", "If it lasts for days, inform the project. " + again},
	{NotAcknowledged, "The server acknowledged none of the reported results.", "", "If it lasts for days, inform the project. The results are kept and reported again. " + tryNow},
	{ContactFailed, "The last contact with {about} failed.", "The last contact failed.", wait},

	{PlatformRefused, "The project has no applications for this computer: {about}.", "The project has no applications for this computer.", "Nothing on this computer is wrong. You can leave the project attached, in case it adds such applications. " + detach},
	{OwnRefused, "The project sends no tasks for your own programs (app_info.xml). It says: {about}.", "The project sends no tasks for your own programs (app_info.xml).", "Correct app_info.xml in the project's folder, or remove it to compute with the project's programs. Then: starling update {url}"},
	{KeyRefused, "The project rejects the account key. It says: {about}.", "The project rejects the account key.", "Log in on the project's web site to see your account key, then detach and attach again: starling detach --now {url}; starling attach {url}"},
	{ClientTooOld, "The project requires a newer client. It says: {about}.", "The project requires a newer client.", "Install a newer version of Starling if there is one, or ask the project to accept this one. " + detach},
	{ComputerRefused, "The project accepts no requests from this computer. It says: {about}.", "The project accepts no requests from this computer.", "Ask the project's operators. " + detach},
	{SigningKeyChanged, "The project's signing key has changed, so no new programs of it can be trusted. It says: {about}.", "The project's signing key has changed, so no new programs of it can be trusted.", "If the project announces the change on its web site, detach and attach again: starling detach {url}; starling attach {url}"},
	{NoVirtualBox, "Tasks of the project run in virtual machines of VirtualBox, which it cannot use on this computer. It says: {about}.", "Tasks of the project run in virtual machines of VirtualBox, which it cannot use on this computer.", "To get these tasks, install a current VirtualBox, set virtualization = true in starling.toml, and restart the agent; starling doctor says whether it can be used. Other projects need nothing. " + tryNow},
	{NoContainers, "Tasks of the project run in containers, which it cannot use on this computer. It says: {about}.", "Tasks of the project run in containers, which it cannot use on this computer.", "To get these tasks, install Podman (Debian package: podman), set virtualization = true in starling.toml, and restart the agent; starling doctor says whether it can be used. Other projects need nothing. " + tryNow},
	{Moved, "The project says that its address is now {about}.", "The project says that it has another address.", "Open the new address in a browser. If it is the project's, attach to it if you have not yet, and detach from this one once its tasks are reported: starling detach {url}"},
	{Closed, "The project has been closed ({about}).", "The project has been closed.", detach},
}

// After returns a trouble at a time, given the one before it. If the code is the same, the time of
// its first contact is kept.
func (r Reason) After(before Reason, now time.Time) Reason {
	if r.Since = now; r.Code == before.Code && !before.Since.IsZero() {
		r.Since = before.Since
	}
	return r
}

// Refusal reports whether a trouble is a server's considered answer, which waiting does not change.
func (r Reason) Refusal() bool {
	switch r.Code {
	case PlatformRefused, OwnRefused, KeyRefused, ClientTooOld, ComputerRefused, SigningKeyChanged, NoVirtualBox, NoContainers, Moved, Closed:
		return true
	}
	return false
}

// lasting is the time after which a trouble counts as one that does not end without help.
const lasting = 24 * time.Hour

// NeedsOwner reports whether a trouble probably does not end without the computer's owner: a server's
// considered answer, or a failure that has lasted for a day.
func (r Reason) NeedsOwner(now time.Time) bool {
	return r.Refusal() || r.Is() && !r.Since.IsZero() && now.Sub(r.Since) >= lasting
}

// OfWork reports whether a trouble is why requests for work bring nothing, so that the reply to
// another request does not end it.
func (r Reason) OfWork() bool { return r.Code == NoVirtualBox || r.Code == NoContainers }
