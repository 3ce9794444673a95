/*
 * A scientific application for Windows in C that speaks BOINC's application interface by
 * itself, as protocol documents describe it, and shares no code with Starling: so a mistake
 * that both of Starling's sides make shows.
 *
 *   app count N    count to N in "ticks", a checkpoint at every tenth; then write "out"
 *   app crash      read memory that it does not have
 *   app grow       take memory until there is no more of it, and say how much in stderr
 *   app fork N     start itself N times, as "app sleep"
 *
 * Built with: x86_64-w64-mingw32-gcc -O1 -o app.exe app.c
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

enum { CHANNEL = 1024, CHANNELS = 8 };
enum { CONTROL_REQUEST = 0, HEARTBEAT = 4, APP_STATUS = 5 };

static volatile char *memory;
static HANDLE worker;
static CRITICAL_SECTION checkpointing; /* held while the state is written */
static double cpu_before, cpu_checkpoint, fraction;

/* text_of returns what stands in <tag> in the text, or "". */
static const char *text_of(const char *text, const char *tag)
{
	static char found[256];
	char open[64];
	const char *from, *to;
	found[0] = 0;
	snprintf(open, sizeof open, "<%s>", tag);
	from = strstr(text, open);
	if (!from)
		return found;
	from += strlen(open);
	to = strchr(from, '<');
	if (to && (size_t)(to - from) < sizeof found) {
		memcpy(found, from, to - from);
		found[to - from] = 0;
	}
	return found;
}

/* resolve follows a soft link. */
static const char *resolve(const char *logical)
{
	static char path[600];
	char line[512] = "";
	const char *target;
	FILE *f = fopen(logical, "rb");
	if (f) {
		if (!fgets(line, sizeof line, f))
			line[0] = 0;
		fclose(f);
	}
	target = text_of(line, "soft_link");
	snprintf(path, sizeof path, "%s", *target ? target : logical);
	return path;
}

static double cpu_time(void)
{
	FILETIME created, exited, kernel, user;
	ULARGE_INTEGER k, u;
	GetProcessTimes(GetCurrentProcess(), &created, &exited, &kernel, &user);
	k.LowPart = kernel.dwLowDateTime, k.HighPart = kernel.dwHighDateTime;
	u.LowPart = user.dwLowDateTime, u.HighPart = user.dwHighDateTime;
	return cpu_before + (double)(k.QuadPart + u.QuadPart) / 1e7;
}

static int receive(int channel, char *text)
{
	volatile char *at = memory + channel * CHANNEL;
	if (!at[0])
		return 0;
	memcpy(text, (const char *)at + 1, CHANNEL - 1);
	MemoryBarrier();
	at[0] = 0;
	return 1;
}

static void send_status(void)
{
	volatile char *at = memory + APP_STATUS * CHANNEL;
	if (at[0])
		return;
	snprintf((char *)at + 1, CHANNEL - 1,
		 "<current_cpu_time>%e</current_cpu_time>\n<checkpoint_cpu_time>%e</checkpoint_cpu_time>\n"
		 "<want_network>0</want_network>\n<fraction_done>%e</fraction_done>\n",
		 cpu_time(), cpu_checkpoint, fraction);
	MemoryBarrier();
	at[0] = 1;
}

/* hear is the thread that hears the client, as BOINC's runtime has one. */
static DWORD WINAPI hear(void *unused)
{
	char text[CHANNEL];
	int suspended = 0, n;
	(void)unused;
	for (n = 0;; n++) {
		if (receive(CONTROL_REQUEST, text)) {
			EnterCriticalSection(&checkpointing);
			if (strstr(text, "<suspend/>") && !suspended)
				SuspendThread(worker), suspended = 1;
			if (strstr(text, "<resume/>") && suspended)
				ResumeThread(worker), suspended = 0;
			if (strstr(text, "<quit/>"))
				ExitProcess(0);
			if (strstr(text, "<abort/>"))
				ExitProcess(194);
			LeaveCriticalSection(&checkpointing);
		}
		receive(HEARTBEAT, text);
		if (n % 10 == 0 && !suspended)
			send_status();
		Sleep(10); /* ten times as often as BOINC's: tests wait for it */
	}
}

