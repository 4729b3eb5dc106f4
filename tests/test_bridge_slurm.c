/* The bridge's use of libslurm, with a libslurm that the test plays: failures between two calls,
 * lists of nodes that cannot be read, and a slurmctld that refuses or does not answer a write.
 * Long because the library is played here as well. */
#include "base/file.h"
#include "bridge/serve/worker.h"
#include "bridge/slurm/slurm_parts.h"
#include "bridge/slurm/slurm_truth.h"
#include "tests/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { NODES = 12, UPDATES_MAX = 64, PARTITIONS = 30 };

/* slurmctld --------------------------------------------------------------------------------- */

struct reserved {
    const char *nodes, *name, *users; /* NULL: none */
    time_t from, until;
    uint64_t flags;
};

static struct {
    time_t node_time, job_time, reservation_time; /* of the last change */
    int node_error, job_error, reservation_error; /* 0: the call succeeds */
    const char *job_nodes;                        /* of the one job; NULL: no job */
    const char *reserved;                         /* nodes of the one reservation; NULL: none */
    const char *reserved_name, *reserved_users;   /* NULL: none */
    time_t reserved_from, reserved_until;
    int reserve_error;    /* of the next request about it; 0: it succeeds, and ... */
    bool ignores_reserve; /* ... changes nothing */
    bool fails_over;      /* that request is carried out, and another slurmctld is there then */
    const struct reserved *others; /* reservations beside the one */
    uint32_t other_count;
    char sent[64];            /* requests about it: "create delete " */
    bool was_read[3];         /* all nodes, jobs and reservations were sent; the test clears it */
    uint32_t state;           /* of all nodes */
    const char *reason;       /* of all nodes, which are drained with one */
    int updates[UPDATES_MAX]; /* what each update gets */
    size_t update_count;
    bool obeys; /* an update changes the nodes */
    unsigned
        bad[NODES];    /* an update that names one of these nodes is refused; 0: no more of them */
    bool shows[NODES]; /* features were set */
    int task_error;
    int run_error;               /* of the reading of one job */
    const slurm_job_info_t *run; /* what it shows: as many as there are with a state */
    uint32_t run_count, run_asked;
    char *part_nodes; /* of the first partition; NULL: as all others */
} ctl;

static void ctl_reset(void)
{
    memset(&ctl, 0, sizeof(ctl));
    ctl.node_time = ctl.job_time = ctl.reservation_time = 1;
    ctl.obeys = true;
    ctl.state = NODE_STATE_IDLE;
}

static int fail_with(int number)
{
    errno = number;
    return number != 0 ? SLURM_ERROR : SLURM_SUCCESS;
}

void slurm_init(const char *conf)
{
    (void)conf;
}

void slurm_fini(void)
{
}

char *slurm_strerror(int errnum)
{
    static char text[32];
    snprintf(text, sizeof(text), "error %d", errnum);
    return text;
}

static void fill_node(node_info_t *out, unsigned number)
{
    char name[16];
    snprintf(name, sizeof(name), "n%u", number);
    out->name = strdup(name);
    out->node_state = ctl.state;
    if (ctl.reason != NULL) {
        out->node_state |= NODE_STATE_DRAIN;
        out->reason = strdup(ctl.reason);
        out->reason_uid = getuid();
    }
}

static node_info_msg_t *make_nodes(unsigned first, unsigned count)
{
    node_info_msg_t *msg = calloc(1, sizeof(*msg));
    LKS_ASSERT(msg != NULL);
    msg->last_update = ctl.node_time;
    msg->node_array = calloc(count, sizeof(*msg->node_array));
    msg->record_count = count;
    for (unsigned i = 0; i < count; i++)
        fill_node(&msg->node_array[i], first + i);
    return msg;
}

int slurm_load_node(time_t update_time, node_info_msg_t **resp, uint16_t show_flags)
{
    (void)show_flags;
    if (ctl.node_error != 0)
        return fail_with(ctl.node_error);
    if (update_time >= ctl.node_time)
        return fail_with(SLURM_NO_CHANGE_IN_DATA);
    ctl.was_read[0] = true;
    *resp = make_nodes(1, NODES);
    return SLURM_SUCCESS;
}

int slurm_load_node_single(node_info_msg_t **resp, char *node_name, uint16_t show_flags)
{
    (void)show_flags;
    if (ctl.node_error != 0)
        return fail_with(ctl.node_error);
    *resp = make_nodes((unsigned)strtoul(node_name + 1, NULL, 10), 1);
    return SLURM_SUCCESS;
}

void slurm_free_node_info_msg(node_info_msg_t *node_buffer_ptr)
{
    for (uint32_t i = 0; node_buffer_ptr != NULL && i < node_buffer_ptr->record_count; i++) {
        free(node_buffer_ptr->node_array[i].name);
        free(node_buffer_ptr->node_array[i].reason);
    }
    if (node_buffer_ptr != NULL)
        free(node_buffer_ptr->node_array);
    free(node_buffer_ptr);
}

int slurm_load_jobs(time_t update_time, job_info_msg_t **job_info_msg_pptr, uint16_t show_flags)
{
    (void)show_flags;
    if (ctl.job_error != 0)
        return fail_with(ctl.job_error);
    if (update_time >= ctl.job_time)
        return fail_with(SLURM_NO_CHANGE_IN_DATA);
    job_info_msg_t *msg = calloc(1, sizeof(*msg));
    LKS_ASSERT(msg != NULL);
    ctl.was_read[1] = true;
    msg->last_update = ctl.job_time;
    msg->record_count = ctl.job_nodes != NULL;
    msg->job_array = calloc(1, sizeof(*msg->job_array));
    msg->job_array->job_id = 17;
    msg->job_array->job_state = JOB_RUNNING;
    msg->job_array->nodes = strdup(ctl.job_nodes != NULL ? ctl.job_nodes : "");
    *job_info_msg_pptr = msg;
    return SLURM_SUCCESS;
}

int slurm_load_job(job_info_msg_t **resp, uint32_t job_id, uint16_t show_flags)
{
    (void)show_flags;
    ctl.run_asked = job_id;
    if (ctl.run_error != 0)
        return fail_with(ctl.run_error);
    job_info_msg_t *msg = calloc(1, sizeof(*msg));
    LKS_ASSERT(msg != NULL);
    msg->record_count = ctl.run_count;
    msg->job_array = calloc(ctl.run_count + 1, sizeof(*msg->job_array));
    LKS_ASSERT(msg->job_array != NULL);
    memcpy(msg->job_array, ctl.run, ctl.run_count * sizeof(*msg->job_array));
    *resp = msg;
    return SLURM_SUCCESS;
}

