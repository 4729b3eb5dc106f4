#include "probe/gpu/nvidia_smi.h"

#include "tests/test.h"

static const struct {
    const char *name, *text, *parts;
} rows[] = {
    {"one GPU", "GPU 00000000:00:06.0\n    GPU Part Number       : 2335-895-A1\n",
     "0000:00:06.0=2335-895-A1"},
    {"on one line", "GPU 00000000:00:06.0 GPU Part Number : 2335-895-A1 FRU Part Number : N/A",
     "0000:00:06.0=2335-895-A1"},
    {"two, one without a number",
     "GPU 00000000:0A:00.0\n GPU Part Number : N/A\nGPU 00000000:1B:00.0\n GPU Part Number : X-1\n",
     "0000:0a:00.0= 0000:1b:00.0=X-1"},
    {"another part number", "GPU 00000000:00:06.0 Board Part Number : 692", ""},
    {"a part without a GPU", "GPU Part Number : 2335", ""},
    {"cut off", "GPU 00000000:00:06.0 GPU Part Number :", ""},
    {"an address that is none", "GPU 00000000-00-06.0 GPU Part Number : 1", ""},
    {"nothing", "", ""},
};

static void test_parts(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(1000);
        lks_test_case("%s", rows[i].name);
        lks_nvidia_smi_parts(lks_str_from(rows[i].text), &out);
        CHECK_STR(lks_buf_view(&out), rows[i].parts);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"nvidia-smi: part numbers", test_parts},
        {0},
    });
}
