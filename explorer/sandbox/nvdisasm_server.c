/* Makes a fork server of nvdisasm. The library is preloaded into nvdisasm. It waits at the point where the
 * tables of the architecture are complete and the content of the file has not been read, and forks a child for
 * each request.
 *
 * nvdisasm loads a file, reads its header, builds the tables of the architecture (0.3 s), and then reads the
 * content. The child calls nvdisasm's own function that loads a file again, for the file of the request,
 * replaces the first result by the new one, and continues.
 *
 * The library finds this point by observing a first run, at whose end the program starts again:
 * - The function that loads a file is the one called by `main` at the moment when the whole file is read for
 *   the last time. The second run records its arguments and its result.
 * - The tables are complete when the program first reads the loaded file between its first and its last
 *   page. The scanner of the architecture description asks several times whether its input is a terminal.
 *   The second run waits at the last of these calls before that read.
 *
 * Environment: WARM_CONTROL (a SOCK_SEQPACKET socket), WARM_FILE_BYTES (the size of the first file),
 * WARM_CPU_SECONDS, WARM_WALL_SECONDS and WARM_MEMORY_BYTES (limits of a child).
 * Protocol: when the parent is ready, it sends "ready". Each message that it receives carries one connection,
 * a stream socket. The child reads the number of bytes (8 bytes, little endian) and the file, writes the
 * listing, and, on success, a zero byte. The child is killed when the other end is closed.
 *
 * Source: nvdisasm of CUDA 12.8 and 13.1, its calls of the C library and the code around them.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <execinfo.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_CHILDREN 64
/* More than the size of any file of a compiler. */
#define MOST_FILE_BYTES (64L << 20)
/* The descriptor of a loaded file begins with this many bytes that are set when the file is loaded. */
#define LOADED_BYTES 0x90
#define JUMP_BYTES 12
#define MOST_CALLERS 64
#define ARCHITECTURE_FLAGS 0xffffff
#define FAILED 90

static int control = -1;
static size_t file_bytes;
static long cpu_seconds, wall_seconds, memory_bytes;

/* Results of the first run: the address of `load` in the program, and the number of the scanner's calls. */
typedef void *load_function(long, long, long, long, long, long);
static load_function *load;
static long load_offset, scans;
/* The scan at which the second run waits; 0 in the first run. */
static long last_scan;

static char **arguments_of_main;
static unsigned char load_entry[JUMP_BYTES]; /* its first bytes */
static long load_arguments[6];
static void *loaded;           /* its return value */
static char *file_content;     /* the address of the first file's bytes */
static Elf64_Word first_flags; /* from the header of the first file */
static char *request;          /* the file of a child */
static size_t request_bytes;
static enum { READING, BUILDING, WORKING } state = READING;

static long setting(const char *name)
{
    const char *value = getenv(name);
    return value ? strtol(value, NULL, 10) : 0;
}

static void *executable(void)
{
    Dl_info info;
    return dladdr((void *)getauxval(AT_ENTRY), &info) ? info.dli_fbase : NULL;
}

static void write_code(void *to, const void *from)
{
    uintptr_t page = sysconf(_SC_PAGESIZE), first = (uintptr_t)to & ~(page - 1);
    size_t bytes = (uintptr_t)to + JUMP_BYTES - first;
    if (mprotect((void *)first, bytes, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        _exit(FAILED);
    memmove(to, from, JUMP_BYTES);
    mprotect((void *)first, bytes, PROT_READ | PROT_EXEC);
}

/* Called in place of `load`, once. */
static void *first_load(long a, long b, long c, long d, long e, long f)
{
    long arguments[] = {a, b, c, d, e, f};
    memmove(load_arguments, arguments, sizeof arguments);
    write_code((void *)load, load_entry);
    return loaded = load(a, b, c, d, e, f);
}

__attribute__((constructor)) static void begin(int count, char **arguments)
{
    (void)count;
    arguments_of_main = arguments;
    /* The exec has reset this: no other process may read or write the memory of this process. */
    prctl(PR_SET_DUMPABLE, 0);
    file_bytes = setting("WARM_FILE_BYTES");
    control = setting("WARM_CONTROL");
    cpu_seconds = setting("WARM_CPU_SECONDS");
    wall_seconds = setting("WARM_WALL_SECONDS");
    memory_bytes = setting("WARM_MEMORY_BYTES");
    last_scan = setting("WARM_SCANS");
    if (!last_scan)
        return;
    load = (load_function *)((char *)executable() + setting("WARM_LOAD"));
    /* mov rax, first_load; jmp rax */
    unsigned char jump[JUMP_BYTES] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};
    uintptr_t target = (uintptr_t)first_load;
    memmove(jump + 2, &target, sizeof target);
    memmove(load_entry, (void *)load, JUMP_BYTES);
    write_code((void *)load, jump);
}

static int is_in_program(void *address)
{
    Dl_info info;
    return dladdr(address, &info) && info.dli_fbase == executable();
}

/* Returns the function that `main` has called, as an offset in the program. */
static long called_by_main(void)
{
    void *callers[MOST_CALLERS];
    int32_t distance;
    int count = backtrace(callers, MOST_CALLERS), main_at = 0;
    while (main_at < count && !is_in_program(callers[main_at]))
        main_at++;
    while (main_at + 1 < count && is_in_program(callers[main_at + 1]))
        main_at++;
    unsigned char *after = main_at < count ? callers[main_at] : NULL;
    if (!after || after[-5] != 0xe8) /* call */
        _exit(FAILED);
    memmove(&distance, after - 4, sizeof distance);
    return after + distance - (unsigned char *)executable();
}

/* The first read of the content of the file, after the tables. */
static void start_again(int number)
{
    char path[4096], text[32];
    (void)number;
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length < 0)
        _exit(FAILED);
    path[length] = 0;
    snprintf(text, sizeof text, "%ld", load_offset);
    setenv("WARM_LOAD", text, 1);
    snprintf(text, sizeof text, "%ld", scans);
    setenv("WARM_SCANS", text, 1);
    execv(path, arguments_of_main);
    _exit(FAILED);
}