void slurm_free_job_info_msg(job_info_msg_t *job_buffer_ptr)
{
    if (job_buffer_ptr == NULL)
        return;
    free(job_buffer_ptr->job_array->nodes);
    free(job_buffer_ptr->job_array);
    free(job_buffer_ptr);
}

static void fill_reservation(reserve_info_t *out, const struct reserved *from)
{
    out->node_list = strdup(from->nodes);
    out->name = from->name != NULL ? strdup(from->name) : NULL;
    out->users = from->users != NULL ? strdup(from->users) : NULL;
    out->start_time = from->from;
    out->end_time = from->until;
    out->flags = from->flags;
}

/* Partitions over all nodes of a large cluster. */
int slurm_load_partitions(time_t update_time, partition_info_msg_t **resp, uint16_t show_flags)
{
    static partition_info_t parts[PARTITIONS];
    static partition_info_msg_t msg = {.record_count = PARTITIONS, .partition_array = parts};
    static char names[PARTITIONS][16];
    static char nodes[] = "n[000001-100000]";
    (void)update_time;
    (void)show_flags;
    for (uint32_t i = 0; i < PARTITIONS; i++) {
        snprintf(names[i], sizeof(names[i]), "p%u", (unsigned)i);
        parts[i] = (partition_info_t){
            .name = names[i], .nodes = i == 0 && ctl.part_nodes != NULL ? ctl.part_nodes : nodes};
    }
    *resp = &msg;
    return SLURM_SUCCESS;
}

void slurm_free_partition_info_msg(partition_info_msg_t *part_info_ptr)
{
    (void)part_info_ptr;
}

int slurm_load_reservations(time_t update_time, reserve_info_msg_t **resp)
{
    if (ctl.reservation_error != 0)
        return fail_with(ctl.reservation_error);
    if (update_time >= ctl.reservation_time)
        return fail_with(SLURM_NO_CHANGE_IN_DATA);
    const struct reserved one = {ctl.reserved,      ctl.reserved_name,  ctl.reserved_users,
                                 ctl.reserved_from, ctl.reserved_until, RESERVE_FLAG_MAINT};
    reserve_info_msg_t *msg = calloc(1, sizeof(*msg));
    LKS_ASSERT(msg != NULL);
    ctl.was_read[2] = true;
    msg->last_update = ctl.reservation_time;
    msg->reservation_array = calloc(ctl.other_count + (size_t)1, sizeof(*msg->reservation_array));
    LKS_ASSERT(msg->reservation_array != NULL);
    for (uint32_t i = 0; i < ctl.other_count; i++)
        fill_reservation(&msg->reservation_array[msg->record_count++], &ctl.others[i]);
    if (ctl.reserved != NULL)
        fill_reservation(&msg->reservation_array[msg->record_count++], &one);
    *resp = msg;
    return SLURM_SUCCESS;
}

void slurm_free_reservation_info_msg(reserve_info_msg_t *resv_info_ptr)
{
    for (uint32_t i = 0; resv_info_ptr != NULL && i < resv_info_ptr->record_count; i++) {
        free(resv_info_ptr->reservation_array[i].node_list);
        free(resv_info_ptr->reservation_array[i].name);
        free(resv_info_ptr->reservation_array[i].users);
    }
    if (resv_info_ptr != NULL)
        free(resv_info_ptr->reservation_array);
    free(resv_info_ptr);
}

/* A request about the reservation: what it gets, noted. */
static bool takes_reserve(const char *what)
{
    size_t len = strlen(ctl.sent);
    int number = ctl.reserve_error;
    snprintf(ctl.sent + len, sizeof(ctl.sent) - len, "%s ", what);
    ctl.reserve_error = 0;
    ctl.reservation_time++;
    if (ctl.fails_over)
        ctl.node_time = ctl.job_time = ctl.reservation_time = 1;
    return fail_with(number) == SLURM_SUCCESS;
}

/* Texts that the test's end frees. */
static char kept_nodes[64], kept_users[64], kept_name[64];

static void keep_reserve(const resv_desc_msg_t *msg)
{
    if (ctl.ignores_reserve)
        return;
    snprintf(kept_nodes, sizeof(kept_nodes), "%s", msg->node_list);
    snprintf(kept_name, sizeof(kept_name), "%s", msg->name);
    ctl.reserved = kept_nodes;
    ctl.reserved_name = kept_name;
    ctl.reserved_until = msg->end_time;
    if (msg->start_time != 0)
        ctl.reserved_from = msg->start_time;
}

void slurm_init_resv_desc_msg(resv_desc_msg_t *update_resv_msg)
{
    memset(update_resv_msg, 0, sizeof(*update_resv_msg));
}

char *slurm_create_reservation(resv_desc_msg_t *resv_msg)
{
    LKS_ASSERT(resv_msg->flags == (RESERVE_FLAG_MAINT | RESERVE_FLAG_IGN_JOBS));
    bool taken = takes_reserve("create");
    if (!taken && !ctl.fails_over)
        return NULL;
    snprintf(kept_users, sizeof(kept_users), "%s", resv_msg->users);
    ctl.reserved_users = kept_users;
    keep_reserve(resv_msg);
    return taken ? strdup(resv_msg->name) : NULL;
}

int slurm_update_reservation(resv_desc_msg_t *resv_msg)
{
    LKS_ASSERT(resv_msg->users == NULL);
    if (!takes_reserve(resv_msg->start_time != 0 ? "update+start" : "update"))
        return SLURM_ERROR;
    keep_reserve(resv_msg);
    return SLURM_SUCCESS;
}

int slurm_delete_reservation(reservation_name_msg_t *resv_msg)
{
    (void)resv_msg;
    if (!takes_reserve("delete"))
        return SLURM_ERROR;
    if (!ctl.ignores_reserve)
        ctl.reserved = NULL;
    return SLURM_SUCCESS;
}

void slurm_init_update_node_msg(update_node_msg_t *update_node_msg)
{
    memset(update_node_msg, 0, sizeof(*update_node_msg));
}

/* As slurmctld 22.05 does: nodes before one that it refuses are changed. */
static int set_features(const char *names)
{
    struct lks_str rest = lks_str_from(names), name;
    while (rest.len > 0) {
        uint64_t node = 0;
        (void)lks_str_cut(rest, ',', &name, &rest);
        LKS_ASSERT(lks_str_number((struct lks_str){name.ptr + 1, name.len - 1}, NODES, &node));
        for (size_t i = 0; i < NODES && ctl.bad[i] != 0; i++) {
            if (ctl.bad[i] == node)
                return ESLURM_INVALID_NODE_NAME;
        }
        ctl.shows[node - 1] = true;
    }
    return 0;
}

