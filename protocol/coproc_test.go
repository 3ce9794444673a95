package protocol_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
)

// coprocs is the request of a client with two NVIDIA GPUs and a declared device, with the order and
// format of BOINC's lib/coproc.cpp and lib/opencl_boinc.cpp. No capture of a real one was
// available.
const coprocs = `<scheduler_request>
    <coprocs>
<coproc_cuda>
   <count>2</count>
   <name>NVIDIA GeForce RTX 3060</name>
   <available_ram>12500000000.000000</available_ram>
   <have_cuda>1</have_cuda>
   <have_opencl>1</have_opencl>
   <req_secs>86400.000000</req_secs>
   <req_instances>2.000000</req_instances>
   <estimated_delay>60.000000</estimated_delay>
   <peak_flops>12738000000000.000000</peak_flops>
   <cudaVersion>12040</cudaVersion>
   <drvVersion>55090</drvVersion>
   <totalGlobalMem>12600000000.000000</totalGlobalMem>
   <maxThreadsDim>1024 1024 64</maxThreadsDim>
   <major>8</major>
   <minor>6</minor>
   <multiProcessorCount>28</multiProcessorCount>
   <coproc_opencl>
      <name>NVIDIA GeForce RTX 3060</name>
      <vendor>NVIDIA Corporation</vendor>
      <vendor_id>4318</vendor_id>
      <available>1</available>
      <half_fp_config>0</half_fp_config>
      <single_fp_config>191</single_fp_config>
      <endian_little>1</endian_little>
      <execution_capabilities>1</execution_capabilities>
      <extensions>cl_khr_fp64 cl_nv_device_attribute_query</extensions>
      <double_fp_config>63</double_fp_config>
      <global_mem_size>12600000000</global_mem_size>
      <max_clock_frequency>1777</max_clock_frequency>
      <max_compute_units>28</max_compute_units>
      <nv_compute_capability_major>8</nv_compute_capability_major>
      <nv_compute_capability_minor>6</nv_compute_capability_minor>
      <opencl_platform_version>OpenCL 3.0 CUDA 12.4.131</opencl_platform_version>
      <opencl_device_version>OpenCL 3.0 CUDA</opencl_device_version>
      <opencl_driver_version>550.90.07</opencl_driver_version>
   </coproc_opencl>
</coproc_cuda>
<coproc>
   <type>miner_asic</type>
   <count>3</count>
   <peak_flops>1000000000.000000</peak_flops>
   <req_secs>0.000000</req_secs>
   <req_instances>0.000000</req_instances>
   <estimated_delay>0.000000</estimated_delay>
</coproc>
<coproc_ati><count>0</count></coproc_ati>
<coproc><count>1</count></coproc>
    </coprocs>
</scheduler_request>`

func TestCoprocessorsOfARequest(t *testing.T) {
	r, err := protocol.ParseSchedulerRequest([]byte(coprocs))
	must(t, err)
	want := []protocol.Coproc{
		{
			Kind: "NVIDIA", Count: 2, Name: "NVIDIA GeForce RTX 3060", Memory: 12.5e9, PeakFlops: 12.738e12,
			Version: "55090", CUDA: 12040, Major: 8, Minor: 6, ReqSeconds: 86400, ReqInstances: 2, Delay: time.Minute,
			OpenCL: &protocol.OpenCL{
				Name: "NVIDIA GeForce RTX 3060", Vendor: "NVIDIA Corporation", PlatformVersion: "OpenCL 3.0 CUDA 12.4.131",
				DeviceVersion: "OpenCL 3.0 CUDA", DriverVersion: "550.90.07", GlobalMem: 12.6e9, ComputeUnits: 28, ClockMHz: 1777,
				DoubleFP: 63, Major: 8, Minor: 6, VendorID: 4318, SingleFP: 191, LittleEndian: true, Execution: 1,
				Extensions: "cl_khr_fp64 cl_nv_device_attribute_query",
			},
		},
		{Kind: "miner_asic", Count: 3, PeakFlops: 1e9},
	}
	if !reflect.DeepEqual(r.Coprocs, want) {
		t.Errorf("got %+v, want %+v", r.Coprocs, want)
	}
	if !r.WantsCoprocWork() || r.WantsWork() {
		t.Error("it wants work for a GPU only")
	}
	again, err := protocol.ParseSchedulerRequest(r.Encode())
	if err != nil || !reflect.DeepEqual(again.Coprocs, want) {
		t.Errorf("written and read again: %+v, %v", again.Coprocs, err)
	}
}

