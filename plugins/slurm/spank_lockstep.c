/*
 * SPANK plugin of Slurm: --stack and --canary-ok for srun, sbatch and salloc, the pinned
 * environment of the node's stack in jobs, and a check of the node before tasks start.
 *
 * It runs in srun, sbatch and salloc, and as root in slurmstepd. It waits for nothing: what it
 * knows of the node is a small file that the node's agent writes. docs/slurm.md is for
 * administrators.
 */
#include <stdint.h>

#pragma GCC visibility push(default)
#include <slurm/spank.h>

SPANK_PLUGIN(lockstep, 1)
#pragma GCC visibility pop

#include "agent/hooks/job_env.h"
#include "agent/hooks/node_stack_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Slurm sets it in srun, sbatch and salloc, for the option of Pyxis. */
#define PYXIS "_SLURM_SPANK_OPTION_pyxis_container_image"

enum {
    STALE_S = 180,
    STALE_MAX_S = 86400,
    VALUE_SIZE = 4096,                        /* of a variable that the job sets */
    LIST_SIZE = 4 * LKS_NODE_STACK_ENV_BYTES, /* of LOCKSTEP_ENV; a variable has 9 bytes or more */
    IMAGE_SIZE = 1025,
    LINE_SIZE = 1024,
    REFUSED = 1, /* exit status of a task */
};

enum recheck { RECHECK_OFF, RECHECK_WARN, RECHECK_REFUSE };

/* Arguments in plugstack.conf. */
static struct {
    const char *run;
    enum recheck recheck;
    bool env, force;
    bool needs_agent;
    uint64_t stale;
} conf = {.run = "/run/lockstep-agent", .recheck = RECHECK_WARN, .env = true, .stale = STALE_S};

static char wish[LKS_NODE_STACK_TEXT_SIZE]; /* --stack; empty: none */
static bool canary_ok;

/* In slurmstepd. */
static struct lks_node_stack node;
static enum lks_code known = LKS_E_NOT_FOUND; /* LKS_OK: `node` is filled in */
static struct lks_err unknown;                /* why it is not */
static char line[LINE_SIZE];                  /* for the user; empty: none */
static bool refuses;

/* Configuration ------------------------------------------------------------------------------ */

static bool take_argument(struct lks_str argument)
{
    static const struct lks_str_named rechecks[] = {
        {"off", RECHECK_OFF}, {"warn", RECHECK_WARN}, {"refuse", RECHECK_REFUSE}};
    struct lks_str key, value;
    (void)lks_str_cut(argument, '=', &key, &value);
    if (lks_str_is(key, "run") && lks_str_starts(value, "/")) {
        conf.run = value.ptr; /* to the end of the argument */
        return true;
    }
    if (lks_str_is(key, "recheck")) {
        int mode = lks_str_lookup(value, rechecks, LKS_COUNT(rechecks), -1);
        conf.recheck = mode >= 0 ? (enum recheck)mode : conf.recheck;
        return mode >= 0;
    }
    if (lks_str_is(key, "env")) {
        conf.env = !lks_str_is(value, "off");
        conf.force = lks_str_is(value, "force");
        return !conf.env || conf.force || lks_str_is(value, "on");
    }
    if (lks_str_is(key, "without-agent")) {
        conf.needs_agent = lks_str_is(value, "refuse");
        return conf.needs_agent || lks_str_is(value, "start");
    }
    return lks_str_is(key, "stale") && lks_str_number(value, STALE_MAX_S, &conf.stale) &&
           conf.stale > 0;
}

/* A mistake here must not stop every job. */
static void take_arguments(int count, char **arguments)
{
    for (int i = 0; i < count; i++) {
        if (!take_argument(lks_str_from(arguments[i])))
            slurm_error(
                "lockstep: plugstack.conf: argument '%s' is unknown and ignored; see docs/slurm.md",
                arguments[i]);
    }
}

/* Options of srun, sbatch and salloc ----------------------------------------------------------- */

/* The value is not repeated: it may be of any length and drive a terminal. The command ends here,
 * before it asks slurmctld for anything: if it went on, Slurm itself would print the value. */
static int take_stack(int val, const char *value, int remote)
{
    (void)val;
    struct lks_str text = lks_str_from(value != NULL ? value : "");
    if (!lks_node_stack_wish(text)) {
        if (remote)
            return -1;
        slurm_error("--stack: a stack's NAME, NAME/VERSION or digest (sha256:...) is needed");
        exit(REFUSED);
    }
    memcpy(wish, text.ptr, text.len);
    wish[text.len] = '\0';
    return 0;
}