int slurm_update_node(update_node_msg_t *node_msg)
{
    LKS_ASSERT(ctl.update_count < UPDATES_MAX);
    int number = ctl.updates[ctl.update_count++];
    if (node_msg->features != NULL)
        number = number != 0 ? number : set_features(node_msg->node_names);
    if (number == 0 && ctl.obeys)
        ctl.reason = "lockstep:change:17 x";
    ctl.node_time++;
    return fail_with(number);
}

int slurm_requeue2(char *job_id, uint32_t flags, job_array_resp_msg_t **resp)
{
    (void)job_id;
    (void)flags;
    job_array_resp_msg_t *msg = calloc(1, sizeof(*msg));
    LKS_ASSERT(msg != NULL);
    msg->job_array_count = 2;
    msg->error_code = calloc(2, sizeof(*msg->error_code));
    msg->error_code[1] = (uint32_t)ctl.task_error;
    *resp = msg;
    return SLURM_SUCCESS;
}

void slurm_free_job_array_resp(job_array_resp_msg_t *resp)
{
    free(resp->error_code);
    free(resp);
}

int slurm_load_ctl_conf(time_t update_time, slurm_conf_t **slurm_ctl_conf_ptr)
{
    if (update_time > 0)
        return fail_with(SLURM_NO_CHANGE_IN_DATA);
    *slurm_ctl_conf_ptr = calloc(1, sizeof(**slurm_ctl_conf_ptr));
    LKS_ASSERT(*slurm_ctl_conf_ptr != NULL);
    (*slurm_ctl_conf_ptr)->last_update = 5;
    return SLURM_SUCCESS;
}

void slurm_free_ctl_conf(slurm_conf_t *slurm_ctl_conf_ptr)
{
    free(slurm_ctl_conf_ptr);
}

int slurm_ping(int dest)
{
    (void)dest;
    return SLURM_SUCCESS;
}

/* Readings ---------------------------------------------------------------------------------- */

static void slurm_drop(struct lks_slurm **s)
{
    lks_slurm_free(*s);
}

static lks_ms steady; /* the bridge's clock */

/* Read everything: whether something changed, and how many nodes have a job and a reservation. */
static void read_all(struct lks_slurm *s, enum lks_code want, bool changed, size_t busy,
                     size_t reserved)
{
    LKS_CLEANUP(lks_bridge_reading_fini) struct lks_bridge_reading r = {0};
    struct lks_err err = {0};
    bool got = false;
    size_t with_job = 0, with_reservation = 0;
    lks_bridge_reading_init(&r);
    CHECK_CODE(lks_slurm_read(s, steady, &r, &got, &err), want);
    CHECK_INT(got, changed);
    for (uint32_t i = 0; i < r.count; i++) {
        struct lks_str json = {r.bytes.ptr + r.items[i].json, r.items[i].json_len};
        with_job += lks_str_find(json, LKS_STR("\"id\":\"17\"")) >= 0;
        with_reservation += lks_str_find(json, LKS_STR("\"reservation\":{")) >= 0;
    }
    CHECK_INT(r.count, changed ? NODES : 0);
    CHECK_INT(with_job, busy);
    CHECK_INT(with_reservation, reserved);
}

/* What came before a failure is part of the next reading. */
static void test_failures(void)
{
    LKS_CLEANUP(slurm_drop) struct lks_slurm *s = NULL;
    struct lks_err err = {0};
    ctl_reset();
    CHECK_CODE(lks_slurm_new(getuid(), &s, &err), LKS_OK);
    read_all(s, LKS_OK, true, 0, 0);
    read_all(s, LKS_OK, false, 0, 0);
    static const struct {
        const char *name;
        bool nodes, jobs;
        int *error;
    } rows[] = {
        {"nodes change, and the jobs fail", true, false, &ctl.job_error},
        {"nodes change, and the reservations fail", true, false, &ctl.reservation_error},
        {"jobs change, and the reservations fail", false, true, &ctl.reservation_error},
        {"jobs change, and the nodes fail", false, true, &ctl.node_error},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        ctl.node_time += rows[i].nodes;
        ctl.job_time += rows[i].jobs;
        *rows[i].error = SLURM_PROTOCOL_SOCKET_IMPL_TIMEOUT;
        read_all(s, LKS_E_UNAVAILABLE, false, 0, 0);
        *rows[i].error = 0;
        read_all(s, LKS_OK, true, 0, 0);
        read_all(s, LKS_OK, false, 0, 0);
    }
}

/* slurmctld's clock is set back: what changes then it calls unchanged, since the bridge gives it a
 * time that is in its future. */
static const struct {
    const char *name;
    lks_ms after;     /* seconds between the two readings */
    bool jobs, nodes; /* the clock of their answers is behind */
    int error;        /* of a reading between the two */
    bool one;         /* a single node is read between the two */
    bool sees;        /* the second reading shows it */
} clocks[] = {
    {"soon after a reading", 1, true, true, 0, false, false},
    {"ten seconds after a reading", 10, true, true, 0, false, true},
    {"only jobs changed behind it", 10, true, false, 0, false, true},
    {"slurmctld did not answer in between", 1, true, true, SLURM_PROTOCOL_SOCKET_IMPL_TIMEOUT,
     false, true},
    {"a node was read in between", 1, true, true, 0, true, true},
};

static void set_back(struct lks_slurm *s, size_t row)
{
    LKS_CLEANUP(lks_bridge_reading_fini) struct lks_bridge_reading one = {0};
    struct lks_err err = {0};
    lks_bridge_reading_init(&one);
    ctl.node_time = clocks[row].nodes ? 4400 : 5000;
    ctl.job_time = clocks[row].jobs ? 4400 : 5000;
    ctl.job_nodes = "n[1-2]";
    ctl.node_error = clocks[row].error;
    if (clocks[row].error != 0)
        read_all(s, LKS_E_UNAVAILABLE, false, 0, 0);
    ctl.node_error = 0;
    if (clocks[row].one)
        CHECK_CODE(lks_slurm_read_node(s, "n1", steady, &one, &err), LKS_OK);
    steady += clocks[row].after * LKS_SECOND;
}

