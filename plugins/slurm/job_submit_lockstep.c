/*
 * job_submit/lockstep: the plugin of slurmctld that looks at each job before Slurm takes it in.
 *
 * slurmctld calls it under its locks, so it never waits and never asks anything: it has a copy of
 * the policy that the bridge writes (submit/policy.h), and looks at most once a second whether the
 * file is another one. The bridge replaces the file as a whole. It is read and not mapped: a mapped
 * file that another program cuts would end slurmctld with SIGBUS.
 *
 * Slurm loads a plugin into its own release only, by `plugin_version`.
 */
#include "submit/decide.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PUBLISHED      __attribute__((visibility("default")))
#define STACK_OPTION   "_SLURM_SPANK_OPTION_lockstep_stack"
#define IMAGE_OPTION   "_SLURM_SPANK_OPTION_pyxis_container_image"
#define STACK_VARIABLE "LOCKSTEP_STACK"
#define IMAGE_VARIABLE "LOCKSTEP_IMAGE"
#define PREFIX         "SPANK_"

enum { VARIABLES_MAX = 100000, TEXT_MAX = 1 << 20, LOG_SECONDS = 60 };

/* Slurm's own, which no public header has. */
extern char *slurm_xstrdup(const char *text);
extern void *slurm_xrecalloc(void **at, size_t count, size_t size, bool clear, bool try,
                             const char *file, int line, const char *function);
extern void slurm_xfree(void **at);
extern void slurm_info(const char *format, ...) LKS_PRINTF(1, 2);
extern int slurm_error(const char *format, ...) LKS_PRINTF(1, 2);

PUBLISHED extern const char plugin_name[];
PUBLISHED extern const char plugin_type[];
PUBLISHED extern const uint32_t plugin_version;
const char plugin_name[] = "lockstep: jobs on one stack, and refusals at submit";
const char plugin_type[] = "job_submit/lockstep";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

PUBLISHED int init(void);
PUBLISHED int fini(void);
PUBLISHED int job_submit(job_desc_msg_t *job, uint32_t uid, char **message);
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
PUBLISHED int job_modify(job_desc_msg_t *job, void *record, uint32_t uid, char **message);
#else
PUBLISHED int job_modify(job_desc_msg_t *job, void *record, uint32_t uid);
#endif

/* Releases of slurmctld differ in whether they call a plugin from several threads. */
static struct {
    pthread_mutex_t lock;
    const char *path;
    struct lks_policy policy;
    bool there;          /* `policy` is one */
    struct stat seen;    /* of the file that was read last */
    bool failed;         /* to be read */
    time_t looked, told; /* steady; when a failure was logged last */
} own = {.lock = PTHREAD_MUTEX_INITIALIZER};

