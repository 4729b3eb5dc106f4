#include "probe/root/probes.h"
#include "tests/heard.h"
#include "tests/test.h"

#include <stdio.h>
#include <sys/stat.h>

#define COMMANDS "/lockstep/command.csv"
#define KEYS     "key,code,value\n"

/* What programs print, as seen on machines. */
static const struct {
    const char *component, *path, *argument, *answer;
    const char *version; /* NULL: says none */
} programs[] = {
    {"container-toolkit", "/usr/bin/nvidia-ctk", "--version",
     "NVIDIA Container Toolkit CLI version 1.17.8 commit: "
     "f202b80a9b9d0db00d9b1d73c0128c8962c55f4d ",
     "1.17.8"},
    {"container-toolkit", "/usr/bin/nvidia-container-runtime-hook", "--version",
     "NVIDIA Container Runtime Hook version 1.18.0-rc.1 ", "1.18.0-rc.1"},
    {"libnvidia-container", "/usr/bin/nvidia-container-cli", "--version",
     "cli-version: 1.17.7 lib-version: 1.17.8 build date: 2025-05-30T13:47+00:00 ", "1.17.8"},
    {"containerd", "/usr/bin/containerd", "--version",
     "containerd containerd.io 1.7.27 05044ec0a9a75232cad458027ca83437aae3f4da ", "1.7.27"},
    {"containerd", "/usr/local/bin/containerd", "--version",
     "containerd github.com/containerd/containerd v2.1.4 75cb2b7193e4e490e9fbdc236c0e811ccaba3376 ",
     "2.1.4"},
    {"containerd", "/usr/bin/containerd", "--version",
     "containerd github.com/containerd/containerd 1.6.20~ds1 1.6.20~ds1-1+deb12u3 ", "1.6.20"},
    {"docker", "/usr/bin/dockerd", "--version", "Docker version 28.3.3, build bea959c ", "28.3.3"},
    {"docker", "/usr/sbin/dockerd", "--version", "Docker version 20.10.24+dfsg1, build 5d6db84 ",
     "20.10.24"},
    {"podman", "/usr/bin/podman", "--version", "podman version 4.3.1 ", "4.3.1"},
    {"cri-o", "/usr/bin/crio", "--version",
     "INFO[0000] RDT is not enabled crio version 1.22.0 Version: 1.22.0 GitCommit: c12bb ",
     "1.22.0"},
    {"kubelet", "/usr/bin/kubelet", "--version", "Kubernetes v1.33.4 ", "1.33.4"},
    {"kubelet", "/usr/bin/kubelet", "--version", "Kubernetes v1.33.1-eks-b9364f6 ",
     "1.33.1-eks-b9364f6"},
    {"slurmd", "/usr/sbin/slurmd", "-V", "slurm 25.05.4 ", "25.05.4"},
    {"slurmd", "/opt/slurm/sbin/slurmd", "-V", "slurm-wlm 22.05.8 ", "22.05.8"},
    {"fabric-manager", "/usr/bin/nv-fabricmanager", "--version",
     "   Fabric Manager version is : 580.95.05  ", "580.95.05"},
    {"imex", "/usr/bin/nvidia-imex", "--version", "IMEX version is: 580.95.05 ", "580.95.05"},
    {"dcgm", "/usr/bin/nv-hostengine", "--version",
     "Version : 4.5.3 Build ID : 24637 Build Date : 2026-09-09 CPU Arch : x86_64 ", "4.5.3"},
    {"dcgm", "/usr/bin/dcgmi", "--version", " dcgmi  version: 4.5.3 ", "4.5.3"},
    {"amd-container-toolkit", "/usr/bin/amd-ctk", "--version", "amd-ctk version 1.2.0 ", "1.2.0"},
    {"docker", "/usr/bin/dockerd", "--version", "podman version 4.3.1 ", NULL},
    {"dcgm", "/usr/bin/dcgmi", "--version", "", NULL},
    {"podman", "/usr/bin/podman", "--version", "podman version unknown 4x.1 5. .6 ", NULL},
};