static void test_clock_back(void)
{
    for (size_t i = 0; i < LKS_COUNT(clocks); i++) {
        LKS_CLEANUP(slurm_drop) struct lks_slurm *s = NULL;
        struct lks_slurm_about about;
        struct lks_err err = {0};
        bool changed = false, sees = clocks[i].sees;
        lks_test_case("%s", clocks[i].name);
        ctl_reset();
        ctl.node_time = ctl.job_time = ctl.reservation_time = 5000;
        CHECK_CODE(lks_slurm_new(getuid(), &s, &err), LKS_OK);
        read_all(s, LKS_OK, true, 0, 0);
        CHECK_CODE(lks_slurm_about(s, &about, &changed, &err), LKS_OK);
        set_back(s, i);
        memset(ctl.was_read, 0, sizeof(ctl.was_read));
        read_all(s, LKS_OK, sees, sees ? 2 : 0, 0);
        CHECK_INT(ctl.was_read[0], sees);
        CHECK_CODE(lks_slurm_about(s, &about, &changed, &err), LKS_OK);
        CHECK_INT(changed, sees); /* the configuration is asked for again as well */
    }
}

/* A list that cannot be read is that of one job or reservation, and no node of it counts as empty.
 */
static void test_unreadable(void)
{
    LKS_CLEANUP(slurm_drop) struct lks_slurm *s = NULL;
    struct lks_err err = {0};
    ctl_reset();
    CHECK_CODE(lks_slurm_new(getuid(), &s, &err), LKS_OK);
    static const struct {
        const char *name, *job, *reserved;
        size_t busy, held;
        const char *warning;
    } rows[] = {
        {"both can be read", "n[1-2]", "n3", 2, 1, ""},
        {"the job's cannot", "n[1-", "n3", NODES, 1, "job 17"},
        {"the reservation's cannot", "n[1-2]", "n[3", 2, 0, "reservation"},
        {"neither can", "n]", "n[3", NODES, 0, "job 17"},
        {"both can again", "n[1-2]", "n3", 2, 1, ""},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        ctl.job_nodes = rows[i].job;
        ctl.reserved = rows[i].reserved;
        ctl.job_time++;
        ctl.reservation_time++;
        read_all(s, LKS_OK, true, rows[i].busy, rows[i].held);
        struct lks_str warning = lks_str_from(lks_slurm_index_warning(s));
        CHECK_HAS(warning, rows[i].warning);
        CHECK_INT(warning.len > 0, rows[i].warning[0] != '\0');
    }
}

/* Reservations of one node, in minutes from now, and the one that is shown. */
#define OURS "lockstep_change_17"
enum purpose { OWN, MAINT, JOBS };
static const struct {
    const char *name;
    struct {
        const char *name;
        int from, until;
        enum purpose purpose;
    } there[3]; /* until one without a name */
    const char *shown;
} overlaps[] = {
    {"the first", {{"b", 20, 30, MAINT}, {"a", 10, 20, MAINT}}, "a"},
    {"maintenance now before one for jobs",
     {{"ada", -20, 30, JOBS}, {"pdu7", -1, 20, MAINT}},
     "pdu7"},
    {"others' before ours", {{OURS, -20, 30, OWN}, {"pdu7", -1, 20, MAINT}}, "pdu7"},
    {"others' before ours, listed first", {{"pdu7", -1, 20, MAINT}, {OURS, -20, 30, OWN}}, "pdu7"},
    {"ours before one for jobs", {{"ada", -20, 30, JOBS}, {OURS, -1, 20, OWN}}, OURS},
    {"others' that is to come", {{"pdu7", 10, 20, MAINT}, {OURS, -1, 20, OWN}}, OURS},
    {"others' that is over", {{"pdu7", -20, -10, MAINT}, {OURS, -1, 20, OWN}}, OURS},
    {"others' now, and others' that is over",
     {{"pdu7", -20, -10, MAINT}, {"pdu8", -1, 20, MAINT}, {OURS, -1, 20, OWN}},
     "pdu8"},
    {"a name like ours", {{OURS, -20, 30, OWN}, {"lockstep_x", -1, 20, MAINT}}, "lockstep_x"},
};

static void check_overlap(struct lks_slurm *s, size_t row)
{
    LKS_CLEANUP(lks_bridge_reading_fini) struct lks_bridge_reading r = {0};
    struct lks_err err = {0};
    struct reserved list[LKS_COUNT(overlaps->there)];
    char user[64], says[128];
    time_t now = time(NULL);
    snprintf(user, sizeof(user), "%" LKS_STR_FMT, LKS_STR_ARG(lks_slurm_user(s, getuid())));
    ctl.others = list;
    for (size_t i = 0; i < LKS_COUNT(list) && overlaps[row].there[i].name != NULL; i++)
        list[ctl.other_count++] = (struct reserved){
            .nodes = "n[1-2]",
            .name = overlaps[row].there[i].name,
            .users = overlaps[row].there[i].purpose == OWN ? user : "kim",
            .from = now + overlaps[row].there[i].from * 60,
            .until = now + overlaps[row].there[i].until * 60,
            .flags = overlaps[row].there[i].purpose == JOBS ? 0 : RESERVE_FLAG_MAINT};
    lks_bridge_reading_init(&r);
    CHECK_CODE(lks_slurm_read_node(s, "n1", steady, &r, &err), LKS_OK);
    snprintf(says, sizeof(says), "\"reservation\":{\"name\":\"%s\"", overlaps[row].shown);
    CHECK_HAS(lks_buf_view(&r.bytes), says);
    CHECK_HAS(lks_buf_view(&r.bytes),
              strcmp(overlaps[row].shown, OURS) == 0 ? "\"own\":true" : "\"own\":false");
}

static void test_overlaps(void)
{
    for (size_t i = 0; i < LKS_COUNT(overlaps); i++) {
        LKS_CLEANUP(slurm_drop) struct lks_slurm *s = NULL;
        struct lks_err err = {0};
        lks_test_case("%s", overlaps[i].name);
        ctl_reset();
        CHECK_CODE(lks_slurm_new(getuid(), &s, &err), LKS_OK);
        check_overlap(s, i);
    }
}

