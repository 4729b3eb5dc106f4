/*
 * A BMC with devices behind it, as a model: requests in, answers out, time and chance as arguments.
 * lockstep-bmcsim puts thousands of them behind HTTPS; the simulator and the tests call them.
 *
 * Behind each are PLDM firmware devices (lab/pldm/fd.h) which its own update agent (lab/pldm/ua.h)
 * updates from the packages that are uploaded, so versions are what was really transferred,
 * verified and applied. Its personality decides the shape of its tree and its manners: which push
 * it offers, how its tasks end, what it forgets when it restarts.
 */
#ifndef LKS_BMCSIM_BMCSIM_H
#define LKS_BMCSIM_BMCSIM_H

#include "base/buf.h"
#include "base/time.h"

#define LKS_BMCSIM_DEVICES_MAX 64
#define LKS_BMCSIM_SLOWER_MAX  999
#define LKS_BMCSIM_IMAGE_MAX   ((size_t)64 << 20) /* an upload it keeps while it is applied */

enum lks_bmcsim_personality {
    LKS_BMCSIM_OPENBMC,
    LKS_BMCSIM_HGX, /* NVIDIA's OpenBMC with a baseboard of GPUs */
    LKS_BMCSIM_SUPERMICRO,
    LKS_BMCSIM_DELL,
    LKS_BMCSIM_HPE,
    LKS_BMCSIM_SHELF,  /* a power shelf: PSUs and BBUs in redundant pairs */
    LKS_BMCSIM_SWITCH, /* a switch tray with its own REST, as NVOS has */
    LKS_BMCSIM_LENOVO, /* XCC: each entry says that it is write-protected */
    LKS_BMCSIM_PERSONALITIES
};
extern const char *const lks_bmcsim_words[]; /* "openbmc", "hgx", ..., NULL */

/* What can go wrong, by name; `at` is a phase ("upload", "staging", "activating", "reset") and
 * `times` how often (0: for ever). */
enum lks_bmcsim_fault {
    LKS_FAULT_POWER_LOSS,    /* host and BMC lose power in the phase `at` */
    LKS_FAULT_REVERT,        /* after the reset the old version runs again, silently */
    LKS_FAULT_WRONG_VERSION, /* the inventory says another version than what runs */
    LKS_FAULT_TASK_STUCK,    /* a task never ends */
    LKS_FAULT_TASK_LOST,     /* the task vanishes while it runs */
    LKS_FAULT_BMC_REBOOT,    /* the BMC restarts in the phase `at`; its tasks are forgotten */
    LKS_FAULT_MEMORY,        /* uploads beside another one fail for lack of memory */
    LKS_FAULT_SLOW,          /* every answer takes `amount` ms */
    LKS_FAULT_CERTIFICATE,   /* another certificate from now on: for the owner of the sockets */
    LKS_FAULT_SESSION,       /* sessions end after `amount` ms */
    LKS_FAULT_BRICK,         /* an image bricks a device of the hardware revision `at` */
    LKS_FAULT_DROP,          /* the answer to the `amount`th request from now does not arrive */
    LKS_FAULT_PAGE,          /* the good answer to it is a page for people, with status 200 */
    LKS_FAULT_REFUSE,        /* uploads are refused with status `amount` */
    LKS_FAULT_TASK_LIES,     /* tasks call themselves completed although they failed */
    LKS_FAULT_CRITICAL,      /* a failed task is Completed and OK, with a critical message */
    LKS_FAULT_SEVERITY,      /* messages of tasks have Severity alone, as in older schemas */
    LKS_FAULT_NO_SESSIONS,   /* a login is answered with status `amount`; Basic is accepted */
    LKS_FAULT_SWITCH,        /* a switch of banks: `at` is "refuse", "fail" or "no-task" */
    LKS_BMCSIM_FAULT_COUNT
};
extern const char *const lks_bmcsim_fault_words[];

struct lks_bmcsim_fault_set {
    enum lks_bmcsim_fault fault;
    struct lks_str at; /* copied */
    uint64_t amount;
    uint32_t times;
};

#define LKS_BMCSIM_REVISION_SIZE 8 /* a hardware revision with its terminator */

struct lks_bmcsim_options {
    enum lks_bmcsim_personality personality;
    const char *name;              /* of the machine; also its serial number's base */
    const char *hardware_revision; /* "A", "B", ... */
    const char *user, *password;
    const char *version;  /* that all devices begin with: "1.0.0" */
    const char *versions; /* of single classes: "vbios=96.00.A5.00.1A,bmc=25.04"; NULL: none */
    uint64_t seed;
    uint64_t speed; /* times are divided by it; 1: as configured, 0: at once */
};

