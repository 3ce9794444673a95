package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"log"
	"math/big"
	"os"
)

// checkpointFile is in the slot, where only this program uses it.
const checkpointFile = "checkpoint"

// A checkpoint has everything that is needed to continue.
type checkpoint struct {
	Input     string   // checksum of the input it belongs to
	Results   []string // lines of the exponents that are done
	Iteration int      // of the one under way
	Residue   string   // hexadecimal, "" if not started

	residue *big.Int
}

// finish adds an exponent's line.
func (c *checkpoint) finish(line string) {
	c.Results = append(c.Results, line)
	c.Iteration, c.residue = 0, nil
}

// save replaces the checkpoint in one step, so that a kill at any moment leaves the old one or the
// new one. A checksum on the first line reveals a file that a crash of the host has cut short.
func (c *checkpoint) save() error {
	c.Residue = ""
	if c.residue != nil {
		c.Residue = c.residue.Text(16)
	}
	body, err := json.Marshal(c)
	if err != nil {
		return err
	}
	temp := checkpointFile + ".new"
	f, err := os.Create(temp)
	if err != nil {
		return err
	}
	_, err = f.WriteString(checksum(body) + "\n" + string(body))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(temp, checkpointFile)
}

// loadCheckpoint returns the saved state if there is one for this input, and otherwise the state of
// a new start.
func loadCheckpoint(input []byte, exponents []int) *checkpoint {
	start := &checkpoint{Input: checksum(input)}
	text, err := os.ReadFile(checkpointFile)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			log.Printf("checkpoint ignored: %v", err)
		}
		return start
	}
	var c checkpoint
	sum, body, _ := bytes.Cut(text, []byte("\n"))
	if string(sum) != checksum(body) || json.Unmarshal(body, &c) != nil {
		log.Print("checkpoint ignored: it is damaged")
		return start
	}
	if c.Input != start.Input || len(c.Results) > len(exponents) {
		log.Print("checkpoint ignored: it belongs to another input")
		return start
	}
	if c.Residue != "" {
		var ok bool
		if c.residue, ok = new(big.Int).SetString(c.Residue, 16); !ok {
			log.Print("checkpoint ignored: it is damaged")
			return start
		}
	}
	return &c
}

func checksum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
