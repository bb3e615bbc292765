// The parent's side: a child process per launch, its time limit, and how it ended.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "driver/child.h"

#define SAID_LIMIT (16u * 1024)  // of what the child prints; the rest is read and dropped

// What a step may take, in seconds. The time limit is about the launch: opening a busy GPU and
// compiling a large module take what they take, within reason.
#define PREPARATION 60.0

static double step_limit(const struct driver_request *request, enum driver_step step) {
    if (step == STEP_LAUNCH || step == STEP_RUN) return request->timeout;
    if (request->preparation > 0) return request->preparation;
    return request->timeout > PREPARATION ? request->timeout : PREPARATION;
}

struct watched {
    pid_t pid;
    int records, said;   // descriptors to read
    double deadline;
    bool timed_out;
    int status;          // of waitpid
    bool status_known;
    struct output text;
};

enum phase driver_step_phase(enum driver_step step) {
    switch (step) {
    case STEP_LOAD: return PHASE_LOAD;
    case STEP_GET_FUNCTION: return PHASE_GET_FUNCTION;
    case STEP_SET_ATTRIBUTE: return PHASE_SET_ATTRIBUTE;
    case STEP_LAUNCH: return PHASE_LAUNCH;
    case STEP_RUN: return PHASE_RUN;
    default: return PHASE_NONE;
    }
}

const char *driver_step_text(enum driver_step step) {
    static const char *const texts[STEP_COUNT] = {
        "opening the driver", "initialising the device", "loading the module", "finding the kernel",
        "setting attributes", "querying the kernel", "making buffers", "launching", "running",
        "checking the buffers"};
    return step < STEP_COUNT ? texts[step] : "";
}

const char *driver_attribute_text(enum driver_attribute attribute) {
    static const char *const texts[ATTRIBUTE_COUNT] = {
        "max_threads", "shared", "const", "local", "regs", "ptx", "binary", "max_dyn_shared",
        "cluster_set", "req_cluster_w", "req_cluster_h", "req_cluster_d", "nonportable"};
    return attribute < ATTRIBUTE_COUNT ? texts[attribute] : "";
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void sleep_briefly(void) { nanosleep(&(struct timespec){0, 2 * 1000 * 1000}, NULL); }

// ---------------------------------------------------------------------------------------------
// The child's side of the fork

static void reset_signals(void) {
    static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGPIPE, SIGINT, SIGTERM,
                                  SIGCHLD};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

_Noreturn static void child_main(const struct driver_request *request, pid_t parent, int records,
                                 int said) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);  // it died in between
    reset_signals();
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    int nothing = open("/dev/null", O_RDONLY);
    if (nothing >= 0) dup2(nothing, STDIN_FILENO);
    dup2(said, STDOUT_FILENO);
    dup2(said, STDERR_FILENO);
    struct memory memory = {.limit = 0};
    struct arena arena;
    if (setjmp(memory.edge) == 0) {
        arena_init(&arena, &memory);
        child_run(request, &arena, records);
    }
    _exit(0);
}

// ---------------------------------------------------------------------------------------------
// The parent's

static bool pipe_pair(int pair[2]) { return pipe2(pair, O_CLOEXEC) == 0; }

static void close_both(int pair[2]) {
    close(pair[0]);
    close(pair[1]);
}

static bool start(const struct driver_request *request, struct watched *watched) {
    int records[2], said[2];
    if (!pipe_pair(records)) return false;
    if (!pipe_pair(said)) {
        close_both(records);
        return false;
    }
    pid_t parent = getpid();
    fflush(NULL);  // or the child would write it again
    watched->pid = fork();
    if (watched->pid == 0) {
        close(records[0]);
        close(said[0]);
        child_main(request, parent, records[1], said[1]);
    }
    close(records[1]);
    close(said[1]);
    watched->records = records[0];
    watched->said = said[0];
    if (watched->pid > 0) setpgid(watched->pid, watched->pid);  // whichever of the two comes first
    return watched->pid > 0;
}

static void take_said(struct watched *watched) {
    char bytes[4096];
    ssize_t size = read(watched->said, bytes, sizeof bytes);
    if (size < 0 && errno == EINTR) return;
    if (size <= 0) {
        close(watched->said);
        watched->said = -1;
        return;
    }
    size_t room = SAID_LIMIT - watched->text.size;
    output_bytes(&watched->text, bytes, (size_t)size < room ? (size_t)size : room);
}

// False at the end of the records.
static bool take_records(const struct driver_request *request, struct watched *watched,
                         struct record_reader *reader) {
    unsigned char bytes[16 * sizeof(struct record)];
    ssize_t size = read(watched->records, bytes, sizeof bytes);
    if (size < 0) return errno == EINTR;
    if (size == 0) return false;
    enum driver_step before = reader->step;
    uint32_t sequence = reader->sequence;
    record_reader_feed(reader, bytes, (size_t)size);
    if (reader->step != before || (reader->sequence != sequence && reader->step == STEP_RUN))
        watched->deadline = now() + step_limit(request, reader->step);
    return !reader->done && !reader->broken;
}

