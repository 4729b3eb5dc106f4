#include "server/form/admit_line.h"

#include "codec/format/json.h"
#include "server/form/forms.h"

enum lks_code lks_admit_line(struct lks_str line, struct lks_docs *docs, const void **ask,
                             struct lks_err *err)
{
    *ask = NULL;
    if (lks_docs_init(docs, "line", err) != LKS_OK)
        return err->code;
    docs->fractions = true;
    if (line.len > LKS_ADMIT_LINE_MAX)
        return lks_fail(err, LKS_E_LIMIT, "line: more than %zu bytes", LKS_ADMIT_LINE_MAX);
    if (lks_json_parse(line, docs, err) != LKS_OK)
        return err->code;
    return lks_schema_decode(docs, docs->first, &lks_ask_admit, ask, err);
}
