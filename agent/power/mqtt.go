package power

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/eclipse/paho.mqtt.golang/packets"

	"github.com/starling-grid/starling/internal/sysfault"
)

// Ports of MQTT, plain and with TLS.
const (
	mqttPort  = "1883"
	mqttsPort = "8883"
)

// mqtt returns the retained message of a topic. It connects for each reading: a connection that is
// kept would wake the computer for its signs of life.
func (r *Reader) mqtt(ctx context.Context, address string) ([]byte, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, sentence("Its address is not valid.")
	}
	topic := strings.TrimPrefix(u.Path, "/")
	conn, err := r.dialMQTT(ctx, u)
	if err != nil {
		return nil, brokerError(ctx, u, err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	b := broker{conn, bufio.NewReader(conn)}
	if err := b.connect(u); err != nil {
		return nil, brokerError(ctx, u, err)
	}
	text, subscribed, err := b.message(topic)
	switch {
	case err != nil && subscribed && ctx.Err() != nil:
		return nil, sentence("Its broker %s has no message for %s. The sender must set the retain flag.", u.Host, topic)
	case err != nil:
		return nil, brokerError(ctx, u, err)
	}
	return text, nil
}

func (r *Reader) dialMQTT(ctx context.Context, u *url.URL) (net.Conn, error) {
	host, port := u.Hostname(), u.Port()
	if u.Scheme == "mqtts" {
		if port == "" {
			port = mqttsPort
		}
		return (&tls.Dialer{Config: r.TLS}).DialContext(ctx, "tcp", net.JoinHostPort(host, port))
	}
	if port == "" {
		port = mqttPort
	}
	return new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(host, port))
}

// brokerError describes an error without the address, which may contain a password.
func brokerError(ctx context.Context, u *url.URL, err error) error {
	said, isSentence := errors.AsType[told](err)
	switch {
	case isSentence:
		return said
	case ctx.Err() != nil || errors.Is(err, os.ErrDeadlineExceeded):
		return sentence("Its broker %s did not answer within %v.", u.Host, patience)
	}
	return sentence("Its broker %s cannot be used: %s.", u.Host, sysfault.Plain(err))
}

// A broker is a connection to one.
type broker struct {
	conn net.Conn
	in   *bufio.Reader
}

// maxPacket is the maximum size of a packet, in bytes: a message with its topic.
const maxPacket = maxText + 1<<16

// read reads a packet. A broker that announces too large a one is refused before there is memory for
// it.
//
// Source: MQTT 3.1.1, section 2.2.3, Remaining Length.
func (b broker) read() (packets.ControlPacket, error) {
	size := 0
	for i := range 4 {
		head, err := b.in.Peek(i + 2)
		if err != nil {
			return nil, err
		}
		size |= int(head[i+1]&0x7f) << (7 * i)
		if head[i+1]&0x80 == 0 {
			break
		}
	}
	if size > maxPacket {
		return nil, tooMuch()
	}
	return packets.ReadPacket(b.in)
}

func (b broker) connect(u *url.URL) error {
	name := make([]byte, 8)
	_, _ = rand.Read(name) // it never fails
	c := packets.NewControlPacket(packets.Connect).(*packets.ConnectPacket)
	c.ProtocolName, c.ProtocolVersion, c.CleanSession, c.Keepalive = "MQTT", 4, true, uint16(2*patience.Seconds())
	c.ClientIdentifier = "starling-" + hex.EncodeToString(name)
	if u.User != nil {
		c.UsernameFlag, c.Username = true, u.User.Username()
		password, has := u.User.Password()
		c.PasswordFlag, c.Password = has, []byte(password)
	}
	if err := c.Write(b.conn); err != nil {
		return err
	}
	p, err := b.read()
	if err != nil {
		return err
	}
	ack, ok := p.(*packets.ConnackPacket)
	if !ok {
		return sentence("Its broker %s does not speak MQTT 3.1.1.", u.Host)
	}
	switch ack.ReturnCode {
	case packets.Accepted:
		return nil
	case packets.ErrRefusedBadUsernameOrPassword, packets.ErrRefusedNotAuthorised:
		return sentence("Its broker %s refuses the user name or password.", u.Host)
	}
	return sentence("Its broker %s refuses the connection (MQTT code %d).", u.Host, ack.ReturnCode)
}

// maxPackets is the maximum number of packets before the message of a topic.
const maxPackets = 100

// message subscribes to a topic and returns its first message.
func (b broker) message(topic string) (text []byte, subscribed bool, err error) {
	s := packets.NewControlPacket(packets.Subscribe).(*packets.SubscribePacket)
	s.MessageID, s.Topics, s.Qoss = 1, []string{topic}, []byte{0}
	if err := s.Write(b.conn); err != nil {
		return nil, false, err
	}
	for range maxPackets {
		p, err := b.read()
		if err != nil {
			return nil, subscribed, err
		}
		switch p := p.(type) {
		case *packets.SubackPacket:
			const refused = 0x80 // and above, by some brokers
			if len(p.ReturnCodes) != 1 || p.ReturnCodes[0] >= refused {
				return nil, false, sentence("Its broker refuses the topic %s.", topic)
			}
			subscribed = true
		case *packets.PublishPacket:
			if p.TopicName == topic {
				_ = packets.NewControlPacket(packets.Disconnect).Write(b.conn)
				return p.Payload, true, nil
			}
		}
	}
	return nil, false, sentence("Its broker sends other messages than those of %s.", topic)
}
