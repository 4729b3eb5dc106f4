/* change procedure: what a board reads and signs before it approves. */
#include "cli/shared/commands.h"

#include "base/file.h"
#include "cli/shared/ask.h"
#include "cli/shared/listing.h"
#include "cli/shared/output.h"

/* To people a file of Markdown, and to programs JSON; both as lockstepd wrote it. */
enum lks_code lks_cmd_change_procedure(struct lks_cli *cli, const struct lks_args *args,
                                       struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    const char *path = lks_args_get(args, "--output");
    bool json = lks_args_has(args, "--json");
    if (lks_ask_get(cli, args, "/v1/changes/{1}/procedure[{--json!}.md][?gpu_hour={--gpu-hour}]",
                    NULL, &q, err) != LKS_OK)
        return err->code;
    struct lks_str text = lks_buf_view(&q.answer.http.body);
    if (path == NULL && json)
        return lks_listing_thing(cli, args, &q.answer, err);
    if (path == NULL)
        return lks_output_bytes(cli, text, err);
    if (lks_file_replace(path, text, err) != LKS_OK)
        return err->code;
    fprintf(cli->err, "%s: the procedure of change %s\n", path, args->positional[0]);
    return LKS_OK;
}
