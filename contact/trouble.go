package contact

import (
	"fmt"
	"strings"
	"time"
)

// A TroubleCode identifies the cause of trouble with a project's servers. The codes are in the
// state on disk and in JSON, so existing ones must not change.
type TroubleCode string

// The causes. In the first group the trouble is on the way to the server or in the server. In the
// second, the server has deliberately answered so.
const (
	Offline           TroubleCode = "network_unreachable"
	NameUnknown       TroubleCode = "name_not_resolved"
	ProxyDown         TroubleCode = "proxy_unreachable"
	ProxyRefused      TroubleCode = "proxy_refused"
	ServerDown        TroubleCode = "server_down"
	ServerSilent      TroubleCode = "server_silent"
	ConnectionLost    TroubleCode = "connection_lost"
	CertExpired       TroubleCode = "certificate_expired"
	CertNotYetValid   TroubleCode = "certificate_not_yet_valid"
	CertWrongName     TroubleCode = "certificate_for_another_name"
	CertUntrusted     TroubleCode = "certificate_untrusted"
	TLSFailed         TroubleCode = "tls_failed"
	NotAProject       TroubleCode = "not_a_project"
	NotFound          TroubleCode = "http_not_found"
	Forbidden         TroubleCode = "http_forbidden"
	TooManyRequests   TroubleCode = "http_too_many_requests"
	Maintenance       TroubleCode = "maintenance"
	ServerError       TroubleCode = "server_error"
	HTTPError         TroubleCode = "http_error"
	ReplyUnusable     TroubleCode = "reply_unusable"
	NotAcknowledged   TroubleCode = "results_not_acknowledged"
	UnknownTrouble    TroubleCode = "contact_failed"
	PlatformRefused   TroubleCode = "platform_not_supported"
	OwnRefused        TroubleCode = "own_programs_not_supported"
	KeyRefused        TroubleCode = "account_key_refused"
	ClientTooOld      TroubleCode = "client_too_old"
	ComputerRefused   TroubleCode = "computer_refused"
	SigningKeyChanged TroubleCode = "signing_key_changed"
	Closed            TroubleCode = "project_closed"
	NoVirtualBox      TroubleCode = "virtualbox_needed"
	NoContainers      TroubleCode = "containers_needed"
	Moved             TroubleCode = "project_moved"
)

// A Trouble is the reason why the last contact with a project brought nothing usable, or why the
// project refuses this computer. The zero value means no trouble. It survives restarts.
type Trouble struct {
	Code TroubleCode `json:"code,omitempty"`
	// About is the host, HTTP status or project message that the sentence names.
	About string `json:"about,omitempty"`
	// Detail is the original error, for experts.
	Detail string    `json:"detail,omitempty"`
	Since  time.Time `json:"since,omitzero"` // the first contact in a row with this code
}

// Is reports whether there is any.
func (t Trouble) Is() bool { return t.Code != "" }

// After returns the trouble at a time, given the trouble before it. If it is the same, the time of
// its first contact is kept.
func (t Trouble) After(before Trouble, now time.Time) Trouble {
	if t.Since = now; t.Code == before.Code && !before.Since.IsZero() {
		t.Since = before.Since
	}
	return t
}

// Refusal reports whether it is a server's considered answer, which waiting does not
// change.
func (t Trouble) Refusal() bool {
	switch t.Code {
	case PlatformRefused, OwnRefused, KeyRefused, ClientTooOld, ComputerRefused, SigningKeyChanged, NoVirtualBox, NoContainers, Moved, Closed:
		return true
	}
	return false
}

// OfWork reports whether it is why requests for work bring nothing, so that the reply to
// another request does not end it.
func (t Trouble) OfWork() bool { return t.Code == NoVirtualBox || t.Code == NoContainers }

// A Message is the text for people about a cause: one sentence and the remedy. %s is replaced by
// About in the sentence, and by the project's address in the cure.
type Message struct {
	Code  TroubleCode
	Cause string
	// Unnamed is the sentence if About is not known. It is "" if the cause names nothing.
	Unnamed string
	Cure    string
}

const (
	tryNow = " To try now: starling update %s"
	again  = "The agent keeps trying, and computing continues." + tryNow
	wait   = "Wait: the agent keeps trying, and computing continues." + tryNow
	detach = "To detach: starling detach %s"
)

