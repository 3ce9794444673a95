/* Plays NVIDIA's driver with two devices, by the declarations in the manual of
 * the CUDA driver API. It prints, as drivers do. FAIL names a function that fails. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fails(const char *function) {
	const char *name = getenv("FAIL");
	return name && !strcmp(name, function);
}

int cuInit(unsigned flags) {
	printf("{\"starling\":true, this is the driver}\n");
	fflush(stdout);
	if (fails("crash"))
		abort();
	return flags ? 1 : fails("cuInit") ? 100 : 0;
}

int cuDriverGetVersion(int *version) {
	*version = 12040;
	return 0;
}

int cuDeviceGetCount(int *count) {
	*count = 2;
	return 0;
}

int cuDeviceGet(int *device, int ordinal) {
	*device = 40 + ordinal;
	return 0;
}

int cuDeviceGetName(char *name, int size, int device) {
	snprintf(name, size, "Device %d", device);
	return fails("cuDeviceGetName") ? 999 : 0;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device) {
	*bytes = (size_t)device << 30;
	return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
	switch (attribute) {
	case 13: *value = 1777000; return 0; /* CLOCK_RATE */
	case 16: *value = 28; return 0;      /* MULTIPROCESSOR_COUNT */
	case 33: *value = device; return 0;  /* PCI_BUS_ID */
	case 34: *value = 0; return 0;       /* PCI_DEVICE_ID */
	case 50: *value = 1; return 0;       /* PCI_DOMAIN_ID */
	case 75: *value = 8; return 0;       /* COMPUTE_CAPABILITY_MAJOR */
	case 76: *value = 6; return 0;       /* COMPUTE_CAPABILITY_MINOR */
	}
	return 1;
}
