#include "base/process/log.h"

#include "base/secret.h"

#include "base/time.h"

/* Every byte of every value escaped, and the keys, which are ours and short. */
enum { LINE_MAX_BYTES = (LKS_LOG_FIELDS_MAX + 1) * (LKS_LOG_VALUE_MAX * 6 + 128) };

static const char *const level_names[] = {
    [LKS_LEVEL_DEBUG] = "debug",
    [LKS_LEVEL_INFO] = "info",
    [LKS_LEVEL_WARNING] = "warning",
    [LKS_LEVEL_ERROR] = "error",
};

void lks_log_init(struct lks_log *log, FILE *out, enum lks_level least, enum lks_log_format format,
                  int64_t (*now)(void))
{
    *log = (struct lks_log){.out = out, .least = least, .format = format, .now = now};
    lks_buf_init(&log->line, LINE_MAX_BYTES);
}

void lks_log_fini(struct lks_log *log)
{
    lks_buf_fini(&log->line);
    *log = (struct lks_log){0};
}

/* The escapes both forms share; '\0' where a character has none. */
static char short_escape(uint32_t point)
{
    switch (point) {
    case '"':
        return '"';
    case '\\':
        return '\\';
    case '\n':
        return 'n';
    case '\r':
        return 'r';
    case '\t':
        return 't';
    default:
        return '\0';
    }
}

static void add_escape(struct lks_log *log, struct lks_str rune, uint32_t point)
{
    if (log->format == LKS_LOG_JSON) {
        lks_buf_addf(&log->line, "\\u%04x", (unsigned)point);
        return;
    }
    for (size_t i = 0; i < rune.len; i++)
        lks_buf_addf(&log->line, "\\x%02x", (unsigned)(unsigned char)rune.ptr[i]);
}

static void add_quoted(struct lks_log *log, struct lks_str s)
{
    lks_buf_addc(&log->line, '"');
    for (size_t at = 0; at < s.len;) {
        uint32_t point = 0xfffd;
        size_t len = lks_str_rune(s, at, &point);
        struct lks_str rune = {s.ptr + at, len > 0 ? len : 1};
        char known = short_escape(point);
        if (known != '\0')
            lks_buf_addf(&log->line, "\\%c", known);
        else if (len > 0 && lks_str_rune_printable(point))
            lks_buf_add(&log->line, rune);
        else
            add_escape(log, rune, point);
        at += rune.len;
    }
    lks_buf_addc(&log->line, '"');
}

/* A value that needs no quotes to be taken for one value. */
static bool is_bare(struct lks_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (c <= ' ' || c > '~' || c == '"' || c == '=' || c == '\\')
            return false;
    }
    return s.len > 0;
}

static void add_key(struct lks_log *log, const char *key)
{
    bool first = log->line.len == 0;
    if (log->format == LKS_LOG_JSON)
        lks_buf_addf(&log->line, "%s\"%s\":", first ? "{" : ",", key);
    else
        lks_buf_addf(&log->line, "%s%s=", first ? "" : " ", key);
}

static void add_field(struct lks_log *log, const char *key, struct lks_str value)
{
    add_key(log, key);
    if (log->format == LKS_LOG_LOGFMT && is_bare(value))
        lks_buf_add(&log->line, value);
    else
        add_quoted(log, value);
}

static void add_cut(struct lks_log *log, const char *key, struct lks_str value)
{
    const struct lks_str dots = LKS_STR("...");
    char cut[LKS_LOG_VALUE_MAX];
    if (value.len > sizeof(cut)) {
        memcpy(cut, value.ptr, sizeof(cut));
        memcpy(cut + sizeof(cut) - dots.len, dots.ptr, dots.len);
        value = (struct lks_str){cut, sizeof(cut)};
    }
    add_field(log, key, value);
}

static bool is_key(const char *key)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    return *key != '\0' && key[strspn(key, letters)] == '\0' && strcmp(key, "ts") != 0 &&
           strcmp(key, "level") != 0 && strcmp(key, "msg") != 0;
}

static void add_time(struct lks_log *log)
{
    int64_t now = log->now();
    int64_t ms = (now % 1000 + 1000) % 1000;
    int64_t seconds = (now - ms) / 1000;
    lks_day day = lks_time_day_of(seconds);
    int64_t of_day = seconds - (int64_t)day * 86400;

    char date[LKS_DAY_TEXT_SIZE], text[64];
    snprintf(text, sizeof(text), "%sT%02d:%02d:%02d.%03dZ", lks_time_day_text(day, date),
             (int)(of_day / 3600), (int)(of_day / 60 % 60), (int)(of_day % 60), (int)ms);
    add_field(log, "ts", lks_str_from(text));
}

void lks_log_event(struct lks_log *log, enum lks_level level, const char *msg,
                   const struct lks_log_field *fields, size_t count)
{
    if (log->out == NULL || level < log->least)
        return;
    LKS_ASSERT(count <= LKS_LOG_FIELDS_MAX);
    lks_buf_truncate(&log->line, 0);
    add_time(log);
    add_field(log, "level", lks_str_from(level_names[level]));
    add_cut(log, "msg", lks_str_from(msg));
    for (size_t i = 0; i < count; i++) {
        LKS_ASSERT(is_key(fields[i].key));
        add_cut(log, fields[i].key,
                lks_secret_key(lks_str_from(fields[i].key)) ? LKS_STR("[redacted]")
                                                            : fields[i].value);
    }
    lks_buf_add(&log->line, log->format == LKS_LOG_JSON ? LKS_STR("}\n") : LKS_STR("\n"));

    /* Written at once, so that lines of several programs on one stream do not mix. Half a line
     * for lack of memory would look like a whole one; the next event tries again. */
    if (log->line.failed == LKS_OK)
        fwrite(log->line.ptr, 1, log->line.len, log->out);
    log->line.failed = LKS_OK;
    fflush(log->out);
}