// Messages is the closed list of causes.
var Messages = []Message{
	{Offline, "This computer has no network connection to %s.", "This computer has no network connection.", "Check the network connection. " + again},
	{NameUnknown, "The name %s cannot be resolved: this computer is offline, or the address is wrong.", "The server's name cannot be resolved: this computer is offline, or the address is wrong.", "Check that this computer is online, and open the project's address in a browser. " + again},
	{ProxyDown, "The proxy %s cannot be reached.", "The proxy cannot be reached.", "Check proxy in starling.toml and the environment (HTTP_PROXY, HTTPS_PROXY, NO_PROXY)." + tryNow},
	{ProxyRefused, "The proxy refused the connection (%s).", "The proxy refused the connection.", "Check the name and the password in proxy in starling.toml or in the environment (HTTP_PROXY, HTTPS_PROXY)." + tryNow},
	{ServerDown, "%s refuses connections: the server is down, or a firewall blocks the connection.", "The server refuses connections: it is down, or a firewall blocks the connection.", wait},
	{ServerSilent, "%s does not answer: the server is down or overloaded, or a firewall blocks the connection.", "The server does not answer: it is down or overloaded, or a firewall blocks the connection.", wait},
	{ConnectionLost, "The connection to %s was lost before the reply was complete.", "The connection was lost before the reply was complete.", wait},
	{CertExpired, "The certificate of %s has expired, or this computer's clock is wrong.", "The server's certificate has expired, or this computer's clock is wrong.", "Check this computer's date and time. If they are right, the project must renew its certificate; the agent keeps trying." + tryNow},
	{CertNotYetValid, "The certificate of %s is not valid yet: this computer's clock is probably wrong.", "The server's certificate is not valid yet: this computer's clock is probably wrong.", "Set this computer's date and time, or use NTP." + tryNow},
	{CertWrongName, "The server that answers for %s has a certificate for another name.", "The server has a certificate for another name.", "Check the project's address in a browser. A network login page can be the cause: log in there first." + tryNow},
	{CertUntrusted, "The certificate of %s is not trusted: a proxy may be intercepting the connection, or root certificates are missing.", "The server's certificate is not trusted: a proxy may be intercepting the connection, or root certificates are missing.", "Install the root certificates (Debian package: ca-certificates), and check whether a proxy or a virus scanner opens secure connections." + tryNow},
	{TLSFailed, "No secure connection to %s can be made.", "No secure connection can be made.", "Open the project's address in a browser, and check whether it starts with http:// or https://. " + again},
	{NotAProject, "%s answered with a web page that is not a project's: a network login page, a maintenance notice, or a wrong address.", "The answer is a web page that is not a project's: a network login page, a maintenance notice, or a wrong address.", "Open the project's address in a browser: log in to the network if it asks for that, and check that the page is the project's." + tryNow},
	{NotFound, "The address leads nowhere (%s): the project has moved or closed.", "The address leads nowhere: the project has moved or closed.", "Look on the project's web site for its new address. If it has closed, detach: starling detach %s"},
	{Forbidden, "The server denies access (%s).", "The server denies access.", "Look on the project's web site, or ask its operators. " + again},
	{TooManyRequests, "The server takes no more requests for now (%s).", "The server takes no more requests for now.", wait},
	{Maintenance, "The project is down for maintenance (%s).", "The project is down for maintenance.", wait},
	{ServerError, "The project's server has a fault (%s).", "The project's server has a fault.", wait},
	{HTTPError, "The server answered with %s, which the agent cannot use.", "The server gave an answer that the agent cannot use.", "Open the project's address in a browser to check it. " + again},
	{ReplyUnusable, "The reply of %s cannot be understood.", "The server's reply cannot be understood.", "If it lasts for days, inform the project. " + again},
	{NotAcknowledged, "The server acknowledged none of the reported results.", "", "If it lasts for days, inform the project. The results are kept and reported again." + tryNow},
	{UnknownTrouble, "The last contact with %s failed.", "The last contact failed.", wait},

	{PlatformRefused, "The project has no applications for this computer: %s", "The project has no applications for this computer.", "Nothing on this computer is wrong. You can leave the project attached, in case it adds such applications. " + detach},
	{OwnRefused, "The project sends no tasks for your own programs (app_info.xml). It says: %s", "The project sends no tasks for your own programs (app_info.xml).", "Correct app_info.xml in the project's folder, or remove it to compute with the project's programs. Then: starling update %s"},
	{KeyRefused, "The project rejects the account key. It says: %s", "The project rejects the account key.", "Log in on the project's web site to see your account key, then detach and attach again: starling detach --now %[1]s; starling attach %[1]s"},
	{ClientTooOld, "The project requires a newer client. It says: %s", "The project requires a newer client.", "Install a newer version of Starling if there is one, or ask the project to accept this one. " + detach},
	{ComputerRefused, "The project accepts no requests from this computer. It says: %s", "The project accepts no requests from this computer.", "Ask the project's operators. " + detach},
	{SigningKeyChanged, "The project's signing key has changed, so no new programs of it can be trusted. It says: %s", "The project's signing key has changed, so no new programs of it can be trusted.", "If the project announces the change on its web site, detach and attach again: starling detach %[1]s; starling attach %[1]s"},
	{NoVirtualBox, "Tasks of the project run in virtual machines of VirtualBox, which it cannot use on this computer. It says: %s", "Tasks of the project run in virtual machines of VirtualBox, which it cannot use on this computer.", "To get these tasks, install a current VirtualBox, set virtualization = true in starling.toml, and restart the agent; starling doctor says whether it can be used. Other projects need nothing." + tryNow},
	{NoContainers, "Tasks of the project run in containers, which it cannot use on this computer. It says: %s", "Tasks of the project run in containers, which it cannot use on this computer.", "To get these tasks, install Podman (Debian package: podman), set virtualization = true in starling.toml, and restart the agent; starling doctor says whether it can be used. Other projects need nothing." + tryNow},
	{Moved, "The project says that its address is now %s", "The project says that it has another address.", "Open the new address in a browser. If it is the project's, attach to it, and detach from this one once its tasks are reported: starling detach %s"},
	{Closed, "The project has been closed (%s).", "The project has been closed.", detach},
}