static void test_programs(void)
{
    for (size_t i = 0; i < LKS_COUNT(programs); i++) {
        lks_test_case("%s, %s: %s", programs[i].component, programs[i].path, programs[i].answer);
        struct lks_tree tree = lks_tree_new();
        char answers[1024], want[1024];
        snprintf(answers, sizeof(answers), KEYS "\"%s %s\",ok,\"%s\"\n", programs[i].path,
                 programs[i].argument, programs[i].answer);
        lks_tree_file(&tree, programs[i].path, "");
        lks_tree_file(&tree, COMMANDS, answers);
        if (programs[i].version != NULL)
            snprintf(want, sizeof(want), "%s=%s < %s %s\n", programs[i].component,
                     programs[i].version, programs[i].path, programs[i].argument);
        else
            snprintf(want, sizeof(want), "%s?says no version: %s < %s %s\n", programs[i].component,
                     programs[i].answer, programs[i].path, programs[i].argument);
        CHECK_HEARD_SORTED(lks_probe_containers, &tree, want);
        lks_tree_free(&tree);
    }
}

/* Of two programs of one name the one found first counts, and the other is a copy. */
static void test_copies(void)
{
    struct lks_tree tree = lks_tree_new();
    lks_tree_file(&tree, "/usr/local/bin/containerd", "");
    lks_tree_file(&tree, "/usr/bin/containerd", "");
    lks_tree_link(&tree, "/bin", "usr/bin");
    lks_tree_file(&tree, COMMANDS,
                  KEYS "/usr/local/bin/containerd --version,ok,containerd x v2.1.4 y\n"
                       "/usr/bin/containerd --version,ok,containerd x 1.7.27 y\n");
    CHECK_HEARD_SORTED(lks_probe_containers, &tree,
                       "containerd=2.1.4 < /usr/local/bin/containerd --version\n"
                       "copy.containerd@/usr/bin/containerd#system=1.7.27 < /usr/bin/containerd "
                       "--version\n");
    lks_tree_free(&tree);
}

/* A program that is there and did not answer is not absent. */
static void test_failures(void)
{
    struct lks_tree tree = lks_tree_new();
    lks_tree_file(&tree, "/usr/bin/dcgmi", "");
    lks_tree_file(&tree, "/usr/bin/nvidia-ctk", "");
    lks_tree_dir(&tree, "/usr/bin/podman");
    lks_tree_file(&tree, COMMANDS, KEYS "/usr/bin/dcgmi --version,timeout,did not end in time\n");
    CHECK_HEARD_SORTED(lks_probe_containers, &tree,
                       "container-toolkit?/usr/bin/nvidia-ctk --version: not in the captured tree "
                       "< /usr/bin/nvidia-ctk --version\n"
                       "dcgm?did not end in time < /usr/bin/dcgmi --version\n"
                       "podman?/usr/bin/podman: not a plain file < /usr/bin/podman\n");
    lks_tree_free(&tree);
}
/* Where programs are looked for. */
#define DIRS "/usr/local/sbin and 13 other directories of programs"

static const char nothing[] = "enroot~ < no enroot in " DIRS "\n"
                              "pyxis~ < no spank_pyxis.so in the directories of Slurm's plugins\n"
                              "cdi.driver~ < no specification in /etc/cdi or /var/run/cdi\n"
                              "container-toolkit~ < no nvidia-ctk in " DIRS "\n"
                              "libnvidia-container~ < no nvidia-container-cli in " DIRS "\n"
                              "amd-container-toolkit~ < no amd-ctk in " DIRS "\n"
                              "containerd~ < no containerd in " DIRS "\n"
                              "docker~ < no dockerd in " DIRS "\n"
                              "podman~ < no podman in " DIRS "\n"
                              "cri-o~ < no crio in " DIRS "\n"
                              "kubelet~ < no kubelet in " DIRS "\n"
                              "slurmd~ < no slurmd in " DIRS "\n"
                              "fabric-manager~ < no nv-fabricmanager in " DIRS "\n"
                              "imex~ < no nvidia-imex in " DIRS "\n"
                              "dcgm~ < no nv-hostengine in " DIRS "\n";

static void test_nothing(void)
{
    struct lks_tree tree = lks_tree_new();
    CHECK_HEARD(lks_probe_containers, &tree, nothing);
    lks_tree_free(&tree);
}

static void test_library(void)
{
    struct lks_tree tree = lks_tree_new();
    lks_tree_link(&tree, "/usr/lib64/libnvidia-container.so.1", "libnvidia-container.so.1.17.8");
    CHECK_HEARD_SORTED(lks_probe_containers, &tree,
                       "libnvidia-container=1.17.8 < /usr/lib64/libnvidia-container.so.1\n");
    lks_tree_free(&tree);
}