static const struct {
    const char *name;
    uint32_t state;
    const char *job; /* "": the node is empty */
} hidden[] = {
    {"idle", NODE_STATE_IDLE, ""},
    {"drained", NODE_STATE_IDLE | NODE_STATE_DRAIN, ""},
    {"down", NODE_STATE_DOWN, ""},
    {"allocated", NODE_STATE_ALLOCATED, "that Slurm does not list"},
    {"mixed", NODE_STATE_MIXED, "that Slurm does not list"},
    {"completing", NODE_STATE_IDLE | NODE_STATE_COMPLETING, "that Slurm does not list"},
    {"not registered", NODE_STATE_UNKNOWN, "before the node registers"},
    {"drained and not registered", NODE_STATE_UNKNOWN | NODE_STATE_DRAIN,
     "before the node registers"},
    {"Slurm is to reboot it", NODE_STATE_IDLE | NODE_STATE_DRAIN | NODE_STATE_REBOOT_REQUESTED,
     "Slurm reboots the node"},
    {"Slurm reboots it", NODE_STATE_DOWN | NODE_STATE_DRAIN | NODE_STATE_REBOOT_ISSUED,
     "Slurm reboots the node"},
    {"Slurm is to power it down", NODE_STATE_IDLE | NODE_STATE_DRAIN | NODE_STATE_POWER_DOWN,
     "Slurm powers the node down"},
    {"once its jobs ended", NODE_STATE_IDLE | NODE_STATE_DRAIN | NODE_STATE_POWER_DRAIN,
     "Slurm powers the node down"},
    {"Slurm powers it down", NODE_STATE_IDLE | NODE_STATE_DRAIN | NODE_STATE_POWERING_DOWN,
     "Slurm powers the node down"},
    {"Slurm powered it down", NODE_STATE_IDLE | NODE_STATE_DRAIN | NODE_STATE_POWERED_DOWN,
     "Slurm powered the node down"},
    {"planned for a job", NODE_STATE_IDLE | NODE_STATE_DRAIN | NODE_STATE_PLANNED, ""},
};

/* A node is empty only where Slurm says so. */
static void test_hidden_jobs(void)
{
    for (size_t i = 0; i < LKS_COUNT(hidden); i++) {
        LKS_CLEANUP(slurm_drop) struct lks_slurm *s = NULL;
        LKS_CLEANUP(lks_bridge_reading_fini) struct lks_bridge_reading r = {0};
        struct lks_err err = {0};
        lks_test_case("%s", hidden[i].name);
        ctl_reset();
        ctl.state = hidden[i].state;
        lks_bridge_reading_init(&r);
        CHECK_CODE(lks_slurm_new(getuid(), &s, &err), LKS_OK);
        CHECK_CODE(lks_slurm_read_node(s, "n1", steady, &r, &err), LKS_OK);
        CHECK_HAS(lks_buf_view(&r.bytes), hidden[i].job);
        CHECK_INT(lks_str_find(lks_buf_view(&r.bytes), LKS_STR("\"jobs\":[]")) >= 0,
                  hidden[i].job[0] == '\0');
    }
}

/* Writes ------------------------------------------------------------------------------------ */

static void test_errors(void)
{
    static const struct {
        int number;
        enum lks_code code;
    } rows[] = {
        {ESLURM_INVALID_NODE_NAME, LKS_E_NOT_FOUND},
        {ESLURM_ACCESS_DENIED, LKS_E_DENIED},
        {ESLURM_INVALID_NODE_STATE, LKS_E_REFUSED},
        {ESLURM_REBOOT_IN_PROGRESS, LKS_E_REFUSED},
        {ESLURM_IN_STANDBY_MODE, LKS_E_UNAVAILABLE},
        {SLURM_COMMUNICATIONS_CONNECTION_ERROR, LKS_E_UNAVAILABLE},
        {SLURM_PROTOCOL_SOCKET_IMPL_TIMEOUT, LKS_E_UNAVAILABLE},
        {ETIMEDOUT, LKS_E_UNAVAILABLE},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_err err = {0};
        lks_test_case("error %d", rows[i].number);
        CHECK_CODE(lks_slurm_fail(rows[i].number, "x", &err), rows[i].code);
    }
    struct lks_err err = {0};
    struct lks_slurm s = {0};
    struct lks_slurm_about about;
    bool changed = false;
    lks_test_case("a task that cannot be requeued");
    ctl_reset();
    CHECK_CODE(lks_slurm_requeue("17", &err), LKS_OK);
    ctl.task_error = ESLURM_BATCH_ONLY;
    CHECK_CODE(lks_slurm_requeue("17", &err), LKS_E_REFUSED);
    lks_test_case("a cluster without a name");
    CHECK_CODE(lks_slurm_about(&s, &about, &changed, &err), LKS_OK);
    CHECK(changed);
    CHECK_STR(lks_str_from(about.cluster), "");
    lks_test_case("a configuration that was not read again");
    CHECK_CODE(lks_slurm_about(&s, &about, &changed, &err), LKS_OK);
    CHECK(!changed);
}

static const struct {
    const char *name, *job;
    uint32_t asked;
    int error;
    enum lks_code code;
    lks_ms started;
} runs[] = {
    {"a job that runs", "17", 17, 0, LKS_OK, 100000},
    {"one that waits for its next run", "18", 18, 0, LKS_OK, 0},
    {"a task of an array", "20_3", 20, 0, LKS_OK, 300000},
    {"a task that has not started", "20_5", 20, 0, LKS_E_NOT_FOUND, 0},
    {"an array", "20", 20, 0, LKS_E_NOT_FOUND, 0},
    {"a part of a heterogeneous job", "30+1", 30, 0, LKS_OK, 400000},
    {"a heterogeneous job, as its first part", "30", 30, 0, LKS_OK, 399000},
    {"one whose first part is not there", "60", 60, 0, LKS_E_NOT_FOUND, 0},
    {"a job that is completing", "40", 40, 0, LKS_OK, 500000},
    {"one that has ended", "50", 50, 0, LKS_OK, 0},
    {"a job that is not there", "99", 99, ESLURM_INVALID_JOB_ID, LKS_E_NOT_FOUND, 0},
    {"no answer", "17", 17, SLURM_PROTOCOL_SOCKET_IMPL_TIMEOUT, LKS_E_UNAVAILABLE, 0},
};

/* The run of a job that is there, among the tasks and parts that come with it. */
static void test_runs(void)
{
    char waiting[] = "4-9";
    const slurm_job_info_t all[] = {
        {.job_id = 17, .job_state = JOB_RUNNING, .start_time = 100},
        {.job_id = 18, .job_state = JOB_PENDING, .start_time = 900},
        {.job_id = 21,
         .array_job_id = 20,
         .array_task_id = 3,
         .job_state = JOB_RUNNING,
         .start_time = 300},
        {.job_id = 20, .array_job_id = 20, .array_task_str = waiting, .job_state = JOB_PENDING},
        {.job_id = 31,
         .het_job_id = 30,
         .het_job_offset = 1,
         .job_state = JOB_SUSPENDED,
         .start_time = 400},
        {.job_id = 30, .het_job_id = 30, .job_state = JOB_RUNNING, .start_time = 399},
        {.job_id = 61,
         .het_job_id = 60,
         .het_job_offset = 1,
         .job_state = JOB_RUNNING,
         .start_time = 700},
        {.job_id = 40, .job_state = JOB_COMPLETE | JOB_COMPLETING, .start_time = 500},
        {.job_id = 50, .job_state = JOB_COMPLETE, .start_time = 600},
    };
    ctl_reset();
    ctl.run = all;
    ctl.run_count = LKS_COUNT(all);
    for (size_t i = 0; i < LKS_COUNT(runs); i++) {
        struct lks_err err = {0};
        lks_ms started = 0;
        lks_test_case("%s", runs[i].name);
        ctl.run_error = runs[i].error;
        CHECK_CODE(lks_slurm_read_run(runs[i].job, &started, &err), runs[i].code);
        CHECK_INT(ctl.run_asked, runs[i].asked);
        CHECK_INT(started, runs[i].started);
    }
}

