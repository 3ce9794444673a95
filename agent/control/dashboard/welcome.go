package dashboard

import "net/http"

// A Confinement has the facts that decide which of a person's things a task can reach.
type Confinement struct {
	System  string // as in runtime.GOOS
	Sandbox bool   // tasks run in a sandbox where the system has one
	Network bool   // tasks may use the network
	Outside bool   // virtual machines and containers are allowed, which run outside the sandbox
}

// welcome answers with the facts that a newcomer reads before the first project.
func (s *Server) welcome(w http.ResponseWriter, r *http.Request) {
	answer(w, r, map[string]string{"touch": s.Confinement.touch()}, nil)
}

// touch returns the things that a task may touch, in a few sentences.
func (c Confinement) touch() string {
	const signed = " Only programs that the project signed can run."
	text := "Tasks run with the rights of the agent's user." + signed
	switch {
	case !c.Sandbox:
		return text
	case c.System == "windows":
		text = "A task can change only files of tasks, but can read those of the agent's user." + signed
	case c.System == "linux":
		network := " Tasks can use the network."
		if !c.Network {
			network = " Tasks cannot open connections."
		}
		text = "Its own files and its project's files. Not your documents, not other programs, not other projects." + network + signed
	default:
		return text
	}
	if c.Outside {
		text += " Virtual machines and containers run outside the sandbox."
	}
	return text
}
