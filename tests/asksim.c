#include "tests/asksim.h"

#include "codec/format/json.h"

#include <inttypes.h>
#include <stdio.h>

#define BOUNDARY "boundary-of-tests"

void lks_asksim_open(struct lks_asksim *s, enum lks_bmcsim_personality personality, uint64_t speed)
{
    *s = (struct lks_asksim){.personality = personality, .now = UINT64_C(1790000000000)};
    struct lks_bmcsim_options options = {.personality = personality,
                                         .name = "node1",
                                         .hardware_revision = "A",
                                         .user = "root",
                                         .password = "secret12",
                                         .version = "1.0.0",
                                         .seed = 7,
                                         .speed = speed};
    struct lks_err err;
    LKS_ASSERT(lks_bmcsim_new(&options, s->now, &s->b, &err) == LKS_OK);
    lks_bmcsim_reply_init(&s->reply);
}

void lks_asksim_close(struct lks_asksim *s)
{
    lks_bmcsim_reply_fini(&s->reply);
    lks_docs_fini(&s->docs);
    lks_bmcsim_free(s->b);
    *s = (struct lks_asksim){0};
}

int lks_asksim(struct lks_asksim *s, const char *method, const char *path, const char *head,
               struct lks_str body)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf lines = LKS_BUF(4096);
    lks_buf_add(&lines, lks_str_from(head));
    if (!s->anonymous) /* root:secret12 */
        lks_buf_add(&lines, LKS_STR("authorization: Basic cm9vdDpzZWNyZXQxMg==\n"));
    struct lks_bmcsim_request request = {
        .method = method, .path = lks_str_from(path), .head = lks_buf_view(&lines), .body = body};
    lks_bmcsim_reply_fini(&s->reply);
    lks_bmcsim_reply_init(&s->reply);
    lks_docs_fini(&s->docs);
    s->docs = (struct lks_docs){0};
    s->doc = NULL;
    lks_bmcsim_ask(s->b, s->now, &request, &s->reply);
    struct lks_err err;
    if (s->reply.body.len > 0 && lks_docs_init(&s->docs, path, &err) == LKS_OK &&
        lks_json_parse(lks_buf_view(&s->reply.body), &s->docs, &err) == LKS_OK)
        s->doc = s->docs.first;
    return s->reply.status;
}

int lks_asksim_get(struct lks_asksim *s, const char *path)
{
    return lks_asksim(s, "GET", path, "", (struct lks_str){0});
}

int lks_asksim_post(struct lks_asksim *s, const char *path, const char *json)
{
    return lks_asksim(s, "POST", path, "content-type: application/json\nif-match: *\n",
                      lks_str_from(json));
}

static void part(struct lks_buf *out, const char *head, struct lks_str body)
{
    lks_buf_addf(out, "--%s\r\nContent-Disposition: form-data; %s\r\n\r\n", BOUNDARY, head);
    lks_buf_add(out, body);
    lks_buf_add(out, LKS_STR("\r\n"));
}

/* A session of its own, since the form carries the key. */
static int push_form(struct lks_asksim *s, struct lks_buf *body, struct lks_str image)
{
    lks_asksim_post(s, "/redfish/v1/SessionService/Sessions",
                    "{\"UserName\":\"root\",\"Password\":\"secret12\"}");
    part(body, "name=\"sessionKey\"", lks_asksim_header(s, "X-Auth-Token"));
    part(body, "name=\"parameters\"", LKS_STR("{\"UpdateTarget\":true}"));
    part(body, "name=\"files[]\"; filename=\"image.fwpkg\"", image);
    lks_buf_add(body, LKS_STR("--" BOUNDARY "--\r\n"));
    return lks_asksim(s, "POST", "/cgi-bin/uploadFile",
                      "content-type: multipart/form-data; boundary=" BOUNDARY "\n",
                      lks_buf_view(body));
}

