package hostinfo

// Kinds are the numbers of a computer's CPUs by their kind, if it has fast and economical ones.
// Both are empty on other computers.
type Kinds struct{ Performance, Efficiency []int }
