// An application as projects write them, against BOINC's own runtime. Its first
// argument says what it does. It is built and run by the tests.

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "boinc_api.h"
#include "filesys.h"

using std::string;

static const char *arg(int argc, char **argv, int i) { return i < argc ? argv[i] : ""; }

static string resolved(const char *logical) {
	string path;
	boinc_resolve_filename_s(logical, path);
	return path;
}

static string read_file(const string &name) {
	string text;
	if (FILE *f = fopen(name.c_str(), "r")) {
		char buf[4096];
		size_t n;
		while ((n = fread(buf, 1, sizeof buf, f)) > 0) text.append(buf, n);
		fclose(f);
	}
	return text;
}

static void write_file(const string &name, const string &text) {
	FILE *f = fopen((name + ".tmp").c_str(), "w");
	if (!f) exit(9);
	fwrite(text.data(), 1, text.size(), f);
	fclose(f);
	rename((name + ".tmp").c_str(), name.c_str());
}

static void burn(double seconds) {
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	double until = u.ru_utime.tv_sec + u.ru_utime.tv_usec / 1e6 + seconds;
	do {
		for (volatile int i = 0; i < 100000; i = i + 1) {} // getrusage alone would mostly use system time
		getrusage(RUSAGE_SELF, &u);
	} while (u.ru_utime.tv_sec + u.ru_utime.tv_usec / 1e6 < until);
}

// tick counts in a file for as long as the process runs.
static void tick(const char *name) {
	for (long n = 1;; n++) {
		write_file(name, std::to_string(n));
		usleep(2000);
	}
}

static void upper() {
	string text = read_file(resolved("in"));
	for (char &c : text)
		if (c >= 'a' && c <= 'z') c -= 32;
	write_file(resolved("out"), text);
}