static int take_canary_ok(int val, const char *value, int remote)
{
    (void)val;
    (void)value;
    (void)remote;
    canary_ok = true;
    return 0;
}

static char stack_name[] = "stack", stack_value[] = "NAME",
            stack_usage[] = "stack that the job's nodes must run: NAME, NAME/VERSION or digest",
            canary_name[] = "canary-ok",
            canary_usage[] = "the job may run on nodes whose change is still on trial";

static struct spank_option options[] = {
    {stack_name, stack_value, stack_usage, 1, 0, take_stack},
    {canary_name, NULL, canary_usage, 0, 0, take_canary_ok},
};

/* What PrologSlurmctld sees as SPANK_NAME. */
static void tell_prolog(spank_t spank, const char *name, const char *value)
{
    if (spank_job_control_setenv(spank, name, value, 1) != ESPANK_SUCCESS)
        slurm_error("lockstep: %s cannot be passed on to slurmctld", name);
}

static void tell_prologs(spank_t spank)
{
    const char *image = getenv(PYXIS);
    struct lks_str text = lks_str_from(image != NULL ? image : "");
    if (wish[0] != '\0')
        tell_prolog(spank, "LOCKSTEP_STACK", wish);
    if (canary_ok)
        tell_prolog(spank, "LOCKSTEP_CANARY_OK", "1");
    if (text.len > 0 && text.len < IMAGE_SIZE && lks_str_printable(text))
        tell_prolog(spank, "LOCKSTEP_IMAGE", image);
}

/* The node ----------------------------------------------------------------------------------- */

static const char *get(spank_t spank, const char *name, char *out, int size)
{
    return spank_getenv(spank, name, out, size) == ESPANK_SUCCESS ? out : NULL;
}

/* The value that the job has. Another one than NOEXIST: it has one. */
static spank_err_t get_value(spank_t spank, const char *name, char value[VALUE_SIZE])
{
    value[0] = '\0'; /* an error leaves it as it is */
    return spank_getenv(spank, name, value, VALUE_SIZE);
}

/* Values that a stack set in the job that this one comes from: an earlier version of the node's
 * stack, or that of another node. */
static void drop_variables(spank_t spank)
{
    static char inherited[LIST_SIZE], value[VALUE_SIZE];
    char name[LKS_NODE_STACK_TEXT_SIZE];
    const char *list = get(spank, LKS_JOB_ENV_LIST, inherited, sizeof(inherited));
    struct lks_str key, rest = lks_str_from(list != NULL ? list : "");
    uint32_t hash = 0;
    while (lks_job_env_next(&rest, &key, &hash)) {
        if (key.len >= sizeof(name))
            continue;
        snprintf(name, sizeof(name), "%" LKS_STR_FMT, LKS_STR_ARG(key));
        if (get_value(spank, name, value) == ESPANK_SUCCESS &&
            lks_job_env_hash(lks_str_from(value)) == hash)
            (void)spank_unsetenv(spank, name);
    }
}

/* The variables of the stack, and for each of them in LOCKSTEP_ENV where its value is from. */
static void set_variables(spank_t spank)
{
    static char list[LIST_SIZE], value[VALUE_SIZE], pinned[VALUE_SIZE];
    char name[LKS_NODE_STACK_TEXT_SIZE], more[LKS_JOB_ENV_MORE_SIZE];
    struct lks_str key, text, rest = lks_str_from(node.env);
    size_t used = 0;
    while (lks_node_stack_next(&rest, &key, &text)) {
        snprintf(name, sizeof(name), "%" LKS_STR_FMT, LKS_STR_ARG(key));
        snprintf(pinned, sizeof(pinned), "%" LKS_STR_FMT, LKS_STR_ARG(text));
        bool set = get_value(spank, name, value) != ESPANK_ENV_NOEXIST;
        enum lks_job_env_source source = lks_job_env_decide(set, conf.force);
        if (source != LKS_JOB_ENV_JOB)
            (void)spank_setenv(spank, name, pinned, 1);
        lks_job_env_word(source, text, more);
        if (used < sizeof(list))
            used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s%s",
                                     used > 0 ? " " : "", name, more);
    }
    if (list[0] != '\0')
        (void)spank_setenv(spank, LKS_JOB_ENV_LIST, list, 1);
    else
        (void)spank_unsetenv(spank, LKS_JOB_ENV_LIST);
}