static void number_to(const char *name, const char *temporary, int n)
{
	FILE *f = fopen(temporary, "wb");
	if (!f)
		return;
	fprintf(f, "%d", n);
	fclose(f);
	MoveFileExA(temporary, name, MOVEFILE_REPLACE_EXISTING);
}

static int count(int most)
{
	int n = 0;
	FILE *f = fopen("state", "rb");
	if (f) {
		if (fscanf(f, "%d", &n) != 1)
			n = 0;
		fclose(f);
	}
	fprintf(stderr, "starting from %d\n", n);
	fflush(stderr);
	while (n < most) {
		ULONGLONG until = GetTickCount64() + 5;
		while (GetTickCount64() < until)
			;
		n++;
		fraction = (double)n / most;
		EnterCriticalSection(&checkpointing);
		number_to("ticks", "ticks.new", n);
		if (n % 10 == 0) {
			number_to("state", "state.new", n);
			cpu_checkpoint = cpu_time();
		}
		LeaveCriticalSection(&checkpointing);
	}
	f = fopen(resolve("out"), "wb");
	if (!f)
		return 1;
	fprintf(f, "%d\n", n);
	fclose(f);
	send_status();
	f = fopen("boinc_finish_called", "wb");
	if (!f)
		return 1;
	fprintf(f, "0\n");
	fclose(f);
	return 0;
}

static int connect_client(void)
{
	static char text[65536];
	char name[300];
	HANDLE mapping;
	size_t n;
	FILE *f = fopen("init_data.xml", "rb");
	if (!f)
		return 0;
	n = fread(text, 1, sizeof text - 1, f);
	text[n] = 0;
	fclose(f);
	if (CreateFileA("boinc_lockfile", GENERIC_WRITE, 0, 0, OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, 0) == INVALID_HANDLE_VALUE) {
		fprintf(stderr, "the slot is locked: %lu\n", GetLastError());
		return 0;
	}
	cpu_before = cpu_checkpoint = atof(text_of(text, "wu_cpu_time"));
	snprintf(name, sizeof name, "Global\\shm_%s", text_of(text, "comm_obj_name"));
	mapping = OpenFileMappingA(FILE_MAP_ALL_ACCESS, FALSE, name);
	if (!mapping)
		mapping = OpenFileMappingA(FILE_MAP_ALL_ACCESS, FALSE, name + strlen("Global\\"));
	if (!mapping) {
		fprintf(stderr, "no shared memory %s: %lu\n", name, GetLastError());
		return 0;
	}
	memory = MapViewOfFile(mapping, FILE_MAP_ALL_ACCESS, 0, 0, 0);
	return memory != 0;
}

int main(int argc, char **argv)
{
	int i;
	if (argc > 1 && !strcmp(argv[1], "sleep"))
		Sleep(INFINITE);
	if (argc < 2 || !connect_client())
		return 206;
	if (!strcmp(argv[1], "crash")) {
		SetErrorMode(SEM_NOGPFAULTERRORBOX);
		*(volatile int *)16 = 1;
	}
	if (!strcmp(argv[1], "grow")) {
		for (i = 0; i < 4096; i++) {
			char *p = VirtualAlloc(0, 1 << 20, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE);
			if (!p)
				break;
			memset(p, 1, 1 << 20);
		}
		fprintf(stderr, "got %d MB\n", i);
		return 3;
	}
	if (!strcmp(argv[1], "fork")) {
		for (i = 0; i < atoi(argv[2]); i++) {
			char line[600];
			STARTUPINFOA s;
			PROCESS_INFORMATION p;
			memset(&s, 0, sizeof s);
			s.cb = sizeof s;
			snprintf(line, sizeof line, "\"%s\" sleep", argv[0]);
			if (!CreateProcessA(0, line, 0, 0, FALSE, 0, 0, 0, &s, &p))
				break;
		}
		fprintf(stderr, "started %d\n", i);
		fflush(stderr);
		Sleep(INFINITE);
	}
	InitializeCriticalSection(&checkpointing);
	DuplicateHandle(GetCurrentProcess(), GetCurrentThread(), GetCurrentProcess(), &worker, 0, FALSE, DUPLICATE_SAME_ACCESS);
	CreateThread(0, 0, hear, 0, 0, 0);
	return count(argc > 2 ? atoi(argv[2]) : 100);
}
