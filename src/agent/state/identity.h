/*
 * The node's key and certificate as files. A renewed pair waits beside the one in use until the
 * controller took it once, so that a certificate that turns out to be no good costs nothing:
 *
 *     agent.key agent.crt            the pair in use
 *     agent.new.key agent.new.crt    the renewed one, on trial
 *
 * When it worked the two are renamed, key first; lks_identity_load() finishes what a crash between
 * them left.
 */
#ifndef LKS_AGENT_IDENTITY_H
#define LKS_AGENT_IDENTITY_H

#include "agent/state/statedir.h"
#include "trust/x509.h"

#define LKS_IDENTITY_KEY         "agent.key"
#define LKS_IDENTITY_CERTIFICATE "agent.crt"
#define LKS_IDENTITY_CA          "ca.crt"
#define LKS_IDENTITY_TRIALS_MAX  5

struct lks_identity {
    bool renewed;   /* there is a pair on trial */
    bool on_trial;  /* and it is the one to use next */
    unsigned fails; /* of the trial */
    struct lks_x509_about about, about_new;
};

/* INVALID where the key does not fit the certificate. */
enum lks_code lks_identity_load(const struct lks_statedir *dir, struct lks_identity *out,
                                struct lks_err *err) LKS_MUST_CHECK;

/* The key to enrol with: made once, and the same one after a crash, since the token is good for
 * one key. */
enum lks_code lks_identity_first_key(const struct lks_statedir *dir, struct lks_buf *pem,
                                     struct lks_err *err) LKS_MUST_CHECK;

/* Put a renewed pair on trial. It must fit and be for the same name. */
enum lks_code lks_identity_renew(const struct lks_statedir *dir, struct lks_identity *id,
                                 struct lks_str key, struct lks_str certificate,
                                 struct lks_err *err) LKS_MUST_CHECK;

/* The controller took the pair in use. Was it the one on trial, the old one is gone; was it the old
 * one, the trial failed, and goes on with the next attempt or, after LKS_IDENTITY_TRIALS_MAX of
 * them, is given up. `anew` says that the other pair is to be used from now on. */
enum lks_code lks_identity_worked(const struct lks_statedir *dir, struct lks_identity *id,
                                  bool *anew, struct lks_err *err) LKS_MUST_CHECK;

/* It was not taken, or the controller is away: the next attempt uses the other pair, if there are
 * two. True when that is so. */
bool lks_identity_failed(struct lks_identity *id);

/* The names of the files to use now. */
const char *lks_identity_key_file(const struct lks_identity *id);
const char *lks_identity_certificate_file(const struct lks_identity *id);

#endif
