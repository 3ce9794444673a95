/* Plays NVIDIA's library for management, by the declarations in NVML's manual. */
#include <stdio.h>

int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
int nvmlSystemGetDriverVersion(char *version, unsigned length) {
	snprintf(version, length, "550.90.07");
	return 0;
}
