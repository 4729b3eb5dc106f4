#include "codec/package/cdi.h"

#include <stdio.h>
#include <string.h>
#include <yaml.h>

/* A list or a map that is open, and the key whose value comes next. */
struct frame {
    bool map;
    bool value; /* in a map: the key was read */
    char key[32];
};

struct reader {
    struct frame stack[LKS_CDI_DEPTH_MAX];
    size_t depth;
    bool versioned; /* cdiVersion was there */
    size_t documents;
    struct lks_cdi *out;
};

/* libcuda.so.580.95.05: the names of the libraries every NVIDIA driver has. */
static const char *const libraries[] = {"libcuda.so.", "libnvidia-ml.so."};

static bool is_version(struct lks_str s)
{
    size_t first = 0, dots = 0;
    for (size_t i = 0; i < s.len; i++) {
        bool digit = s.ptr[i] >= '0' && s.ptr[i] <= '9';
        if (!digit && (s.ptr[i] != '.' || i == 0 || s.ptr[i - 1] == '.'))
            return false;
        dots += !digit;
        first += digit && dots == 0;
    }
    return first == 3 && dots > 0 && s.ptr[s.len - 1] != '.';
}

/* The version at the end of a driver library's path, or nothing. */
static struct lks_str version_of(struct lks_str path)
{
    path = lks_str_last(path, '/');
    for (size_t i = 0; i < LKS_COUNT(libraries); i++) {
        if (!lks_str_starts(path, libraries[i]))
            continue;
        size_t len = strlen(libraries[i]);
        struct lks_str rest = {path.ptr + len, path.len - len};
        if (is_version(rest))
            return rest;
    }
    return LKS_STR("");
}

static enum lks_code add_version(struct lks_cdi *cdi, struct lks_str version, struct lks_err *err)
{
    if (version.len == 0)
        return LKS_OK;
    if (version.len >= sizeof(cdi->versions[0]))
        return lks_fail(err, LKS_E_LIMIT, "a version of more than %zu bytes",
                        sizeof(cdi->versions[0]) - 1);
    for (size_t i = 0; i < cdi->count; i++) {
        if (lks_str_is(version, cdi->versions[i]))
            return LKS_OK;
    }
    if (cdi->count == LKS_CDI_VERSIONS_MAX)
        return lks_fail(err, LKS_E_LIMIT, "more than %d versions of the driver",
                        LKS_CDI_VERSIONS_MAX);
    snprintf(cdi->versions[cdi->count++], sizeof(cdi->versions[0]), "%" LKS_STR_FMT,
             LKS_STR_ARG(version));
    return LKS_OK;
}

/* What the `up`th container outwards is called in the map it stands in. */
static bool within(const struct reader *r, size_t up, const char *key)
{
    return r->depth > up && r->stack[r->depth - 1 - up].map &&
           strcmp(r->stack[r->depth - 1 - up].key, key) == 0;
}

/* ...containerEdits: {mounts: [{hostPath: HERE}]} */
static bool is_mount_path(const struct reader *r)
{
    return (within(r, 0, "hostPath") || within(r, 0, "containerPath")) && within(r, 2, "mounts") &&
           within(r, 3, "containerEdits");
}

static enum lks_code take_value(struct reader *r, struct lks_str text, struct lks_err *err)
{
    if (is_mount_path(r))
        return add_version(r->out, version_of(text), err);
    if (r->depth == 1 && within(r, 0, "cdiVersion"))
        r->versioned = text.len > 0;
    if (r->depth != 1 || !within(r, 0, "kind"))
        return LKS_OK;
    if (text.len == 0 || text.len >= sizeof(r->out->kind) || !lks_str_printable(text))
        return lks_fail(err, LKS_E_INVALID, "its kind is no name");
    snprintf(r->out->kind, sizeof(r->out->kind), "%" LKS_STR_FMT, LKS_STR_ARG(text));
    return LKS_OK;
}

