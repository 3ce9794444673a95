package gpus

import (
	"path/filepath"
	"reflect"
	"testing"
)

// The tree is as the kernel's drivers make it by its documentation: amdgpu on a card and on
// one that sleeps, xe on a card, i915 on a processor's own GPU, NVIDIA's driver, nouveau.
func TestReadings(t *testing.T) {
	root := tree(t, map[string]string{
		"0000:03:00.0/vendor": "0x1002\n", "0000:03:00.0/class": "0x030000\n", "0000:03:00.0/power/runtime_status": "active\n",
		"0000:03:00.0/gpu_busy_percent": "97\n", "0000:03:00.0/mem_info_vram_total": "8573157376\n", "0000:03:00.0/mem_info_vram_used": "1073741824\n",
		"0000:03:00.0/hwmon/hwmon3/name": "amdgpu\n", "0000:03:00.0/hwmon/hwmon3/power1_average": "181000000\n",
		"0000:03:00.0/hwmon/hwmon3/temp1_input": "64000\n", "0000:03:00.0/hwmon/hwmon3/temp1_label": "edge\n",
		"0000:03:00.0/hwmon/hwmon3/temp2_input": "81000\n", "0000:03:00.0/hwmon/hwmon3/temp2_label": "junction\n",
		"0000:03:00.0/hwmon/hwmon3/temp3_input": "90000\n", "0000:03:00.0/hwmon/hwmon3/temp3_label": "mem\n",
		"0000:04:00.0/vendor": "0x1002\n", "0000:04:00.0/class": "0x038000\n", "0000:04:00.0/power/runtime_status": "suspended\n",
		"0000:04:00.0/hwmon/hwmon4/temp1_input": "30000\n",
		"0000:05:00.0/vendor":                   "0x8086\n", "0000:05:00.0/class": "0x030000\n",
		"0000:05:00.0/hwmon/hwmon5/temp2_input": "55500\n", "0000:05:00.0/hwmon/hwmon5/temp2_label": "pkg\n",
		"0000:05:00.0/hwmon/hwmon5/temp3_input": "72000\n", "0000:05:00.0/hwmon/hwmon5/temp3_label": "vram\n",
		"0000:00:02.0/vendor": "0x8086\n", "0000:00:02.0/class": "0x030000\n",
		"0000:01:00.0/vendor": "0x10de\n", "0000:01:00.0/class": "0x030000\n",
		"0000:06:00.0/vendor": "0x10de\n", "0000:06:00.0/class": "0x030000\n", "0000:06:00.0/hwmon/hwmon6/temp1_input": "47000\n", "0000:06:00.0/hwmon/hwmon6/temp2_input": "rubbish\n",
		"0000:07:00.0/vendor": "0x1002\n", "0000:07:00.0/class": "0x060400\n", "0000:07:00.0/hwmon/hwmon7/temp1_input": "40000\n", // a bridge
	})
	want := []Reading{
		{Kind: "ATI", PCI: "0000:03:00.0", Celsius: 64, Busy: 0.97, Watts: 181, Memory: 8573157376, MemoryUsed: 1 << 30},
		{Kind: "intel_gpu", PCI: "0000:05:00.0", Celsius: 55.5, Busy: -1},
		{Kind: "NVIDIA", PCI: "0000:06:00.0", Celsius: 47, Busy: -1},
	}
	if got := readingsIn(root); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got := readingsIn(filepath.Join(root, "none")); got != nil {
		t.Errorf("without sysfs: %+v", got)
	}
}