/* A job that comes from another node inherited the names of that node's stack. */
static void set_identity(spank_t spank)
{
    char text[2 * LKS_NODE_STACK_TEXT_SIZE];
    (void)spank_unsetenv(spank, "LOCKSTEP_STACK");
    (void)spank_unsetenv(spank, "LOCKSTEP_DIGEST");
    if (known != LKS_OK)
        return;
    snprintf(text, sizeof(text), "%s/%s", node.name, node.version);
    if (node.name[0] != '\0')
        (void)spank_setenv(spank, "LOCKSTEP_STACK", text, 1);
    if (node.digest[0] != '\0')
        (void)spank_setenv(spank, "LOCKSTEP_DIGEST", node.digest, 1);
}

/* What the user is told, and whether the tasks start. */
static void check_node(void)
{
    if (known == LKS_OK && node.bar[0] != '\0')
        snprintf(line, sizeof(line), "%s: %s", node.bar, node.why);
    else if (known == LKS_OK && wish[0] != '\0' && !lks_node_stack_is(&node, lks_str_from(wish)))
        snprintf(line, sizeof(line), "stack: it is to run %s/%s, and the job asks for %s",
                 node.name, node.version, wish);
    else if (known != LKS_OK && (known != LKS_E_NOT_FOUND || wish[0] != '\0' || conf.needs_agent))
        snprintf(line, sizeof(line), "not checked: %s", unknown.msg);
    lks_str_make_printable(line);
    refuses = line[0] != '\0' && (known == LKS_OK ? conf.recheck == RECHECK_REFUSE && node.enforces
                                                  : conf.needs_agent);
}

/* Where Slurm calls ---------------------------------------------------------------------------- */

static bool in_step(spank_t spank)
{
    return spank_remote(spank) == 1;
}

static bool in_command(void)
{
    spank_context_t context = spank_context();
    return context == S_CTX_LOCAL || context == S_CTX_ALLOCATOR;
}

int slurm_spank_init(spank_t spank, int ac, char *argv[])
{
    if (!in_command() && !in_step(spank))
        return 0;
    take_arguments(ac, argv);
    for (size_t i = 0; i < LKS_COUNT(options); i++) {
        if (spank_option_register(spank, &options[i]) != ESPANK_SUCCESS)
            slurm_error("lockstep: --%s is not available: another plugin has it", options[i].name);
    }
    return 0;
}

/* As root, which may enter the agent's folder. */
int slurm_spank_init_post_opt(spank_t spank, int ac, char *argv[])
{
    (void)ac;
    (void)argv;
    if (in_command())
        tell_prologs(spank);
    if (in_step(spank) && (conf.env || conf.recheck != RECHECK_OFF))
        known = lks_node_stack_read(conf.run, time(NULL), (time_t)conf.stale, &node, &unknown);
    return 0;
}

int slurm_spank_user_init(spank_t spank, int ac, char *argv[])
{
    (void)ac;
    (void)argv;
    set_identity(spank);
    /* Where the node's stack is not known, inherited values stay, and LOCKSTEP_ENV with them: the
     * agent may be away for a moment, and tasks of a step are to have the same values. */
    if (known == LKS_OK && conf.env) {
        drop_variables(spank);
        set_variables(spank);
    }
    if (conf.recheck != RECHECK_OFF)
        check_node();
    return 0;
}

/* In the process that becomes the task: its standard error is the user's. It ends here whether
 * plugstack.conf calls the plugin optional or required. */
int slurm_spank_task_init(spank_t spank, int ac, char *argv[])
{
    char name[LKS_NODE_STACK_TEXT_SIZE];
    int task = 0;
    (void)ac;
    (void)argv;
    if (line[0] == '\0')
        return 0;
    const char *called = get(spank, "SLURMD_NODENAME", name, sizeof(name));
    if (spank_get_item(spank, S_TASK_ID, &task) != ESPANK_SUCCESS || task == 0)
        dprintf(STDERR_FILENO, "lockstep: %s: %s%s\n", called != NULL ? called : "this node", line,
                refuses ? "; the task is not started" : "");
    if (refuses)
        _exit(REFUSED);
    return 0;
}
