/* What a value looks like, in words for people. */
#include "model/schema/schema.h"

static const char *const words[] = {
    [LKS_TYPE_TEXT] = "text",
    [LKS_TYPE_NAME] = "name",
    [LKS_TYPE_COMPONENT] = "component",
    [LKS_TYPE_VERSION] = "version, in quotes",
    [LKS_TYPE_RANGE] = "range, in quotes",
    [LKS_TYPE_DATE] = "date, in quotes",
    [LKS_TYPE_TIME] = "time",
    [LKS_TYPE_SHA256] = "@sha256:@ and 64 hexadecimal digits",
    [LKS_TYPE_HEX] = "hexadecimal digits",
    [LKS_TYPE_HOSTS] = "host list",
    [LKS_TYPE_URL] = "@https://@ URL",
    [LKS_TYPE_SECRET] = "@file:/PATH@ or @exec:/PROGRAM@",
    [LKS_TYPE_BOOL] = "@true@ or @false@",
    [LKS_TYPE_NUMBER] = "",
    [LKS_TYPE_CHOICE] = "",
    [LKS_TYPE_SEVERAL] = "",
    [LKS_TYPE_SCALAR] = "text, number, @true@ or @false@",
    [LKS_TYPE_LIST] = "list of: ",
    [LKS_TYPE_FORM] = "map",
    [LKS_TYPE_DICT] = "map of names to: ",
    [LKS_TYPE_LINES] = "text of one or more lines",
    [LKS_TYPE_ANY] = "anything",
    [LKS_TYPE_SORT] = "column",
};

static void add_choices(const char *const *values, const char *quote, struct lks_buf *out)
{
    for (size_t i = 0; values[i] != NULL; i++)
        lks_buf_addf(out, "%s%s%s%s", i > 0 ? ", " : "", quote, values[i], quote);
}

static void add_number(const struct lks_shape *shape, const char *quote, struct lks_buf *out)
{
    if (shape->min == shape->max)
        lks_buf_addf(out, "%s%lld%s", quote, (long long)shape->min, quote);
    else if (shape->max == LKS_DOC_NUMBER_MAX)
        lks_buf_addf(out, "number");
    else
        lks_buf_addf(out, "number, %lld to %lld", (long long)shape->min, (long long)shape->max);
}

/* " (1 to 16)", " (1 or more)", or nothing where there is no limit to tell. */
static void add_count(const struct lks_shape *shape, struct lks_buf *out)
{
    if (shape->max > 0)
        lks_buf_addf(out, " (%lld to %lld)", (long long)shape->min, (long long)shape->max);
    else if (shape->min > 0)
        lks_buf_addf(out, " (%lld or more)", (long long)shape->min);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
void lks_schema_shape_words(const struct lks_shape *shape, const char *quote, struct lks_buf *out)
{
    for (const char *c = words[shape->type]; *c != '\0'; c++) {
        if (*c == '@')
            lks_buf_addf(out, "%s", quote);
        else
            lks_buf_addc(out, *c);
    }
    if (shape->type == LKS_TYPE_NUMBER)
        add_number(shape, quote, out);
    if (shape->type == LKS_TYPE_CHOICE || shape->type == LKS_TYPE_SEVERAL)
        add_choices(shape->values, quote, out);
    if (shape->type == LKS_TYPE_SEVERAL) {
        lks_buf_addf(out, ", or a list of: ");
        add_choices(shape->values + shape->min, quote, out);
    }
    if (shape->type != LKS_TYPE_LIST && shape->type != LKS_TYPE_DICT)
        return;
    lks_schema_shape_words(shape->of, quote, out);
    add_count(shape, out);
}