/* What lockstep says of all nodes, of which slurmctld refuses some. */
static const struct {
    const char *name;
    unsigned bad[NODES];
    int first;      /* what the first update gets */
    size_t updates; /* that are sent */
    enum lks_code code;
} truths[] = {
    {"none", {0}, 0, 1, LKS_OK},
    {"one of them", {7}, 0, 9, LKS_OK},
    {"the first", {1}, 0, 9, LKS_OK},
    {"two of them", {3, 12}, 0, 11, LKS_OK},
    {"all of them", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 0, 22, LKS_OK},
    {"no answer", {0}, SLURM_PROTOCOL_SOCKET_IMPL_TIMEOUT, 1, LKS_E_UNAVAILABLE},
};

static void test_truth(void)
{
    for (size_t i = 0; i < LKS_COUNT(truths); i++) {
        LKS_CLEANUP(slurm_drop) struct lks_slurm *s = NULL;
        struct lks_bridge_truth_row rows[NODES];
        struct lks_slurm_truth_end ends[NODES] = {0};
        char names[NODES][8];
        struct lks_err err = {0};
        lks_test_case("%s", truths[i].name);
        ctl_reset();
        ctl.updates[0] = truths[i].first;
        memcpy(ctl.bad, truths[i].bad, sizeof(ctl.bad));
        CHECK_CODE(lks_slurm_new(getuid(), &s, &err), LKS_OK);
        read_all(s, LKS_OK, true, 0, 0);
        for (size_t k = 0; k < NODES; k++) {
            snprintf(names[k], sizeof(names[k]), "n%zu", k + 1);
            rows[k] = (struct lks_bridge_truth_row){lks_str_from(names[k]), LKS_STR("lks-conform"),
                                                    LKS_STR("")};
        }
        const struct lks_bridge_truth truth = {.rows = rows, .count = NODES};
        CHECK_CODE(lks_slurm_truth_send(s, &truth, ends, &err), truths[i].code);
        CHECK_INT(ctl.update_count, truths[i].updates);
        for (size_t k = 0; k < NODES && truths[i].code == LKS_OK; k++) {
            bool bad = false;
            for (size_t b = 0; b < NODES; b++)
                bad = bad || ctl.bad[b] == k + 1;
            CHECK_INT(ctl.shows[k], !bad);
            CHECK_CODE(ends[k].err.code, bad ? LKS_E_NOT_FOUND : LKS_OK);
        }
    }
}

static int64_t log_now(void)
{
    return 0;
}

static void worker_open(struct lks_worker *w, char *folder, struct lks_log *log, FILE *null)
{
    struct lks_err err = {0};
    CHECK(mkdtemp(folder) != NULL && null != NULL);
    CHECK_CODE(lks_durable_open(folder, &w->durable, &err), LKS_OK);
    CHECK_CODE(lks_slurm_new(getuid(), &w->slurm, &err), LKS_OK);
    CHECK_INT(uv_mutex_init(&w->lock), 0);
    lks_bridge_book_init(&w->book, 0);
    lks_log_init(log, null, LKS_LEVEL_INFO, LKS_LOG_LOGFMT, log_now);
    w->log = log;
}

static void worker_close(struct lks_worker *w, const char *folder)
{
    char path[64];
    static const char *const files[] = {"bridge.json", "lock"};
    lks_bridge_book_fini(&w->book);
    lks_bridge_runs_fini(&w->runs);
    lks_slurm_free(w->slurm);
    lks_durable_close(&w->durable);
    lks_log_fini(w->log);
    uv_mutex_destroy(&w->lock);
    for (size_t i = 0; i < LKS_COUNT(files); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
        unlink(path);
    }
    rmdir(folder);
}

/* Drain the first `count` nodes at once; how many answers have the status of `want`. */
static size_t drain(struct lks_worker *w, size_t count, int want)
{
    static struct lks_worker_task tasks[NODES];
    struct lks_worker_task *list[NODES];
    struct lks_err err = {0};
    size_t found = 0;
    ctl.node_time++;
    CHECK_CODE(lks_worker_read(w, &err), LKS_OK);
    for (size_t i = 0; i < count; i++) {
        struct lks_bridge_request *r = &tasks[i].request;
        tasks[i] = (struct lks_worker_task){.request = {.verb = LKS_BRIDGE_DRAIN, .epoch = 1}};
        list[i] = &tasks[i];
        snprintf(r->name, sizeof(r->name), "n%zu", i + 1);
        snprintf(r->owner, sizeof(r->owner), "lockstep:change:17");
        const struct lks_bridge_entry *e = lks_bridge_book_find(&w->book, lks_str_from(r->name));
        r->revision = e != NULL ? e->revision : 0;
    }
    lks_worker_write(w, list, count);
    for (size_t i = 0; i < count; i++) {
        found += tasks[i].status == want;
        lks_buf_fini(&tasks[i].body);
    }
    return found;
}

#define SILENT  SLURM_PROTOCOL_SOCKET_IMPL_TIMEOUT
#define REFUSES ESLURM_INVALID_NODE_STATE

/* Nodes that are drained at once. */
static const struct {
    const char *name;
    size_t nodes;
    int updates[3]; /* what the first ones get; those behind succeed */
    bool obeys;
    size_t sent;
    struct {
        int status;
        size_t count;
    } answers[2];
} groups[] = {
    {"one request", 4, {0}, true, 1, {{200, 4}}},
    {"no answer", 4, {SILENT}, false, 1, {{504, 4}}},
    {"no answer for many", NODES, {SILENT}, false, 1, {{504, NODES}}},
    {"refused, and one by one", 4, {REFUSES}, true, 5, {{200, 4}}},
    {"refused, and then no answer", 4, {REFUSES, SILENT}, false, 2, {{504, 1}, {503, 3}}},
    {"refused, one more, and then no answer",
     4,
     {REFUSES, REFUSES, SILENT},
     false,
     3,
     {{409, 1}, {503, 2}}},
};