struct lks_bmcsim_request {
    const char *method;
    struct lks_str path; /* with its query */
    struct lks_str head; /* "name: value\n", names in lower case */
    struct lks_str body;
    bool cut; /* the connection ended before all of the body was there */
};

struct lks_bmcsim_reply {
    int status;          /* 0: no answer; the connection ends */
    struct lks_buf head; /* "Name: value\r\n" */
    struct lks_buf body;
    const char *type; /* of the body */
    lks_ms delay;     /* before it is sent */
};

struct lks_bmcsim;

enum lks_code lks_bmcsim_new(const struct lks_bmcsim_options *options, lks_ms now,
                             struct lks_bmcsim **out, struct lks_err *err) LKS_MUST_CHECK;
void lks_bmcsim_free(struct lks_bmcsim *b);

void lks_bmcsim_reply_init(struct lks_bmcsim_reply *r);
void lks_bmcsim_reply_fini(struct lks_bmcsim_reply *r);

/* Answer a request. Time goes on inside, up to `now`, first. */
void lks_bmcsim_ask(struct lks_bmcsim *b, lks_ms now, const struct lks_bmcsim_request *request,
                    struct lks_bmcsim_reply *out);

/* Let time go on; and when something will happen by itself next (UINT64_MAX: nothing). */
void lks_bmcsim_tick(struct lks_bmcsim *b, lks_ms now);
lks_ms lks_bmcsim_next(const struct lks_bmcsim *b);

/* An image that the BMC is to fetch itself (SimpleUpdate): asked of the owner of the model. The
 * bytes are put with lks_bmcsim_job_fetched(), empty for a failure. */
bool lks_bmcsim_job_wants(const struct lks_bmcsim *b, struct lks_str *uri);
void lks_bmcsim_job_fetched(struct lks_bmcsim *b, lks_ms now, struct lks_str bytes);

void lks_bmcsim_fault(struct lks_bmcsim *b, const struct lks_bmcsim_fault_set *fault);

/* Faults by seed: one that can befall any BMC and leaves it usable, and a mix of several, each
 * further one with a chance of `percent` (it says how many). No fault that bricks is drawn. */
struct lks_rng;
void lks_bmcsim_fault_draw(struct lks_rng *rng, struct lks_bmcsim_fault_set *out);
unsigned lks_bmcsim_faults_draw(struct lks_bmcsim *b, uint64_t seed, unsigned percent);

/* The truth, which no answer can hide: for checks. */
struct lks_bmcsim_device {
    struct lks_str id;                     /* of its inventory entry */
    struct lks_str class;                  /* "bmc", "bios", "vbios", "psu" ... */
    struct lks_str active, staged, backup; /* versions; empty: none */
    bool bricked;
    bool one_way;
    uint32_t flashes; /* images that were applied to it, whole */
    uint32_t begun;   /* transfers that were begun */
    uint32_t activations;
};
size_t lks_bmcsim_device_count(const struct lks_bmcsim *b);
void lks_bmcsim_device(const struct lks_bmcsim *b, size_t i, struct lks_bmcsim_device *out);
/* The simulated work of the machine: tokens a second, as read at that moment. Also served, as
 * Prometheus reads it, at /metrics. */
double lks_bmcsim_metrics_tokens(const struct lks_bmcsim *b, lks_ms now);
uint32_t lks_bmcsim_updates(const struct lks_bmcsim *b); /* uploads that were accepted */
bool lks_bmcsim_certificate_changed(const struct lks_bmcsim *b);

/* What a PLDM package for devices of a personality is made of. */
struct lks_bmcsim_make {
    enum lks_bmcsim_personality personality;
    const char *class; /* NULL: every class that can be updated */
    const char *version;
    const char *fails_on; /* a hardware revision on which it does not start; NULL: on none */
    unsigned slower;      /* thousandths by which machines are slower with it */
    uint64_t seed;        /* of the bytes of each image */
    size_t size;          /* and their number */
};

/* The package, its images sealed so that devices accept them. Byte for byte the same for the same
 * arguments. For tests, demos and lockstep-bmcsim make-package. A device of the revision that it
 * fails on takes it, cannot start it, and goes on with what it ran before. */
enum lks_code lks_bmcsim_image_package_make(const struct lks_bmcsim_make *make, struct lks_buf *out,
                                            struct lks_err *err) LKS_MUST_CHECK;

/* One without a defect. */
enum lks_code lks_bmcsim_image_package(enum lks_bmcsim_personality personality, const char *class,
                                       const char *version, uint64_t seed, size_t size,
                                       struct lks_buf *out, struct lks_err *err) LKS_MUST_CHECK;

#endif