static const struct {
    const char *name, *script, *said;
} enroots[] = {
    {"as installed", "#! /usr/bin/env bash\nset -e\nexport ENROOT_VERSION=\"3.5.0\"\nsource x\n",
     "enroot=3.5.0 < /usr/bin/enroot\n"},
    {"without a version", "#! /bin/sh\n", "enroot?does not say ENROOT_VERSION < /usr/bin/enroot\n"},
    {"a version that is none", "export ENROOT_VERSION=\"@version@\"\n",
     "enroot?does not say ENROOT_VERSION < /usr/bin/enroot\n"},
    {"cut off", "export ENROOT_VERSION=\"3.5.0",
     "enroot?does not say ENROOT_VERSION < /usr/bin/enroot\n"},
    {"empty", "", "enroot?does not say ENROOT_VERSION < /usr/bin/enroot\n"},
};

static void test_enroot(void)
{
    for (size_t i = 0; i < LKS_COUNT(enroots); i++) {
        lks_test_case("%s", enroots[i].name);
        struct lks_tree tree = lks_tree_new();
        lks_tree_file(&tree, "/usr/bin/enroot", enroots[i].script);
        CHECK_HEARD_SORTED(lks_probe_containers, &tree, enroots[i].said);
        lks_tree_free(&tree);
    }
}

#define PLUGIN "/usr/lib/x86_64-linux-gnu/slurm/spank_pyxis.so"

/* The text it looks for, at every place around the ends of the pieces it reads. */
static void test_pyxis(void)
{
    static const char text[] = "pyxis: version v0.21.0";
    for (ptrdiff_t at = 8000; at < 8300; at += 7) {
        lks_test_case("at %td", at);
        struct lks_tree tree = lks_tree_new();
        LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(65536);
        lks_buf_pad(&bytes, '\0', at);
        lks_buf_add(&bytes, (struct lks_str){text, sizeof(text)});
        lks_buf_pad(&bytes, 'x', 500);
        lks_tree_bytes(&tree, PLUGIN, lks_buf_view(&bytes));
        CHECK_HEARD_SORTED(lks_probe_containers, &tree, "pyxis=0.21.0 < " PLUGIN "\n");
        lks_tree_free(&tree);
    }
    lks_test_case("no version");
    struct lks_tree tree = lks_tree_new();
    lks_tree_file(&tree, PLUGIN, "pyxis: version vX");
    CHECK_HEARD_SORTED(lks_probe_containers, &tree,
                       "pyxis?" PLUGIN ": has no version in it < " PLUGIN "\n");
    lks_tree_free(&tree);
}

static void test_cdi(void)
{
#define SPEC(library)                                                                              \
    "cdiVersion: 0.6.0\nkind: nvidia.com/gpu\ncontainerEdits:\n  mounts:\n"                        \
    "  - {hostPath: /usr/lib/" library ", containerPath: /x}\n"
    struct lks_tree tree = lks_tree_new();
    lks_tree_file(&tree, "/etc/cdi/nvidia.yaml", SPEC("libcuda.so.580.82.07"));
    lks_tree_file(&tree, "/etc/cdi/old.yaml.bak", SPEC("libcuda.so.1.2.3"));
    lks_tree_file(&tree, "/etc/cdi/broken.json", "{\"cdiVersion\":\n");
    lks_tree_file(&tree, "/run/cdi/nvidia.yaml",
                  SPEC("libcuda.so.580.95.05") "  - {hostPath: /a/libnvidia-ml.so.580.82.07}\n");
    lks_tree_link(&tree, "/var/run", "../run");
    CHECK_HEARD_SORTED(
        lks_probe_containers, &tree,
        "cdi.driver@cdi /etc/cdi/broken.json?line 2: did not find expected node content "
        "< /etc/cdi/broken.json\n"
        "cdi.driver@cdi /etc/cdi/nvidia.yaml=580.82.07 < /etc/cdi/nvidia.yaml\n"
        "cdi.driver@cdi /var/run/cdi/nvidia.yaml=580.95.05 580.82.07 "
        "< /var/run/cdi/nvidia.yaml\n");
    lks_tree_free(&tree);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){{"containers: programs", test_programs},
                                                   {"containers: copies", test_copies},
                                                   {"containers: failures", test_failures},
                                                   {"containers: nothing", test_nothing},
                                                   {"containers: library", test_library},
                                                   {"containers: enroot", test_enroot},
                                                   {"containers: pyxis", test_pyxis},
                                                   {"containers: CDI", test_cdi},
                                                   {0}});
}
