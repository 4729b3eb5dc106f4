#include "codec/package/cdi.h"

#include "base/buf.h"
#include "tests/test.h"

#define HEAD "cdiVersion: 0.6.0\nkind: nvidia.com/gpu\n"

static const struct {
    const char *name, *text, *shown; /* shown: "kind: versions", or NULL where it is refused */
    const char *message;
} specs[] = {
    {"as nvidia-ctk writes it",
     "---\n" HEAD "containerEdits:\n"
     "  deviceNodes:\n  - path: /dev/nvidiactl\n"
     "  env:\n  - NVIDIA_VISIBLE_DEVICES=void\n"
     "  hooks:\n  - args: [nvidia-cdi-hook, create-symlinks, --link, libcuda.so.1::/x]\n"
     "    hookName: createContainer\n    path: /usr/bin/nvidia-cdi-hook\n"
     "  mounts:\n"
     "  - containerPath: /usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05\n"
     "    hostPath: /usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05\n"
     "    options: [ro, nosuid]\n"
     "  - containerPath: /usr/lib/x86_64-linux-gnu/libnvidia-ml.so.580.95.05\n"
     "    hostPath: /usr/lib/x86_64-linux-gnu/libnvidia-ml.so.580.95.05\n"
     "devices:\n- name: \"0\"\n  containerEdits:\n    deviceNodes:\n    - path: /dev/nvidia0\n",
     "nvidia.com/gpu: 580.95.05", NULL},
    {"JSON",
     "{\"cdiVersion\":\"0.5.0\",\"kind\":\"nvidia.com/gpu\",\"containerEdits\":{\"mounts\":["
     "{\"hostPath\":\"/x/libcuda.so.570.86.15\",\"containerPath\":\"/x\"}]}}",
     "nvidia.com/gpu: 570.86.15", NULL},
    {"in a device",
     HEAD "devices:\n- name: all\n  containerEdits:\n    mounts:\n"
          "    - {hostPath: /a/libnvidia-ml.so.580.95.05, containerPath: /b}\n",
     "nvidia.com/gpu: 580.95.05", NULL},
    {"two drivers",
     HEAD "containerEdits:\n  mounts:\n  - {hostPath: /a/libcuda.so.580.95.05}\n"
          "  - {hostPath: /a/libnvidia-ml.so.580.82.07}\n",
     "nvidia.com/gpu: 580.95.05 580.82.07", NULL},
    {"two numbers are enough", HEAD "containerEdits: {mounts: [{hostPath: /a/libcuda.so.610.43}]}",
     "nvidia.com/gpu: 610.43", NULL},
    {"another maker's", "cdiVersion: 0.6.0\nkind: amd.com/gpu\ndevices: []\n",
     "amd.com/gpu:", NULL},
    {"names that are links",
     HEAD "containerEdits: {mounts: [{hostPath: /a/libcuda.so.1}, "
          "{hostPath: /a/libcuda.so}, {hostPath: /a/libcuda.so.1.1}]}",
     "nvidia.com/gpu:", NULL},
    {"names that only look so",
     HEAD "containerEdits: {mounts: [{hostPath: /libcuda.so.580.95.05/x}, "
          "{hostPath: /a/mylibcuda.so.580.95.05}, {hostPath: /a/libcuda.so.580.95.05.bak}, "
          "{hostPath: /a/libcuda.so.580..05}, {hostPath: /a/libcuda.so.580.}]}",
     "nvidia.com/gpu:", NULL},
    {"elsewhere",
     HEAD "hostPath: /a/libcuda.so.580.95.05\nannotations: {hostPath: "
          "/a/libcuda.so.580.95.05}\nmounts: [{hostPath: /a/libcuda.so.580.95.05}]\n",
     "nvidia.com/gpu:", NULL},

    {"nothing", "", NULL, "is empty"},
    {"only a comment", "# nothing\n", NULL, "has no cdiVersion or no kind"},
    {"a word", "nvidia", NULL, "is no map"},
    {"a list", "- 1\n", NULL, "is no map"},
    {"no kind", "cdiVersion: 0.6.0\n", NULL, "has no cdiVersion or no kind"},
    {"no version", "kind: nvidia.com/gpu\n", NULL, "has no cdiVersion or no kind"},
    {"not YAML", HEAD "devices: [\n", NULL, "line 4: did not find expected node content"},
    {"an alias", HEAD "a: &a 1\nb: *a\n", NULL, "line 4: uses an alias"},
    {"two documents", HEAD "---\n" HEAD, NULL, "more than one document"},
    {"a kind that does not print", "cdiVersion: 0.6.0\nkind: \"a\\e\"\n", NULL,
     "its kind is no name"},
    {"a key that is a list", HEAD "? [a]\n: b\n", NULL, "a key that is no text"},
};

static void test_specs(void)
{
    for (size_t i = 0; i < LKS_COUNT(specs); i++) {
        lks_test_case("%s", specs[i].name);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf shown = LKS_BUF(4096);
        struct lks_cdi cdi = {0};
        struct lks_err err = {0};
        enum lks_code code = lks_cdi_parse(lks_str_from(specs[i].text), &cdi, &err);
        if (!CHECK_CODE(code, specs[i].shown != NULL ? LKS_OK : LKS_E_INVALID))
            continue;
        if (code != LKS_OK) {
            CHECK_STR(lks_str_from(err.msg), specs[i].message);
            continue;
        }
        lks_buf_addf(&shown, "%s:", cdi.kind);
        for (size_t j = 0; j < cdi.count; j++)
            lks_buf_addf(&shown, " %s", cdi.versions[j]);
        CHECK_STR(lks_buf_view(&shown), specs[i].shown);
    }
}

static void check_limit(const struct lks_buf *text, enum lks_code want)
{
    struct lks_cdi cdi;
    struct lks_err err = {0};
    CHECK_CODE(lks_cdi_parse(lks_buf_view(text), &cdi, &err), want);
}

static void test_limits(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_CDI_BYTES_MAX + 1);
    for (int levels = LKS_CDI_DEPTH_MAX - 1; levels <= LKS_CDI_DEPTH_MAX; levels++) {
        lks_test_case("%d levels", levels);
        lks_buf_truncate(&text, 0);
        lks_buf_addf(&text, HEAD "a: ");
        lks_buf_pad(&text, '[', levels);
        lks_buf_pad(&text, ']', levels);
        check_limit(&text, levels < LKS_CDI_DEPTH_MAX ? LKS_OK : LKS_E_LIMIT);
    }
    for (int count = LKS_CDI_VERSIONS_MAX; count <= LKS_CDI_VERSIONS_MAX + 1; count++) {
        lks_test_case("%d versions", count);
        lks_buf_truncate(&text, 0);
        lks_buf_addf(&text, HEAD "containerEdits:\n  mounts:\n");
        for (int i = 0; i < count; i++)
            lks_buf_addf(&text, "  - {hostPath: /a/libcuda.so.580.%d}\n", i);
        check_limit(&text, count == LKS_CDI_VERSIONS_MAX ? LKS_OK : LKS_E_LIMIT);
    }
    lks_test_case("bytes");
    lks_buf_truncate(&text, 0);
    lks_buf_addf(&text, HEAD "#");
    lks_buf_pad(&text, 'x', (ptrdiff_t)(LKS_CDI_BYTES_MAX - text.len));
    check_limit(&text, LKS_OK);
    lks_buf_addc(&text, 'x');
    check_limit(&text, LKS_E_LIMIT);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"CDI: specifications", test_specs}, {"CDI: limits", test_limits}, {0}});
}
