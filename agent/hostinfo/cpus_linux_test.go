package hostinfo

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Kinds of CPUs are found on processors of Intel and ARM.
func TestKindsOfCPUs(t *testing.T) {
	for name, tt := range map[string]struct {
		files map[string]string
		want  Kinds
	}{
		"all alike": {map[string]string{"system/cpu/cpu0/cpu_capacity": "1024\n", "system/cpu/cpu1/cpu_capacity": "1024\n"}, Kinds{}},
		"nothing":   {nil, Kinds{}},
		"Intel": {
			map[string]string{"cpu_core/cpus": "0-3\n", "cpu_atom/cpus": "4-7\n"},
			Kinds{[]int{0, 1, 2, 3}, []int{4, 5, 6, 7}},
		},
		"ARM with three kinds": {map[string]string{
			"system/cpu/cpu0/cpu_capacity": "250\n", "system/cpu/cpu1/cpu_capacity": "250\n",
			"system/cpu/cpu2/cpu_capacity": "870\n", "system/cpu/cpu10/cpu_capacity": "1024\n",
		}, Kinds{[]int{10}, []int{0, 1, 2}}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range tt.files {
				path := filepath.Join(dir, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got := kindsIn(dir); !slices.Equal(got.Performance, tt.want.Performance) || !slices.Equal(got.Efficiency, tt.want.Efficiency) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}