static void watch(const struct driver_request *request, struct watched *watched,
                  struct record_reader *reader) {
    watched->deadline = now() + step_limit(request, STEP_OPEN);
    for (;;) {
        struct pollfd fds[2] = {{watched->records, POLLIN, 0}, {watched->said, POLLIN, 0}};
        double left = watched->deadline - now();
        if (left <= 0) {
            watched->timed_out = true;
            return;
        }
        int wait = left > 1000 ? 1000 * 1000 : (int)(left * 1000) + 1;
        if (poll(fds, 2, wait) < 0 && errno != EINTR) return;
        if (fds[1].revents != 0 && watched->said >= 0) take_said(watched);
        if (fds[0].revents != 0 && !take_records(request, watched, reader)) return;
    }
}

// What was printed and not read yet, as far as it is there.
static void drain_said(struct watched *watched) {
    struct pollfd fd = {watched->said, POLLIN, 0};
    for (int i = 0; i < 1024 && watched->said >= 0 && poll(&fd, 1, 0) > 0; i++) {
        take_said(watched);
        fd.fd = watched->said;
    }
}

static bool reap(struct watched *watched, double seconds) {
    for (double end = now() + seconds;;) {
        pid_t pid = waitpid(watched->pid, &watched->status, WNOHANG);
        if (pid == watched->pid) return watched->status_known = true;
        if (pid < 0 && errno != EINTR) return true;  // the caller of the program ignores SIGCHLD
        if (now() > end) return false;
        sleep_briefly();
    }
}

// Ends the child and whatever it started. A process that hangs in the kernel's driver can take
// seconds to die; one that does not within half a minute is left to init.
static void finish(struct watched *watched, bool ends_itself) {
    bool gone = ends_itself && reap(watched, 5);
    kill(-watched->pid, SIGKILL);
    if (!gone) reap(watched, 30);
    drain_said(watched);
    close(watched->records);
    if (watched->said >= 0) close(watched->said);
}

static const char *how_it_ended(const struct watched *watched, struct arena *arena) {
    if (!watched->status_known) return "ended";
    if (WIFSIGNALED(watched->status))
        return str_format(arena, "ended by signal %d (%s)", WTERMSIG(watched->status),
                          strsignal(WTERMSIG(watched->status))).data;
    return str_format(arena, "ended with status %d", WEXITSTATUS(watched->status)).data;
}

// The child ended, or was ended, without an answer: in a step that the launch answers for, that is
// the answer.
static void judge_silence(const struct driver_request *request, const struct watched *watched,
                          const struct record_reader *reader, struct arena *arena,
                          struct driver_outcome *outcome) {
    enum phase phase = reader->started ? driver_step_phase(reader->step) : PHASE_NONE;
    if (phase != PHASE_NONE) {
        outcome->phase = (uint8_t)phase;
        outcome->result = watched->timed_out ? RESULT_HANG : RESULT_CRASH;
        return;
    }
    outcome->status = DRIVER_FAILED;
    outcome->failure =
        watched->timed_out
            ? str_format(arena, "%s took more than %g s", driver_step_text(reader->step),
                         step_limit(request, reader->step))
            : str_format(arena, "%s: the process %s", driver_step_text(reader->step),
                         how_it_ended(watched, arena));
}

static void conclude(const struct driver_request *request, const struct watched *watched,
                     struct record_reader *reader, struct arena *arena,
                     struct driver_outcome *outcome) {
    record_reader_finish(reader);
    outcome->said = (struct str){watched->text.data, (uint32_t)watched->text.size};
    if (watched->status_known && WIFSIGNALED(watched->status) && !watched->timed_out && !reader->done)
        outcome->signal = WTERMSIG(watched->status);
    if (reader->broken) {
        outcome->status = DRIVER_FAILED;
        outcome->failure = STR("what the launching process said could not be read");
    } else if (!reader->answered && !reader->done) {
        judge_silence(request, watched, reader, arena, outcome);
    }
}

void driver_launch(const struct driver_request *request, struct arena *arena,
                   struct driver_outcome *outcome) {
    struct watched watched = {.pid = -1, .records = -1, .said = -1};
    struct record_reader reader;
    memset(outcome, 0, sizeof *outcome);
    memset(outcome->attributes, 0xff, sizeof outcome->attributes);
    record_reader_init(&reader, outcome, arena);
    output_init(&watched.text, arena);
    if (!start(request, &watched)) {
        outcome->status = DRIVER_FAILED;
        outcome->failure = str_format(arena, "no process for the launch: %s", strerror(errno));
        if (watched.records >= 0) close(watched.records);
        if (watched.said >= 0) close(watched.said);
        return;
    }
    watch(request, &watched, &reader);
    finish(&watched, !watched.timed_out && !reader.done && !reader.broken);
    conclude(request, &watched, &reader, arena, outcome);
}
