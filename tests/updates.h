/* A firmware device with a memory behind it, an update agent with images, and a line between them
 * that loses, doubles and delays messages as a seed has it. Time is a number. */
#ifndef LKS_TESTS_UPDATES_H
#define LKS_TESTS_UPDATES_H

#include "base/rng.h"
#include "lab/pldm/fd.h"
#include "lab/pldm/ua.h"

enum { LKS_TEST_PARTS = 4, LKS_TEST_IMAGE_MAX = 8192, LKS_TEST_VERSION_MAX = 32 };

struct lks_test_part { /* a component of the device */
    struct lks_buf loading, pending, active;
    char pending_version[LKS_TEST_VERSION_MAX], active_version[LKS_TEST_VERSION_MAX];
    unsigned begun, applied;
    uint8_t write_result, verify_result, apply_result; /* that it gives, and not by itself */
    uint32_t write_fails_at;
};

struct lks_test_device {
    struct lks_fd_options options;
    struct lks_pldm_entry entries[LKS_TEST_PARTS];
    struct lks_test_part parts[LKS_TEST_PARTS];
    struct lks_fd *fd;
    struct lks_fd_activation activation;
    lks_ms verify_takes, apply_takes;
    unsigned activations, activated, cancels;
    bool out_of_order; /* a write was not where the last one ended */
    struct lks_buf package_data;
};

/* With `count` components of version "1", ids 1, 2, ... of class 10. */
void lks_test_device_init(struct lks_test_device *d, size_t count);
/* After changes of `options`. */
void lks_test_device_begin(struct lks_test_device *d);
void lks_test_device_fini(struct lks_test_device *d);

/* Images that say themselves whether they are whole: the last four bytes are a checksum. */
struct lks_test_images {
    struct lks_ua_component components[LKS_TEST_PARTS];
    struct lks_buf bytes[LKS_TEST_PARTS];
    bool unreadable;
};
void lks_test_images_init(struct lks_test_images *images, size_t count, uint64_t seed);
void lks_test_images_fini(struct lks_test_images *images);
/* Options for an agent that updates a device of as many components to version "2". */
struct lks_ua_options lks_test_images_options(struct lks_test_images *images, size_t count);

struct lks_test_line {
    struct lks_rng rng;
    unsigned lost, doubled, delayed; /* percent of the messages */
    lks_ms delay_max;
    struct lks_test_letter *letters; /* owned; on their way */
    size_t count, capacity;
    lks_ms now;
    unsigned carried;
    /* The next requests of this command are answered so, and do not reach the device. */
    uint16_t refuse_command;
    uint8_t refuse_code;
    unsigned refuse_times;
    unsigned refused;
};
void lks_test_line_fini(struct lks_test_line *line);

/* Bytes that nobody sent; what is to arrive next lost, or with one byte changed. */
void lks_test_line_inject(struct lks_test_line *line, bool to_device, struct lks_str bytes);
void lks_test_line_drop(struct lks_test_line *line);
void lks_test_line_damage(struct lks_test_line *line, size_t at, uint8_t mask);

/* One step of time: take what both have to say, let the next thing happen. False when nothing will
 * happen any more. `ua` may be NULL. */
bool lks_test_line_step(struct lks_test_line *line, struct lks_ua *ua, struct lks_fd *fd);

/* Until the agent has ended and the line is empty; false when that takes more than `steps`. */
bool lks_test_line_run(struct lks_test_line *line, struct lks_ua *ua, struct lks_fd *fd,
                       unsigned steps);

#endif
