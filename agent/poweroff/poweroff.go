// Package poweroff lets an agent stop its tasks before the computer shuts down, if nothing else
// gives them the time.
//
// As a systemd service the agent has that time: systemd sends SIGTERM to the agent alone and waits
// until the agent has stopped its tasks (KillMode and TimeoutStopSec in the installed unit). An
// agent in a terminal is part of a session, and systemd ends all processes of a session at the same
// moment, tasks included. Such an agent asks logind to delay the shutdown.
//
// Sleep is not delayed, because tasks lose nothing in it.
package poweroff
