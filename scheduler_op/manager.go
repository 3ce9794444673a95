package schedulerop

import (
	"context"

	"github.com/starling-grid/starling/protocol"
)

// Manager sends the request about this computer to an account manager and returns its reply. A
// refusal is a *protocol.AccountError.
func (c *Client) Manager(ctx context.Context, managerURL string, req *protocol.ManagerRequest) (*protocol.ManagerReply, error) {
	u := managerURL + "rpc.php"
	b, _, err := c.post(ctx, u, req.Encode())
	if err != nil {
		return nil, &Error{"account manager", u, err}
	}
	reply, err := protocol.ParseManagerReply(b)
	switch {
	case err != nil:
		return nil, &Error{"account manager", u, unusable(err, b)}
	case reply.ErrorNum != 0 || reply.Error != "":
		return nil, &Error{"account manager", u, &protocol.AccountError{Num: reply.ErrorNum, Msg: reply.Error}}
	}
	return reply, nil
}