static void protect(int protection)
{
    uintptr_t page = sysconf(_SC_PAGESIZE);
    uintptr_t first = ((uintptr_t)file_content + page - 1) & ~(page - 1);
    uintptr_t last = ((uintptr_t)file_content + file_bytes) & ~(page - 1);
    if (mprotect((void *)first, last - first, protection) != 0)
        _exit(FAILED);
}

/* Allows the child only to read, write, use memory and end, because it reads untrusted files. */
static void confine_child(void)
{
    static const unsigned char allowed_x86_64[] = {
        SYS_read, SYS_write, SYS_close, SYS_fstat, SYS_lseek, SYS_mmap, SYS_mprotect, SYS_munmap, SYS_brk,
        SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_mremap, SYS_madvise, SYS_getpid,
        SYS_exit, SYS_futex, SYS_exit_group, SYS_clock_gettime,
    };
    enum { COUNT = sizeof allowed_x86_64 };
    struct sock_filter filter[COUNT + 8];
    int at = 0;
    filter[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
    filter[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
    filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    filter[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < COUNT; i++)
        filter[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed_x86_64[i], COUNT - i + 1, 0);
    filter[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_newfstatat, 1, 0);
    filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1);
    filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {at, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(FAILED);
}

static void limit(int resource, long value)
{
    struct rlimit both = {value, value};
    if (setrlimit(resource, &both) != 0)
        _exit(FAILED);
}

static void receive(char *to, size_t bytes)
{
    while (bytes > 0) {
        ssize_t got = read(STDOUT_FILENO, to, bytes);
        if (got <= 0)
            _exit(FAILED);
        to += got;
        bytes -= got;
    }
}

static void finish(int status, void *unused)
{
    (void)unused;
    if (status == 0 && fflush(stdout) == 0)
        (void)!write(STDOUT_FILENO, "", 1);
}

static long mapped_bytes(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld", &pages) != 1)
        _exit(FAILED);
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

/* Turns into the process of one request: the connection is its standard output. Others are closed. */
static void become_child(int connection, long mapped)
{
    uint64_t bytes;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(connection, STDOUT_FILENO);
    dup2(STDIN_FILENO, STDERR_FILENO);
    if (syscall(SYS_close_range, 3U, ~0U, 0U) != 0)
        _exit(FAILED);
    limit(RLIMIT_CPU, cpu_seconds);
    limit(RLIMIT_AS, mapped + memory_bytes);
    limit(RLIMIT_CORE, 0);
    on_exit(finish, NULL);
    confine_child();
    receive((char *)&bytes, sizeof bytes);
    if (bytes == 0 || bytes > MOST_FILE_BYTES || !(request = malloc(bytes)))
        _exit(FAILED);
    request_bytes = bytes;
    receive(request, bytes);
    /* The tables are valid for one architecture, which the low 24 bits of the flags name. */
    if (bytes < sizeof(Elf64_Ehdr) || ((((Elf64_Ehdr *)request)->e_flags ^ first_flags) & ARCHITECTURE_FLAGS))
        _exit(FAILED);
    void *now = load(load_arguments[0], load_arguments[1], load_arguments[2], load_arguments[3],
                     load_arguments[4], load_arguments[5]);
    if (!now)
        _exit(FAILED);
    memmove(loaded, now, LOADED_BYTES);
}

static int64_t now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000LL + time.tv_nsec / 1000000;
}

/* Returns a connection, or -1 for a message without one. Ends the process when the other end is closed. */
static int next_connection(void)
{
    char byte;
    union { char buffer[CMSG_SPACE(sizeof(int))]; struct cmsghdr align; } ancillary;
    struct iovec data = {&byte, 1};
    struct msghdr message = {0};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = ancillary.buffer;
    message.msg_controllen = sizeof ancillary.buffer;
    if (recvmsg(control, &message, MSG_CMSG_CLOEXEC) <= 0)
        _exit(0);
    struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
    int connection = -1;
    if (rights && rights->cmsg_level == SOL_SOCKET && rights->cmsg_type == SCM_RIGHTS)
        memmove(&connection, CMSG_DATA(rights), sizeof connection);
    return connection;
}

/* The main loop of the parent. Returns only in the child of a request. */
static void serve(void)
{
    static struct { pid_t process; int handle, connection; int64_t end_ms; } children[MOST_CHILDREN];
    int count = 0;
    long mapped = mapped_bytes();
    if (send(control, "ready", 5, MSG_NOSIGNAL) != 5)
        _exit(0);
    for (;;) {
        struct pollfd watched[1 + 2 * MOST_CHILDREN] = {{control, POLLIN, 0}};
        int64_t timeout = -1, now = now_ms();
        for (int i = 0; i < count; i++) {
            int64_t left = children[i].end_ms > now ? children[i].end_ms - now : 0;
            timeout = timeout < 0 || left < timeout ? left : timeout;
            watched[1 + 2 * i] = (struct pollfd){children[i].handle, POLLIN, 0};
            watched[2 + 2 * i] = (struct pollfd){children[i].connection, 0, 0};
        }
        if (poll(watched, 1 + 2 * count, timeout) < 0)
            continue;
        now = now_ms();
        for (int i = count - 1; i >= 0; i--) {
            siginfo_t end;
            if (!watched[1 + 2 * i].revents && (watched[2 + 2 * i].revents || children[i].end_ms <= now))
                kill(children[i].process, SIGKILL);
            else if (!watched[1 + 2 * i].revents)
                continue;
            waitid(P_PID, children[i].process, &end, WEXITED);
            close(children[i].handle);
            close(children[i].connection);
            children[i] = children[--count];
        }
        if (!watched[0].revents)
            continue;
        int connection = next_connection();
        if (connection < 0)
            continue;
        pid_t process = count < MOST_CHILDREN ? fork() : -1;
        if (process == 0) {
            become_child(connection, mapped);
            return;
        }
        int handle = process > 0 ? (int)syscall(SYS_pidfd_open, process, 0) : -1;
        if (handle < 0) {
            close(connection);
            if (process > 0)
                _exit(FAILED);
            continue;
        }
        children[count].process = process;
        children[count].handle = handle;
        children[count].connection = connection;
        children[count++].end_ms = now + wall_seconds * 1000;
    }
}

/* nvdisasm's scanner calls this function when it begins to read the description of an architecture. */
int isatty(int descriptor)
{
    static int (*real)(int);
    if (!real)
        real = (int (*)(int))dlsym(RTLD_NEXT, "isatty");
    if (!file_content || state == WORKING || descriptor != STDIN_FILENO)
        return real(descriptor);
    scans++;
    if (!last_scan && state == READING) {
        struct sigaction look = {0};
        look.sa_handler = start_again;
        look.sa_flags = SA_NODEFER; /* Not blocked: the program that is started would inherit it. */
        sigaction(SIGSEGV, &look, NULL);
        protect(PROT_NONE);
    }
    state = BUILDING;
    if (scans == last_scan) {
        if (!loaded)
            _exit(FAILED);
        first_flags = ((Elf64_Ehdr *)file_content)->e_flags;
        state = WORKING;
        serve();
    }
    return real(descriptor);
}

/* The file is read twice. The last time counts. */
size_t fread(void *to, size_t size, size_t count, FILE *file)
{
    static size_t (*real)(void *, size_t, size_t, FILE *);
    if (!real)
        real = (size_t (*)(void *, size_t, size_t, FILE *))dlsym(RTLD_NEXT, "fread");
    if (state == READING && size * count == file_bytes) {
        file_content = to;
        if (!last_scan)
            load_offset = called_by_main();
    }
    return real(to, size, count, file);
}

FILE *fopen(const char *path, const char *mode)
{
    static FILE *(*real)(const char *, const char *);
    if (!real)
        real = (FILE *(*)(const char *, const char *))dlsym(RTLD_NEXT, "fopen");
    return state == WORKING && request ? fmemopen(request, request_bytes, "r") : real(path, mode);
}