static time_t steady(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

static lks_ms wall(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (lks_ms)now.tv_sec * LKS_SECOND + (lks_ms)now.tv_nsec / 1000000;
}

/* The policy -------------------------------------------------------------------------------- */

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* A plain file of this size; false: it is none, or it was cut meanwhile. */
static bool read_bytes(int fd, const struct stat *st, char *out)
{
    size_t len = 0, size = (size_t)st->st_size;
    while (len < size) {
        ssize_t got = pread(fd, out + len, size - len, (off_t)len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        len += (size_t)got;
    }
    return true;
}

static enum lks_code load(int fd, const struct stat *st, struct lks_err *err)
{
    struct lks_policy made = {0};
    if (!S_ISREG(st->st_mode) || st->st_size <= 0 || (uint64_t)st->st_size > LKS_POLICY_BYTES_MAX)
        return lks_fail(err, LKS_E_INVALID, "not a file of 1 byte to 4 MiB");
    char *bytes = malloc((size_t)st->st_size);
    if (bytes == NULL)
        return lks_fail_nomem(err);
    enum lks_code code =
        read_bytes(fd, st, bytes)
            ? lks_policy_read((struct lks_str){bytes, (size_t)st->st_size}, &made, err)
            : lks_fail(err, LKS_E_INVALID, "the file is shorter than it was");
    free(bytes);
    if (code != LKS_OK)
        return code;
    lks_policy_fini(&own.policy);
    own.policy = made;
    own.there = true;
    return LKS_OK;
}

static bool is_due(time_t now)
{
    return own.told == 0 || now - own.told >= LOG_SECONDS;
}

/* Once a minute: what was read last stays, up to the limit of each pool. */
static void complain(const char *why, time_t now)
{
    if (!is_due(now))
        return;
    own.told = now;
    slurm_error("job_submit/lockstep: %s: %s; %s", own.path, why,
                own.there ? "the policy that was read last still counts"
                          : "jobs are taken as they are");
}

static void look(void)
{
    struct lks_err err = {0};
    struct stat st;
    time_t now = steady();
    if (own.looked != 0 && now == own.looked)
        return;
    own.looked = now;
    int fd = open(own.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (fd < 0 || fstat(fd, &st) != 0) {
        complain(strerror(errno), now);
    } else if (!is_same(&st, &own.seen) || (own.failed && is_due(now))) {
        own.seen = st;
        own.failed = load(fd, &st, &err) != LKS_OK;
        if (own.failed)
            complain(err.msg, now);
        else
            own.told = 0;
    }
    if (fd >= 0)
        close(fd);
}

/* The job ----------------------------------------------------------------------------------- */

/* Bounded: a text of the job may be as large as a request to slurmctld. */
static struct lks_str text(const char *maybe)
{
    return maybe != NULL ? (struct lks_str){maybe, strnlen(maybe, TEXT_MAX)} : LKS_STR("");
}

/* The value of a variable, in the first of two lists that has it. */
static struct lks_str variable(char *const *list, uint32_t count, const char *name)
{
    size_t len = strlen(name);
    for (uint32_t i = 0; list != NULL && i < count && i < VARIABLES_MAX; i++) {
        const char *one = list[i];
        if (one == NULL)
            continue;
        if (strncmp(one, PREFIX, sizeof(PREFIX) - 1) == 0)
            one += sizeof(PREFIX) - 1;
        if (strncmp(one, name, len) == 0 && one[len] == '=')
            return text(one + len + 1);
    }
    return LKS_STR("");
}

static struct lks_str option(const job_desc_msg_t *job, const char *shown, const char *passed)
{
    struct lks_str value = variable(job->spank_job_env, job->spank_job_env_size, shown);
    return value.len > 0 ? value : variable(job->environment, job->env_size, passed);
}

static bool is_known(uint32_t number)
{
    return number != 0 && number != NO_VAL && number != INFINITE;
}

/* slurmctld sets min_nodes after its plugins: `sbatch -n 64` has none yet. */
static uint64_t least_nodes(const job_desc_msg_t *job)
{
    uint16_t each = job->ntasks_per_node;
    bool split = each != 0 && each != NO_VAL16 && each != INFINITE16;
    if (is_known(job->min_nodes))
        return job->min_nodes;
    return split && is_known(job->num_tasks) ? ((uint64_t)job->num_tasks + each - 1) / each : 1;
}

/* A task is on one node, and so is a GPU; a node has a CPU at least. */
static uint64_t most_nodes(const job_desc_msg_t *job)
{
    const char *gpus = job->tres_per_job != NULL ? strrchr(job->tres_per_job, ':') : NULL;
    uint64_t count = 0;
    if (is_known(job->num_tasks))
        return job->num_tasks;
    if (job->tres_per_job != NULL)
        return gpus != NULL && strchr(job->tres_per_job, ',') == NULL &&
                       lks_str_number(text(gpus + 1), UINT32_MAX, &count)
                   ? count
                   : UINT32_MAX;
    return is_known(job->min_cpus) ? job->min_cpus : 1;
}

/* A job without any of these is one task, and gets one node. */
static bool spreads(const job_desc_msg_t *job)
{
    uint16_t each = job->cpus_per_task;
    if (job->max_nodes == 1 || job->num_tasks == 1)
        return false;
    return is_known(job->max_nodes) || is_known(job->num_tasks) || job->tres_per_job != NULL ||
           (is_known(job->min_cpus) && job->min_cpus > (each != 0 && each != NO_VAL16 ? each : 1));
}

static struct lks_submit_job read_job(const job_desc_msg_t *job)
{
    return (struct lks_submit_job){
        .partition = text(job->partition),
        .features = text(job->features),
        .comment = text(job->comment),
        .stack = option(job, STACK_VARIABLE, STACK_OPTION),
        .image = option(job, IMAGE_VARIABLE, IMAGE_OPTION),
        .script = text(job->script),
        .nodes = least_nodes(job),
        .spreads = spreads(job),
        .needs = is_known(job->min_nodes) ? job->min_nodes : most_nodes(job),
    };
}

/* PrologSlurmctld gets the variable as SPANK_LOCKSTEP_IMAGE. */
static void pass_image(job_desc_msg_t *job, const char *image)
{
    char line[sizeof(PREFIX IMAGE_VARIABLE) + LKS_SUBMIT_IMAGE_MAX + 2];
    if (variable(job->spank_job_env, job->spank_job_env_size, IMAGE_VARIABLE).len > 0 ||
        job->spank_job_env_size >= VARIABLES_MAX)
        return;
    snprintf(line, sizeof(line), PREFIX IMAGE_VARIABLE "=%s", image);
    /* slurmctld reads the list to a NULL behind its end. */
    slurm_xrecalloc((void **)&job->spank_job_env, (size_t)job->spank_job_env_size + 2,
                    sizeof(*job->spank_job_env), true, false, __FILE__, __LINE__, __func__);
    job->spank_job_env[job->spank_job_env_size++] = slurm_xstrdup(line);
}

/* Behind what an earlier plugin of the chain said. */
static void tell(char **message, const char *said)
{
    size_t len = *message != NULL ? strlen(*message) : 0, size = len + strlen(said) + 2;
    slurm_xrecalloc((void **)message, size, 1, true, false, __FILE__, __LINE__, __func__);
    snprintf(*message + len, size - len, "%s%s", len > 0 ? "\n" : "", said);
}

static void set_features(job_desc_msg_t *job, const char *features)
{
    slurm_xfree((void **)&job->features);
    job->features = slurm_xstrdup(features);
}

/* What Slurm calls -------------------------------------------------------------------------- */

int init(void)
{
    const char *path = getenv("LOCKSTEP_POLICY");
    own.path = path != NULL ? path : "/run/lockstep-slurm-bridge/policy";
    slurm_info("job_submit/lockstep: the policy is %s", own.path);
    return SLURM_SUCCESS;
}

int fini(void)
{
    lks_policy_fini(&own.policy);
    own.there = own.failed = false;
    own.seen = (struct stat){0};
    own.looked = own.told = 0;
    return SLURM_SUCCESS;
}

static int act(job_desc_msg_t *job, const struct lks_submit_job *read, uint32_t uid, char **message)
{
    struct lks_submit_answer answer;
    pthread_mutex_lock(&own.lock);
    look();
    lks_submit_decide(own.there ? &own.policy : NULL, read, wall(), &answer);
    pthread_mutex_unlock(&own.lock);
    if (answer.what == LKS_SUBMIT_REFUSED) {
        if (message != NULL)
            tell(message, answer.text);
        slurm_info("job_submit/lockstep: a job of user %u is refused: %s", uid, answer.text);
        return ESLURM_ACCESS_DENIED;
    }
    if (answer.text[0] != '\0')
        slurm_info("job_submit/lockstep: a job of user %u would be refused: %s", uid, answer.text);
    if (answer.what == LKS_SUBMIT_CHANGED)
        set_features(job, answer.features);
    if (answer.image[0] != '\0')
        pass_image(job, answer.image);
    return SLURM_SUCCESS;
}

int job_submit(job_desc_msg_t *job, uint32_t uid, char **message)
{
    struct lks_submit_job read = read_job(job);
    return act(job, &read, uid, message);
}

/* A request changes what it names; what the job has already is not known here. So it is looked at
 * where it names the partition, and with it the constraint: a new constraint alone keeps what its
 * user writes. Unless it says that the job gets one node, the job may have any number of nodes, and
 * gets slots. Slurm takes a change of a job that fits into no slot now, and the job waits. */
static int modify(job_desc_msg_t *job, uint32_t uid, char **message)
{
    if (job->partition == NULL || job->features == NULL)
        return SLURM_SUCCESS;
    struct lks_submit_job read = read_job(job);
    read.spreads = job->max_nodes != 1;
    read.needs = read.nodes;
    return act(job, &read, uid, message);
}

/* slurmctld passes a place for a message since 23.02. In an earlier one a fourth parameter would be
 * whatever its register had before. */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
int job_modify(job_desc_msg_t *job, void *record, uint32_t uid, char **message)
{
    (void)record;
    return modify(job, uid, message);
}
#else
int job_modify(job_desc_msg_t *job, void *record, uint32_t uid)
{
    (void)record;
    return modify(job, uid, NULL);
}
#endif
