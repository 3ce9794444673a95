package hostinfo

// utsname makes a string of one of the kernel's, whose characters are signed on some
// processors and not on others.
func utsname[C int8 | uint8](field []C) string {
	var b []byte
	for _, c := range field {
		if c == 0 {
			break
		}
		b = append(b, byte(c))
	}
	return string(b)
}
