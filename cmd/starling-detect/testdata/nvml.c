/* Plays NVIDIA's library for management with three devices, by the declarations in NVML's
 * manual: one that tells all, one that tells nothing but its place, and one that is lost.
 * NVML_FAIL names a function that fails. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct device *nvmlDevice_t;

typedef struct {
	char busIdLegacy[16];
	unsigned domain, bus, device, pciDeviceId, pciSubSystemId;
	char busId[32];
} nvmlPciInfo_t;

typedef struct { unsigned gpu, memory; } nvmlUtilization_t;
typedef struct { unsigned long long total, free, used; } nvmlMemory_t;

enum { SUCCESS = 0, NOT_SUPPORTED = 3, DRIVER_NOT_LOADED = 9, GPU_IS_LOST = 15 };

static struct device { int index; } devices[3] = {{0}, {1}, {2}};

static int fails(const char *function) {
	const char *name = getenv("NVML_FAIL");
	return name && !strcmp(name, function);
}

int nvmlInit_v2(void) {
	printf("{\"starling\":true, this is NVML}\n");
	fflush(stdout);
	return fails("nvmlInit") ? DRIVER_NOT_LOADED : SUCCESS;
}

int nvmlShutdown(void) { return SUCCESS; }

int nvmlSystemGetDriverVersion(char *version, unsigned length) {
	snprintf(version, length, "550.90.07");
	return SUCCESS;
}

int nvmlDeviceGetCount_v2(unsigned *count) {
	if (fails("crash"))
		abort();
	*count = 3;
	return fails("nvmlDeviceGetCount") ? GPU_IS_LOST : SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t *device) {
	*device = &devices[index];
	return SUCCESS;
}

int nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *pci) {
	if (device->index == 2)
		return GPU_IS_LOST;
	memset(pci, 0x55, sizeof *pci);
	pci->domain = 1;
	pci->bus = 0x28 + device->index;
	pci->device = 0;
	return SUCCESS;
}

int nvmlDeviceGetTemperature(nvmlDevice_t device, int sensor, unsigned *celsius) {
	*celsius = 71;
	return device->index == 0 && sensor == 0 ? SUCCESS : NOT_SUPPORTED;
}

int nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *use) {
	use->gpu = 98;
	use->memory = 40;
	return device->index == 0 ? SUCCESS : NOT_SUPPORTED;
}

int nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned *milliwatts) {
	*milliwatts = 310500;
	return device->index == 0 ? SUCCESS : NOT_SUPPORTED;
}

int nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory) {
	memory->total = 12ull << 30;
	memory->used = 5ull << 30;
	memory->free = 7ull << 30;
	return device->index == 0 ? SUCCESS : NOT_SUPPORTED;
}