func (t Trouble) message() Message {
	for _, s := range Messages {
		if s.Code == t.Code {
			return s
		}
	}
	return Message{Code: t.Code, Cause: "The last contact failed.", Cure: wait}
}

// Cause returns a sentence about the trouble, or "" if there is none.
func (t Trouble) Cause() string {
	s := t.message()
	switch {
	case !t.Is():
		return ""
	case !strings.Contains(s.Cause, "%s"):
		return s.Cause
	case t.About == "":
		return s.Unnamed
	}
	text := fmt.Sprintf(s.Cause, t.About)
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}

// Cure returns the remedy, or "" if nothing is wrong.
func (t Trouble) Cure(masterURL string) string {
	if !t.Is() {
		return ""
	}
	return fmt.Sprintf(t.message().Cure, masterURL)
}

// Remedy returns the remedy for a file that cannot be transferred: contacting the project now does
// not help then. It returns "" if nothing is wrong.
func (t Trouble) Remedy() string {
	if !t.Is() {
		return ""
	}
	return strings.TrimSuffix(t.message().Cure, tryNow)
}

// coded are the codes in which Starling's server refuses this computer or its account.
var coded = map[string]TroubleCode{
	"app_info": OwnRefused, "client_version": ClientTooOld, "code_sign_key": SigningKeyChanged,
	"virtualbox": NoVirtualBox, "containers": NoContainers,
}

// worded are parts of the sentences in which BOINC's servers refuse, in lower case. They give no
// code.
//
// Source: BOINC sched/handle_request.cpp.
var worded = []struct {
	part string
	code TroubleCode
}{
	{"invalid or missing account key", KeyRefused},
	{"this project doesn't support computers of type anonymous", OwnRefused},
	{"this project doesn't support computers of type", PlatformRefused},
	{"this project doesn't support operating system", PlatformRefused},
	{"this project doesn't support cpu type", PlatformRefused},
	{"client software is too old", ClientTooOld},
	{"not accepting requests from this host", ComputerRefused},
	{"invalid code signing key", SigningKeyChanged},
	{"project has changed its security key", SigningKeyChanged},
	{"error in request message", ReplyUnusable},
	{"virtualbox is not installed", NoVirtualBox},
	{"virtualbox is not usable", NoVirtualBox},
	{"virtualbox version 3.2 or later is required", NoVirtualBox},
	{"docker not present", NoContainers},
}

// Refused looks for a refusal of this computer or its account in a reply: in the codes of its
// refusals, and if none of them means that, in its messages. It returns no trouble otherwise.
func Refused(codes, messages []string) Trouble {
	for _, c := range codes {
		if code, ok := coded[c]; ok {
			said := strings.Join(Reasons(messages), "; ")
			return Trouble{Code: code, About: said, Detail: said}
		}
	}
	for _, m := range messages {
		low := strings.ToLower(m)
		for _, r := range worded {
			if strings.Contains(low, r.part) {
				if r.code == ReplyUnusable {
					return Trouble{Code: r.code, Detail: m}
				}
				return Trouble{Code: r.code, About: m, Detail: m}
			}
		}
	}
	return Trouble{}
}