// A GPU that tasks in images cannot use is marked, whether BOINC has an element for its kind or not.
func TestGPUsWithoutImages(t *testing.T) {
	r := protocol.SchedulerRequest{Coprocs: []protocol.Coproc{{Kind: "NVIDIA", Count: 1, NoImages: true}, {Kind: "ATI", Count: 1}, {Kind: "x", Count: 1, NoImages: true}}}
	again, err := protocol.ParseSchedulerRequest(r.Encode())
	if err != nil || !reflect.DeepEqual(again.Coprocs, r.Coprocs) || strings.Count(string(r.Encode()), "<starling_no_images/>") != 2 {
		t.Errorf("%v, got %+v of %s", err, again.Coprocs, r.Encode())
	}
}

func TestAppVersionsForCoprocessors(t *testing.T) {
	v := protocol.AppVersion{AppName: "a", VersionNum: 100, AvgNCPUs: 0.2, Coproc: "NVIDIA", CoprocCount: 0.5, GPURAM: 1e9}
	got, err := protocol.ParseElements([]byte(v.XML()))
	if err != nil || len(got.AppVersions) != 1 || !reflect.DeepEqual(got.AppVersions[0], v) {
		t.Errorf("got %+v, %v", got, err)
	}
	old, err := protocol.ParseElements([]byte(strings.Replace(v.XML(), "NVIDIA", "CUDA", 1)))
	if err != nil || old.AppVersions[0].Coproc != "NVIDIA" {
		t.Errorf("got %+v, %v", old, err)
	}
}

// OpenCL's description of a computer's processors, as BOINC's client writes it.
//
// Source: BOINC lib/opencl_boinc.cpp, OPENCL_CPU_PROP::write_xml.
func TestOpenCLCPUs(t *testing.T) {
	const text = `<scheduler_request><host_info><p_ncpus>2</p_ncpus>
<opencl_cpu_prop>
   <platform_vendor>The pocl project</platform_vendor>
   <opencl_cpu_info>
      <name>pthread-skylake</name>
      <vendor>GenuineIntel</vendor>
      <vendor_id>32902</vendor_id>
      <available>1</available>
      <double_fp_config>63</double_fp_config>
      <endian_little>1</endian_little>
      <global_mem_size>11234664448</global_mem_size>
      <max_compute_units>2</max_compute_units>
      <opencl_platform_version>OpenCL 3.0 PoCL 3.1</opencl_platform_version>
      <opencl_device_version>OpenCL 3.0 PoCL HSTR: pthread</opencl_device_version>
      <opencl_driver_version>3.1</opencl_driver_version>
   </opencl_cpu_info>
</opencl_cpu_prop>
<opencl_cpu_prop><platform_vendor>B</platform_vendor><opencl_cpu_info><name>b</name></opencl_cpu_info></opencl_cpu_prop>
</host_info></scheduler_request>`
	want := []protocol.OpenCLCPU{
		{Platform: "The pocl project", OpenCL: protocol.OpenCL{
			Name: "pthread-skylake", Vendor: "GenuineIntel", VendorID: 32902, DoubleFP: 63, LittleEndian: true, GlobalMem: 11234664448, ComputeUnits: 2,
			PlatformVersion: "OpenCL 3.0 PoCL 3.1", DeviceVersion: "OpenCL 3.0 PoCL HSTR: pthread", DriverVersion: "3.1",
		}},
		{Platform: "B", OpenCL: protocol.OpenCL{Name: "b"}},
	}
	r, err := protocol.ParseSchedulerRequest([]byte(text))
	if err != nil || !reflect.DeepEqual(r.Host.OpenCLCPUs, want) {
		t.Fatalf("got %+v, %v", r.Host.OpenCLCPUs, err)
	}
	again, err := protocol.ParseSchedulerRequest([]byte("<scheduler_request><host_info>" + r.Host.InnerXML() + "</host_info></scheduler_request>"))
	if err != nil || !reflect.DeepEqual(again.Host.OpenCLCPUs, want) {
		t.Errorf("written and read: %+v, %v", again.Host.OpenCLCPUs, err)
	}
}