/* A value has been read, or a container closed: the next scalar of a map is a key. */
static void value_done(struct reader *r)
{
    if (r->depth > 0)
        r->stack[r->depth - 1].value = false;
}

static enum lks_code take_scalar(struct reader *r, struct lks_str text, struct lks_err *err)
{
    struct frame *f = r->depth > 0 ? &r->stack[r->depth - 1] : NULL;
    if (f == NULL)
        return lks_fail(err, LKS_E_INVALID, "is no map");
    if (f->map && !f->value) {
        f->value = true; /* a key too long to be one of ours is as good as empty */
        snprintf(f->key, sizeof(f->key), "%" LKS_STR_FMT,
                 LKS_STR_ARG(text.len < sizeof(f->key) ? text : LKS_STR("")));
        return LKS_OK;
    }
    enum lks_code code = f->map ? take_value(r, text, err) : LKS_OK;
    value_done(r);
    return code;
}

static enum lks_code push(struct reader *r, bool map, struct lks_err *err)
{
    if (r->depth == 0 && !map)
        return lks_fail(err, LKS_E_INVALID, "is no map");
    if (r->depth > 0 && r->stack[r->depth - 1].map && !r->stack[r->depth - 1].value)
        return lks_fail(err, LKS_E_INVALID, "a key that is no text");
    if (r->depth == LKS_CDI_DEPTH_MAX)
        return lks_fail(err, LKS_E_LIMIT, "more than %d levels", LKS_CDI_DEPTH_MAX);
    r->stack[r->depth++] = (struct frame){.map = map};
    return LKS_OK;
}

static enum lks_code take_event(struct reader *r, const yaml_event_t *e, struct lks_err *err)
{
    switch ((int)e->type) {
    case YAML_DOCUMENT_START_EVENT:
        return ++r->documents > 1 ? lks_fail(err, LKS_E_INVALID, "more than one document") : LKS_OK;
    case YAML_ALIAS_EVENT:
        return lks_fail(err, LKS_E_INVALID, "line %zu: uses an alias", e->start_mark.line + 1);
    case YAML_SCALAR_EVENT:
        return take_scalar(
            r, (struct lks_str){(const char *)e->data.scalar.value, e->data.scalar.length}, err);
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        return push(r, e->type == YAML_MAPPING_START_EVENT, err);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        r->depth--;
        value_done(r);
        return LKS_OK;
    default:
        return LKS_OK;
    }
}

static enum lks_code read_events(yaml_parser_t *parser, struct reader *r, struct lks_err *err)
{
    for (bool more = true; more;) {
        yaml_event_t event;
        if (yaml_parser_parse(parser, &event) == 0)
            return lks_fail(err, LKS_E_INVALID, "line %zu: %s", parser->problem_mark.line + 1,
                            parser->problem != NULL ? parser->problem : "is neither YAML nor JSON");
        more = event.type != YAML_STREAM_END_EVENT;
        enum lks_code code = take_event(r, &event, err);
        yaml_event_delete(&event);
        if (code != LKS_OK)
            return code;
    }
    return LKS_OK;
}

enum lks_code lks_cdi_parse(struct lks_str text, struct lks_cdi *out, struct lks_err *err)
{
    if (text.len > LKS_CDI_BYTES_MAX)
        return lks_fail(err, LKS_E_LIMIT, "more than %zu bytes", LKS_CDI_BYTES_MAX);
    if (text.len == 0)
        return lks_fail(err, LKS_E_INVALID, "is empty");
    struct lks_cdi cdi = {0};
    struct reader r = {.out = &cdi};
    yaml_parser_t parser;
    if (yaml_parser_initialize(&parser) == 0)
        return lks_fail_nomem(err);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text.ptr, text.len);
    enum lks_code code = read_events(&parser, &r, err);
    yaml_parser_delete(&parser);
    if (code != LKS_OK)
        return code;
    if (!r.versioned || cdi.kind[0] == '\0')
        return lks_fail(err, LKS_E_INVALID, "has no cdiVersion or no kind");
    *out = cdi;
    return LKS_OK;
}
