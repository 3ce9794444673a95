package db

import (
	"context"
	"net"
	"time"
)

const (
	// vanished is the time after which a connection is lost whose server no longer confirms data, for example
	// after a power cut or behind a broken network. The system's own limit is a quarter of an hour.
	vanished = 30 * time.Second
	// grace is the time for which a transaction may continue after its caller's context has ended. A server that
	// is frozen confirms data, but never answers.
	grace = 30 * time.Second
)

// dial connects to a server of the database.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: vanished / 2, Interval: vanished / 6, Count: 3},
		Control:         confirmedWithin(vanished),
	}
	return d.DialContext(ctx, network, address)
}

// within returns a context that ends with ctx, or when p is closed. The caller calls the function when it is done.
func (p *postgres) within(ctx context.Context) (context.Context, func()) {
	in, end := context.WithCancel(ctx)
	closing := context.AfterFunc(p.life, end)
	return in, func() {
		closing()
		end()
	}
}

// outliving returns a context for a transaction in progress. It ends when grace is over after the end of ctx, or
// when p is closed. The caller calls the function at the end of the transaction.
func (p *postgres) outliving(ctx context.Context) (context.Context, func()) {
	in, end := p.within(context.WithoutCancel(ctx))
	late := context.AfterFunc(ctx, func() { time.AfterFunc(p.grace, end) })
	return in, func() {
		late()
		end()
	}
}
