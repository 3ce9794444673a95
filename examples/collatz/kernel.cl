// Counts the steps of first and of the numbers that follow it, one for each item. A number
// that would grow beyond 64 bits has the most steps that there can be.
kernel void count(global ulong *steps, ulong first) {
	ulong n = first + get_global_id(0), s = 0;
	while (n > 1) {
		if (n & 1) {
			if (n > (ULONG_MAX - 1) / 3) {
				s = ULONG_MAX;
				break;
			}
			n = 3 * n + 1;
		} else {
			n >>= 1;
		}
		s++;
	}
	steps[get_global_id(0)] = s;
}
