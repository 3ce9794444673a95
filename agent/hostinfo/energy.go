package hostinfo

import "errors"

// ErrEnergyRights means that the agent may not read the computer's counters of energy.
var ErrEnergyRights = errors.New("only root may read the processor's counters of energy")
