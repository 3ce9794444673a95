package image

// Limit sets the maximum number of files.
func (s *Store) Limit(files int) { s.files = files }
