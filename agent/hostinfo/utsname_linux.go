package hostinfo

// utsname converts one of the kernel's strings, whose characters are signed on some processors and
// unsigned on others.
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
