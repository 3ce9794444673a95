/*
 * Adapts ptrace for user-mode Linux on processors with AMX. Linux accepts a process's extended
 * registers only as a whole, which are 11 kB there, while Debian's kernel passes less than 3 kB. Loaded
 * with LD_PRELOAD, this library appends zeros, which stand for registers that were never used.
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

static char whole[1 << 16] __attribute__((aligned(64))); /* zeros after the part that is copied there */
static unsigned size; /* of the whole. Asking the processor for it takes a virtual machine very long. */

long ptrace(enum __ptrace_request request, ...)
{
	static long (*real)(enum __ptrace_request, ...);
	unsigned a, c, d;
	va_list of;
	long pid;
	void *addr, *data;
	struct iovec all;

	va_start(of, request);
	pid = va_arg(of, long);
	addr = va_arg(of, void *);
	data = va_arg(of, void *);
	va_end(of);
	if (!real) {
		*(void **)&real = dlsym(RTLD_NEXT, "ptrace");
		if (!__get_cpuid_count(0xd, 0, &a, &size, &c, &d))
			size = 0;
	}
	if (request == PTRACE_SETREGSET && addr == (void *)NT_X86_XSTATE) {
		struct iovec *part = data;

		if (part->iov_len < size && size <= sizeof whole) {
			memcpy(whole, part->iov_base, part->iov_len);
			all.iov_base = whole;
			all.iov_len = size;
			data = &all;
		}
	}
	return real(request, pid, addr, data);
}