static void test_groups(void)
{
    FILE *null = fopen("/dev/null", "w");
    for (size_t i = 0; i < LKS_COUNT(groups); i++) {
        for (size_t a = 0; a < LKS_COUNT(groups[i].answers) && groups[i].answers[a].status != 0;
             a++) {
            struct lks_worker w = {0};
            struct lks_log log = {0};
            char folder[] = "/tmp/lockstep-bridge-XXXXXX";
            lks_test_case("%s: %d", groups[i].name, groups[i].answers[a].status);
            ctl_reset();
            ctl.obeys = groups[i].obeys;
            memcpy(ctl.updates, groups[i].updates, sizeof(groups[i].updates));
            worker_open(&w, folder, &log, null);
            CHECK_INT(drain(&w, groups[i].nodes, groups[i].answers[a].status),
                      groups[i].answers[a].count);
            CHECK_INT(ctl.update_count, groups[i].sent);
            worker_close(&w, folder);
        }
    }
    fclose(null);
}

static void on_done(uv_async_t *done)
{
    (void)done;
}

static void wait_failed(struct lks_worker *w)
{
    for (bool failed = false; !failed;) {
        uv_mutex_lock(&w->lock);
        failed = w->status.failed;
        uv_mutex_unlock(&w->lock);
        usleep(1000);
    }
}

static void worker_drop(struct lks_worker *w, uv_loop_t *loop)
{
    uv_close((uv_handle_t *)&w->done, NULL);
    (void)uv_run(loop, UV_RUN_DEFAULT);
    CHECK_INT(uv_loop_close(loop), 0);
    lks_bridge_book_fini(&w->book);
    lks_bridge_runs_fini(&w->runs);
    lks_slurm_free(w->slurm);
    lks_log_fini(w->log);
    uv_mutex_destroy(&w->lock);
    uv_cond_destroy(&w->wake);
}