int main(int argc, char **argv) {
	string what = arg(argc, argv, 1);
	BOINC_OPTIONS options;
	boinc_options_defaults(options);
	if (what == "indirect") options.direct_process_action = 0;
	if (what == "deaf") options.handle_process_control = 0;
	if (boinc_init_options(&options)) return 1;
	APP_INIT_DATA aid;
	boinc_get_init_data(aid);

	if (what == "upper") {
		upper();
		boinc_fraction_done(1);
		boinc_finish(0);
	}
	if (what == "message") boinc_finish_message(atoi(arg(argc, argv, 2)), "the disk is on fire", true);
	if (what == "later") boinc_temporary_exit(90, "no GPU");
	if (what == "return") return 0; // without boinc_finish
	if (what == "segv") raise(SIGSEGV);
	if (what == "abort") abort();
	if (what == "count") { // to 3, a checkpoint when the client wants one, and waits to be told to leave
		string state = read_file("state");
		fprintf(stderr, "starting with '%s'\n", state.c_str());
		if (state == "xxx") {
			write_file(resolved("out"), state);
			boinc_finish(0);
		}
		burn(0.05);
		while (!boinc_time_to_checkpoint()) usleep(1000);
		write_file("state", state + "x");
		boinc_fraction_done((state.size() + 1) / 4.0);
		boinc_checkpoint_completed();
		for (;;) usleep(1000);
	}
	if (what == "tick" || what == "deaf") tick("ticks");
	if (what == "family") { // a child that counts, another that left the session and the slot
		if (!fork()) tick("child_ticks");
		if (!fork()) {
			setsid();
			if (fork()) _exit(0);
			write_file("far", std::to_string(getpid()));
			if (chdir("/")) _exit(1);
			for (;;) pause();
		}
		tick("ticks");
	}
	if (what == "critical") { // until a file tells it to leave the section
		boinc_begin_critical_section();
		write_file("working", "");
		for (long n = 1; read_file("leave").empty(); n++) {
			write_file("ticks", std::to_string(n));
			usleep(2000);
		}
		boinc_end_critical_section();
		for (;;) usleep(1000);
	}
	if (what == "init") {
		char buf[2048];
		snprintf(buf, sizeof buf, "%s|%d|%s|%s|%.0f|%.0f|%.0f|%.0f|%.0f|%d|%d|%s|%.2f|%.0f",
			aid.app_name, aid.app_version, aid.wu_name, aid.result_name, aid.rsc_fpops_est, aid.rsc_fpops_bound,
			aid.rsc_memory_bound, aid.rsc_disk_bound, aid.checkpoint_period, aid.slot, aid.hostid, aid.user_name, aid.ncpus,
			aid.computation_deadline);
		write_file(resolved("out"), buf);
		boinc_finish(0);
	}
	if (what == "reread") { // tells when its preferences have changed
		double before = aid.global_prefs.disk_interval;
		write_file("working", "");
		for (BOINC_STATUS s;; usleep(1000)) {
			boinc_get_status(&s);
			if (!s.reread_init_data_file) continue;
			boinc_parse_init_data_file();
			boinc_get_init_data(aid);
			if (aid.global_prefs.disk_interval != before) break;
		}
		write_file(resolved("out"), std::to_string(int(aid.global_prefs.disk_interval)));
		boinc_finish(0);
	}
	if (what == "trickle") { // up, and the answer becomes its output
		char variety[] = "demo", text[] = "<steps>12</steps>", name[512];
		boinc_send_trickle_up(variety, text);
		while (!boinc_receive_trickle_down(name, sizeof name)) usleep(1000);
		write_file(resolved("out"), read_file(name));
		boinc_finish(0);
	}
	if (what == "upload") { // one output while it runs
		write_file(resolved("out"), "early");
		string name = "out";
		boinc_upload_file(name);
		while (boinc_upload_status(name)) usleep(1000);
		write_file("told", "");
		boinc_finish(0);
	}
	if (what == "graphics") {
		char url[] = "http://localhost:1234/";
		boinc_web_graphics_url(url);
		tick("ticks");
	}
	if (what == "garbage") { // in all of the shared memory, as fast as it can
		FILE *f = fopen("boinc_mmap_file", "r+");
		char *mem = (char *)mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(f), 0);
		for (int n = 0; n < 300000; n++) {
			for (int i = 0; i < 8; i++) mem[1024 * i + 1 + rand() % 1023] = rand();
			strcpy(mem + 5 * 1024 + 1, rand() % 2 ? "<fraction_done>nan</fraction_done><wss>1e999</wss><other_pid>1</other_pid>" : "<current_cpu_time>-1e300</current_cpu_time><checkpoint_cpu_time>");
			for (int i = 0; i < 8; i++) mem[1024 * i] = rand() % 3;
		}
		upper();
		boinc_finish(0);
	}
	if (what == "statuses") { // a checkpoint each time
		for (int n = 0; n < 300000; n++) boinc_report_app_status(n / 1e3, n / 1e3, n / 3e5);
		upper();
		boinc_finish(0);
	}
	if (what == "chatter") { // on stderr without end
		string line(1 << 20, 'x');
		for (;;) fwrite(line.data(), 1, line.size(), stderr);
	}
	if (what == "disk") {
		write_file("big", string(3 << 20, 'x'));
		tick("ticks");
	}
	if (what == "memory") { // its child has most of it
		if (!fork()) {
			string big(64 << 20, 'x');
			tick("child_ticks");
		}
		tick("ticks");
	}
	if (what == "spin") {
		write_file("working", "");
		for (;;) burn(1);
	}
	if (what == "indirect") { // does itself what the runtime does for others; runs a job as wrappers do
		string job = resolved("job");
		pid_t child = fork();
		if (!child) {
			execl("/bin/sh", "sh", job.c_str(), (char *)0);
			_exit(1);
		}
		BOINC_STATUS s;
		bool stopped = false;
		for (;;) {
			int status;
			struct rusage u;
			if (wait4(child, &status, WNOHANG, &u) == child) {
				if (!WIFEXITED(status) || WEXITSTATUS(status)) boinc_finish(195); // EXIT_CHILD_FAILED
				boinc_finish(0);
			}
			boinc_get_status(&s);
			if (s.no_heartbeat || s.quit_request || s.abort_request) {
				kill(child, SIGKILL);
				waitpid(child, &status, 0);
				exit(s.abort_request ? 194 : 0);
			}
			if (!!s.suspended != stopped) {
				stopped = s.suspended;
				kill(child, stopped ? SIGSTOP : SIGCONT);
			}
			boinc_report_app_status(1, 1, 0.5);
			usleep(10000);
		}
	}
	fprintf(stderr, "no such thing: %s\n", what.c_str());
	return 2;
}