int lks_asksim_push(struct lks_asksim *s, const char *parameters, struct lks_str image)
{
    static const char *const paths[LKS_BMCSIM_PERSONALITIES] = {
        [LKS_BMCSIM_OPENBMC] = "/redfish/v1/UpdateService/update-multipart",
        [LKS_BMCSIM_HGX] = "/redfish/v1/UpdateService/update-multipart",
        [LKS_BMCSIM_SUPERMICRO] = "/redfish/v1/UpdateService/upload",
        [LKS_BMCSIM_DELL] = "/redfish/v1/UpdateService/MultipartUpload",
        [LKS_BMCSIM_SHELF] = "/redfish/v1/UpdateService/upload",
        [LKS_BMCSIM_LENOVO] = "/mfwupdate",
    };
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = {0};
    lks_buf_init(&body, image.len + 4096);
    if (s->personality == LKS_BMCSIM_HPE)
        return push_form(s, &body, image);
    part(&body, "name=\"UpdateParameters\"\r\nContent-Type: application/json",
         lks_str_from(parameters));
    part(&body,
         "name=\"UpdateFile\"; filename=\"image.fwpkg\"\r\nContent-Type: application/octet-stream",
         image);
    lks_buf_add(&body, LKS_STR("--" BOUNDARY "--\r\n"));
    return lks_asksim(s, "POST", paths[s->personality],
                      "content-type: multipart/form-data; boundary=" BOUNDARY "\n",
                      lks_buf_view(&body));
}

static const struct lks_doc *child(const struct lks_doc *d, struct lks_str key)
{
    uint64_t number = 0;
    if (d == NULL || d->kind != LKS_DOC_LIST)
        return lks_doc_find(d, key);
    d = lks_str_number(key, 4096, &number) ? d->first : NULL;
    for (; d != NULL && number > 0; number--)
        d = d->next;
    return d;
}

static const struct lks_doc *walk(const struct lks_doc *d, struct lks_str path)
{
    while (d != NULL && path.len > 0) {
        struct lks_str key;
        lks_str_cut(path, '/', &key, &path);
        d = child(d, key);
    }
    return d;
}

struct lks_str lks_asksim_text(struct lks_asksim *s, const char *path)
{
    const struct lks_doc *d = s->doc != NULL ? walk(s->doc, lks_str_from(path)) : NULL;
    if (d == NULL)
        return (struct lks_str){"", 0};
    if (d->kind == LKS_DOC_NUMBER)
        return lks_arena_format(&s->docs.arena, "%" PRId64, d->number);
    if (d->kind == LKS_DOC_BOOL)
        return lks_str_from(d->truth ? "true" : "false");
    if (d->kind == LKS_DOC_LIST || d->kind == LKS_DOC_MAP)
        return lks_arena_format(&s->docs.arena, "%zu", d->count);
    return d->text;
}

struct lks_str lks_asksim_header(const struct lks_asksim *s, const char *name)
{
    struct lks_str rest = lks_buf_view(&s->reply.head), line, key, value;
    while (rest.len > 0) {
        lks_str_cut(rest, '\n', &line, &rest);
        if (lks_str_cut(line, ':', &key, &value) && lks_str_is(key, name))
            return lks_str_trim(value);
    }
    return (struct lks_str){"", 0};
}

struct lks_str lks_asksim_error(struct lks_asksim *s)
{
    return lks_str_last(lks_asksim_text(s, "error/@Message.ExtendedInfo/0/MessageId"), '.');
}

void lks_asksim_wait(struct lks_asksim *s, unsigned seconds)
{
    s->now += seconds * LKS_SECOND;
    lks_bmcsim_tick(s->b, s->now);
}

struct lks_bmcsim_device lks_asksim_device(const struct lks_asksim *s, const char *class, size_t n)
{
    struct lks_bmcsim_device d = {0};
    for (size_t i = 0; i < lks_bmcsim_device_count(s->b); i++) {
        lks_bmcsim_device(s->b, i, &d);
        if (lks_str_is(d.class, class) && n-- == 0)
            return d;
    }
    LKS_ASSERT(false); /* there is no such device */
    return d;
}

void lks_asksim_package(const struct lks_asksim *s, const char *class, const char *version,
                        size_t size, struct lks_buf *out)
{
    struct lks_err err;
    lks_buf_init(out, LKS_BMCSIM_IMAGE_MAX + ((size_t)64 << 20));
    LKS_ASSERT(lks_bmcsim_image_package(s->personality, class, version, 1, size, out, &err) ==
               LKS_OK);
}