/* The log names what failed: slurmctld, or the disk of the bridge. */
static void test_log(void)
{
    static const struct {
        const char *name, *path;
        int error;
        const char *says, *lacks;
    } rows[] = {
        {"slurmctld is silent", "/dev/null", SILENT, "slurmctld does not answer", "be kept"},
        {"the state cannot be kept", "/dev/null/x/bridge.json", 0, "cannot keep the revision",
         "does not answer"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_worker w = {0};
        struct lks_log log = {0};
        struct lks_err err = {0};
        uv_loop_t loop;
        char *text = NULL;
        size_t len = 0;
        FILE *out = open_memstream(&text, &len);
        lks_test_case("%s", rows[i].name);
        ctl_reset();
        ctl.node_error = rows[i].error;
        snprintf(w.durable.path, sizeof(w.durable.path), "%s", rows[i].path);
        CHECK_CODE(lks_slurm_new(getuid(), &w.slurm, &err), LKS_OK);
        lks_log_init(&log, out, LKS_LEVEL_INFO, LKS_LOG_LOGFMT, log_now);
        w.log = &log;
        CHECK_INT(uv_loop_init(&loop), 0);
        CHECK_CODE(lks_worker_start(&w, &loop, on_done, NULL, &err), LKS_OK);
        wait_failed(&w);
        CHECK(lks_worker_stop(&w, 60 * LKS_SECOND));
        fflush(out);
        CHECK_HAS(lks_str_from(text), rows[i].says);
        CHECK(strstr(text, rows[i].lacks) == NULL);
        worker_drop(&w, &loop);
        fclose(out);
        free(text);
    }
}

/* A reservation as it is asked for, in minutes from now. */
static const struct {
    const char *name;
    const char *there; /* nodes of the one that there is; NULL: none */
    int from, until;
    bool other; /* it is another user's */
    bool ends;  /* DELETE */
    int wanted_from;
    int error;
    bool ignores;
    int status;
    const char *sent, *says;
    bool fails_over;
} reserves[] = {
    {"a new one", NULL, 0, 0, false, false, 5, 0, false, 200, "create ", "\"own\":true", false},
    {"the same", "n[1-2]", 5, 9, false, false, 5, 0, false, 200, "", "\"own\":true", false},
    {"moved", "n[1-2]", 4, 9, false, false, 5, 0, false, 200, "update+start ", "\"own\":true",
     false},
    {"fewer nodes after its start", "n[1-3]", -5, 9, false, false, -6, 0, false, 200, "update ",
     "n[1-2]", false},
    {"put off after its start", "n[1-2]", -5, 9, false, false, 5, 0, false, 200, "delete create ",
     "n[1-2]", false},
    {"put off, and not deleted", "n[1-2]", -5, 9, false, false, 5, ESLURM_RESERVATION_BUSY, false,
     409, "delete ", "cannot delete the reservation", false},
    {"another's", "n[1-2]", 5, 9, true, false, 5, 0, false, 409, "", "is not lockstep's", false},
    {"refused", NULL, 0, 0, false, false, 5, ESLURM_RESERVATION_OVERLAP, false, 409, "create ",
     "cannot create the reservation", false},
    {"not allowed", NULL, 0, 0, false, false, 5, ESLURM_ACCESS_DENIED, false, 403, "create ",
     "cannot create the reservation", false},
    {"no answer", NULL, 0, 0, false, false, 5, SLURM_PROTOCOL_SOCKET_IMPL_TIMEOUT, false, 504,
     "create ", "did not answer", false},
    {"said to be done, and not done", NULL, 0, 0, false, false, 5, 0, true, 409, "create ",
     "there is no such reservation", false},
    {"done with other nodes", "n1", 5, 9, false, false, 5, 0, true, 409, "update+start ",
     "its nodes are 'n1'", false},
    {"it ends", "n[1-2]", -5, 9, false, true, 0, 0, false, 200, "delete ", "{\"reservations\":[]}",
     false},
    {"it ended before", NULL, 0, 0, false, true, 0, 0, false, 200, "", "{\"reservations\":[]}",
     false},
    {"another's does not end", "n1", 5, 9, true, true, 0, 0, false, 409, "", "is not lockstep's",
     false},
    {"a job runs in it", "n1", -5, 9, false, true, 0, ESLURM_RESERVATION_BUSY, false, 409,
     "delete ", "cannot delete the reservation", false},
    {"no answer, and another slurmctld whose clock is behind shows it", NULL, 0, 0, false, false, 5,
     SLURM_PROTOCOL_SOCKET_IMPL_TIMEOUT, false, 200, "create ", "\"own\":true", true},
};

static void try_reserve(struct lks_worker *w, size_t row, const char *user)
{
    time_t now = time(NULL);
    struct lks_worker_task task = {
        .request = {.verb = reserves[row].ends ? LKS_BRIDGE_UNRESERVE : LKS_BRIDGE_RESERVE,
                    .epoch = 1,
                    .name = "lockstep_change_17",
                    .reserve = {.nodes = LKS_STR("n[1-2]"),
                                .from = (lks_ms)(now + reserves[row].wanted_from * 60) * LKS_SECOND,
                                .until = (lks_ms)(now + 9 * 60) * LKS_SECOND}}};
    struct lks_worker_task *list[] = {&task};
    ctl.reserved = reserves[row].there;
    ctl.reserved_name = "lockstep_change_17";
    ctl.reserved_users = reserves[row].other ? "kim" : user;
    ctl.reserved_from = now + reserves[row].from * 60;
    ctl.reserved_until = now + reserves[row].until * 60;
    ctl.reserve_error = reserves[row].error;
    ctl.ignores_reserve = reserves[row].ignores;
    ctl.fails_over = reserves[row].fails_over;
    ctl.node_time = ctl.job_time = ctl.reservation_time = 5000;
    lks_worker_write(w, list, 1);
    CHECK_INT(task.status, reserves[row].status);
    CHECK_STR(lks_str_from(ctl.sent), reserves[row].sent);
    CHECK_HAS(lks_buf_view(&task.body), reserves[row].says);
    lks_buf_fini(&task.body);
}

static void test_reserves(void)
{
    FILE *null = fopen("/dev/null", "w");
    for (size_t i = 0; i < LKS_COUNT(reserves); i++) {
        struct lks_worker w = {0};
        struct lks_log log = {0};
        char folder[] = "/tmp/lockstep-bridge-XXXXXX", user[64];
        lks_test_case("%s", reserves[i].name);
        ctl_reset();
        worker_open(&w, folder, &log, null);
        snprintf(user, sizeof(user), "%" LKS_STR_FMT,
                 LKS_STR_ARG(lks_slurm_user(w.slurm, getuid())));
        try_reserve(&w, i, user);
        worker_close(&w, folder);
    }
    fclose(null);
}

static struct lks_str part_node[] = {LKS_STR_C("n000007")};
static struct lks_hostlist part_pool = {.names = part_node, .count = 1};
static struct lks_policy_pool part_pools[] = {
    {.name = LKS_STR_C("train"), .enforce = LKS_POLICY_ON, .stale = 600}};

static void test_partitions(void)
{
    const struct lks_bridge_policy from = {.policy = {.pools = part_pools, .pool_count = 1},
                                           .nodes = &part_pool};
    const struct lks_slurm s = {0};
    LKS_CLEANUP(lks_policy_fini) struct lks_policy policy = {0};
    struct lks_err err = {0};
    char warning[LKS_ERR_MSG_MAX];
    ctl_reset();
    if (!CHECK_CODE(lks_slurm_partitions(&s, &from, &policy, warning, &err), LKS_OK))
        printf("%s\n", err.msg);
    CHECK_STR(lks_str_from(warning), "");
    CHECK_INT(policy.partition_count, PARTITIONS);
    for (uint32_t i = 0; i < policy.partition_count; i++) {
        CHECK_INT(policy.partitions[i].nodes, 1);
        CHECK_INT(policy.partitions[i].foreign, 99999);
    }
}

/* The policy is written, and the log says so once. */
static void put_policy(struct lks_worker *w, FILE *log, const char *logged)
{
    struct lks_worker_task task = {
        .body = LKS_BUF(4096),
        .request = {
            .verb = LKS_BRIDGE_POLICY,
            .policy = {.policy = {.pools = part_pools, .pool_count = 1}, .nodes = &part_pool}}};
    char text[1024] = "";
    LKS_CLEANUP(lks_policy_fini) struct lks_policy policy = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf file = LKS_BUF(LKS_POLICY_BYTES_MAX);
    struct lks_err err = {0};
    long before = ftell(log);
    lks_worker_policy(w, &task);
    CHECK_INT(task.status, 200);
    CHECK_HAS(lks_buf_view(&task.body), "\"written\":true");
    lks_buf_fini(&task.body);
    CHECK_CODE(lks_file_read(w->policy, &file, &err), LKS_OK);
    CHECK_CODE(lks_policy_read(lks_buf_view(&file), &policy, &err), LKS_OK);
    CHECK_INT(policy.partition_count, PARTITIONS - (ctl.part_nodes != NULL));
    CHECK(fflush(log) == 0 && fseek(log, before, SEEK_SET) == 0);
    CHECK(fread(text, 1, sizeof(text) - 1, log) < sizeof(text) - 1);
    CHECK_HAS(lks_str_from(text), logged);
    CHECK_INT(text[0] == '\0', logged[0] == '\0');
}

static void test_left_out(void)
{
    static char bad[] = "n[1-", worse[] = "n]";
    struct lks_worker w = {0};
    struct lks_log log = {0};
    char folder[] = "/tmp/lockstep-bridge-XXXXXX", path[64];
    FILE *file = tmpfile();
    ctl_reset();
    worker_open(&w, folder, &log, file);
    snprintf(path, sizeof(path), "%s/policy", folder);
    w.policy = path;
    lks_test_case("all partitions can be read");
    put_policy(&w, file, "");
    lks_test_case("the nodes of one cannot");
    ctl.part_nodes = bad;
    put_policy(&w, file, "the nodes of partition 'p0' cannot be read, and its jobs are taken as");
    lks_test_case("it is still so");
    put_policy(&w, file, "");
    lks_test_case("for another reason");
    ctl.part_nodes = worse;
    put_policy(&w, file, "the nodes of partition 'p0' cannot be read");
    lks_test_case("they can be read again");
    ctl.part_nodes = NULL;
    put_policy(&w, file, "has all partitions again");
    CHECK(unlink(path) == 0);
    worker_close(&w, folder);
    fclose(file);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"failures between two calls", test_failures},
        {"slurmctld's clock is set back", test_clock_back},
        {"lists of nodes that cannot be read", test_unreadable},
        {"nodes in several reservations", test_overlaps},
        {"jobs that Slurm does not list", test_hidden_jobs},
        {"errors of Slurm", test_errors},
        {"runs of jobs", test_runs},
        {"what lockstep says of nodes", test_truth},
        {"drains of several nodes", test_groups},
        {"what the log says of a failure", test_log},
        {"reservations", test_reserves},
        {"partitions over all nodes", test_partitions},
        {"partitions whose nodes cannot be read", test_left_out},
        {0},
    };
    return lks_test_main(tests);
}
