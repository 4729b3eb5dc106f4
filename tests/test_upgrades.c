#include "probe/root/probes.h"
#include "tests/heard.h"
#include "tests/test.h"

#define STATUS          "/var/lib/dpkg/status"
#define PARTS           "/etc/apt/apt.conf.d"
#define ON              "APT::Periodic::Unattended-Upgrade \"1\";\n"
#define WANTED          "/etc/systemd/system/timers.target.wants/apt-daily-upgrade.timer"
#define P(name, status) "Package: " name "\nStatus: " status "\nVersion: 1-1\n\n"
#define I(name)         P(name, "install ok installed")

/* One thing of the machine, in the place of what the base has. */
struct change {
    const char *path;
    const char *content; /* NULL: not there */
    bool link;
};

/* An Ubuntu as it comes: upgrades armed. */
static const struct change armed[] = {
    {STATUS,
     I("unattended-upgrades") I("linux-image-generic") I("linux-image-6.8.0-85-generic")
         I("nvidia-driver-580-open") I("nvidia-dkms-580-open") I("bash"),
     false},
    {PARTS "/20auto-upgrades", "APT::Periodic::Update-Package-Lists \"1\";\n" ON, false},
    {PARTS "/50unattended-upgrades",
     "Unattended-Upgrade::Allowed-Origins {\n\t\"${distro_id}:${distro_codename}\";\n"
     "//\t\"${distro_id}:${distro_codename}-updates\";\n};\n"
     "Unattended-Upgrade::Package-Blacklist {\n//  \"linux-\";\n};\n",
     false},
    {"/run/systemd/system/x", "", false},
    {WANTED, "/lib/systemd/system/apt-daily-upgrade.timer", true},
};

static void plant(const struct lks_tree *tree, const struct change *c)
{
    if (c->content == NULL)
        return;
    if (c->link)
        lks_tree_link(tree, c->path, c->content);
    else
        lks_tree_file(tree, c->path, c->content);
}

static bool is_changed(const struct change *changes, size_t count, const char *path)
{
    for (size_t i = 0; i < count; i++) {
        if (changes[i].path != NULL && strcmp(changes[i].path, path) == 0)
            return true;
    }
    return false;
}

static void check_said(const struct change *base, size_t base_count, const struct change *changes,
                       size_t count, const char *want)
{
    struct lks_tree tree = lks_tree_new();
    for (size_t i = 0; i < base_count; i++) {
        if (!is_changed(changes, count, base[i].path))
            plant(&tree, &base[i]);
    }
    for (size_t i = 0; i < count; i++) {
        if (changes[i].path != NULL)
            plant(&tree, &changes[i]);
    }
    CHECK_HEARD_SORTED(lks_probe_upgrades, &tree, want);
    lks_tree_free(&tree);
}

#define TRUE_APT   "settings.unattended_upgrades=true < " WANTED "\n"
#define FALSE(why) "settings.unattended_upgrades=false < " why "\n"
#define RUNS                                                                                       \
    "platform.upgrades=apt-daily-upgrade.timer runs unattended-upgrade, from "                     \
    "${distro_id}:${distro_codename} < " WANTED "\n"
#define DRIVER(value) "platform.upgrades@driver=" value " < " WANTED "\n"
#define KERNEL(value) "platform.upgrades@kernel=" value " < " WANTED "\n"
#define BOTH          "upgrades: nvidia-driver-580-open, nvidia-dkms-580-open"
#define KEPT_ALL                                                                                   \
    RUNS DRIVER("leaves alone: nvidia-driver-580-open (blacklisted), nvidia-dkms-580-open "        \
                "(blacklisted)") KERNEL("leaves alone: linux-image-generic (blacklisted)")         \
        TRUE_APT
#define DOUBT(pattern) "; whether '" pattern "' covers them was not evaluated"
#define NOT_JUDGED(pattern)                                                                        \
    RUNS DRIVER(BOTH DOUBT(pattern)) KERNEL("upgrades: linux-image-generic" DOUBT(pattern)) TRUE_APT
#define BLACKLIST(...) "Unattended-Upgrade::Package-Blacklist {" __VA_ARGS__ "};\n"

static const struct {
    const char *name;
    struct change changes[2];
    const char *said;
} apts[] = {
    {"as it comes", {{0}}, RUNS DRIVER(BOTH) KERNEL("upgrades: linux-image-generic") TRUE_APT},
    {"held",
     {{STATUS,
       I("unattended-upgrades") P("nvidia-driver-580", "hold ok installed") I("nvidia-dkms-580"),
       false}},
     RUNS DRIVER("upgrades: nvidia-dkms-580; leaves alone: nvidia-driver-580 (held)") TRUE_APT},
    {"blacklisted",
     {{PARTS "/60site", BLACKLIST("\"nvidia\"; \"linux-\";"), false}},
     RUNS DRIVER("leaves alone: nvidia-driver-580-open (blacklisted), nvidia-dkms-580-open "
                 "(blacklisted)") KERNEL("leaves alone: linux-image-generic (blacklisted)")
         TRUE_APT},
    {"blacklisted as a pattern",
     {{PARTS "/60site", BLACKLIST("\"^nvidia-dri.*-open$\";"), false}},
     RUNS DRIVER("upgrades: nvidia-dkms-580-open; leaves alone: nvidia-driver-580-open "
                 "(blacklisted)") KERNEL("upgrades: linux-image-generic") TRUE_APT},
    {"a pattern is held against the beginning",
     {{PARTS "/60site", BLACKLIST("\"driver\"; \"nvidia$\";"), false}},
     RUNS DRIVER(BOTH) KERNEL("upgrades: linux-image-generic") TRUE_APT},
    {"a pattern with a group",
     {{PARTS "/60site", BLACKLIST("\"(lib)?nvidia\"; \"linux-(image|headers)-\";"), false}},
     KEPT_ALL},
    {"a pattern with a class",
     {{PARTS "/60site", BLACKLIST("\"[^a-m]vidia-[a-z]+-[0-9]*-open$\"; \"linux\\-\";"), false}},
     KEPT_ALL},
    {"both ends hold for each choice",
     {{PARTS "/60site", BLACKLIST("\"dkms|driver|nvidia$|image-generic\";"), false}},
     RUNS DRIVER(BOTH) KERNEL("upgrades: linux-image-generic") TRUE_APT},
    {"an empty pattern is the beginning of all",
     {{PARTS "/60site", BLACKLIST("\"^\";"), false}},
     KEPT_ALL},
    {"Python's own group",
     {{PARTS "/60site", BLACKLIST("\"(?:lib)?nvidia\";"), false}},
     NOT_JUDGED("(?:lib)?nvidia")},
    {"Python's own class",
     {{PARTS "/60site", BLACKLIST("\"nvidia-\\w+\";"), false}},
     NOT_JUDGED("nvidia-\\w+")},
    {"a lazy repeat",
     {{PARTS "/60site", BLACKLIST("\"nvidia.+?x\";"), false}},
     NOT_JUDGED("nvidia.+?x")},
    {"a count", {{PARTS "/60site", BLACKLIST("\"n{1}vidia\";"), false}}, NOT_JUDGED("n{1}vidia")},
    {"an escape in a class",
     {{PARTS "/60site", BLACKLIST("\"[\\d]vidia\";"), false}},
     NOT_JUDGED("[\\d]vidia")},
    {"a class that never ends",
     {{PARTS "/60site", BLACKLIST("\"[nvidia\";"), false}},
     NOT_JUDGED("[nvidia")},
    {"a group that never ends",
     {{PARTS "/60site", BLACKLIST("\"(nvidia\";"), false}},
     NOT_JUDGED("(nvidia")},
    {"an escape that is an operator of glibc",
     {{PARTS "/60site", BLACKLIST("\"\\<nvidia\";"), false}},
     NOT_JUDGED("\\<nvidia")},
    {"groups that end before they begin",
     {{PARTS "/60site", BLACKLIST("\"x)|(nvidia\";"), false}},
     NOT_JUDGED("x)|(nvidia")},
    {"nothing to repeat",
     {{PARTS "/60site", BLACKLIST("\"*nvidia\";"), false}},
     NOT_JUDGED("*nvidia")},
    {"nests that would multiply",
     {{PARTS "/60site", BLACKLIST("\"((((((((((n+)+)+)+)+)+)+)+)+)+)+vidia\";"), false}},
     NOT_JUDGED("((((((((((n+)+)+)+)+)+)+)+)+)+)+vidia")},
    {"a blacklist that is cleared",
     {{PARTS "/60site", BLACKLIST("\"nvidia\";"), false},
      {PARTS "/70site", "#clear Unattended-Upgrade::Package-Blacklist;\n", false}},
     RUNS DRIVER(BOTH) KERNEL("upgrades: linux-image-generic") TRUE_APT},
    {"a whitelist",
     {{PARTS "/60site", "Unattended-Upgrade::Package-Whitelist { \"linux-\"; };\n", false}},
     RUNS DRIVER("leaves alone: nvidia-driver-580-open (not on its whitelist), "
                 "nvidia-dkms-580-open (not on its whitelist)")
         KERNEL("upgrades: linux-image-generic") TRUE_APT},
    {"not installed",
     {{STATUS, I("bash"), false}},
     FALSE("unattended-upgrades is not installed (" STATUS ")")},
    {"removed",
     {{STATUS, P("unattended-upgrades", "deinstall ok config-files"), false}},
     FALSE("unattended-upgrades is not installed (" STATUS ")")},
    {"switched off",
     {{PARTS "/20auto-upgrades", "APT::Periodic::Unattended-Upgrade \"0\";", false}},
     FALSE("APT::Periodic::Unattended-Upgrade is 0 (" PARTS "/20auto-upgrades)")},
    {"switched off later",
     {{PARTS "/99off", "APT::Periodic::Unattended-Upgrade \"0\";", false}},
     FALSE("APT::Periodic::Unattended-Upgrade is 0 (" PARTS "/99off)")},
    {"switched off last",
     {{"/etc/apt/apt.conf", "APT::Periodic::Unattended-Upgrade 0;", false}},
     FALSE("APT::Periodic::Unattended-Upgrade is 0 (/etc/apt/apt.conf)")},
    {"in a file apt does not read",
     {{PARTS "/99off.bak", "APT::Periodic::Unattended-Upgrade \"0\";", false}},
     RUNS DRIVER(BOTH) KERNEL("upgrades: linux-image-generic") TRUE_APT},
    {"all of it switched off",
     {{PARTS "/10periodic", "APT { Periodic { Enable \"0\"; }; };", false}},
     FALSE("APT::Periodic::Enable is 0 (" PARTS "/10periodic)")},
    {"never switched on",
     {{PARTS "/20auto-upgrades", NULL, false}},
     FALSE("APT::Periodic::Unattended-Upgrade is not set (" PARTS ")")},
    {"no origins",
     {{PARTS "/50unattended-upgrades", NULL, false}},
     FALSE("it is allowed no origin to upgrade from (" PARTS ")")},
    {"the timer not enabled",
     {{WANTED, NULL, false}},
     FALSE("apt-daily-upgrade.timer is not enabled (/etc/systemd/system)")},
    {"the timer masked",
     {{"/etc/systemd/system/apt-daily-upgrade.timer", "/dev/null", true}},
     FALSE("apt-daily-upgrade.timer is masked (/etc/systemd/system/apt-daily-upgrade.timer)")},
    {"the service masked",
     {{"/etc/systemd/system/apt-daily-upgrade.service", "/dev/null", true}},
     FALSE("apt-daily-upgrade.service is masked "
           "(/etc/systemd/system/apt-daily-upgrade.service)")},
    {"neither systemd nor cron",
     {{"/run/systemd/system/x", NULL, false}},
     FALSE("neither systemd nor cron runs it (/etc/cron.daily/apt-compat)")},
    {"a file that is broken",
     {{PARTS "/60site", "APT {\n", false}},
     "settings.unattended_upgrades?" PARTS "/60site: line 2: ends in the middle < " STATUS "\n"},
};

static void test_apt(void)
{
    for (size_t i = 0; i < LKS_COUNT(apts); i++) {
        lks_test_case("%s", apts[i].name);
        check_said(armed, LKS_COUNT(armed), apts[i].changes, 2, apts[i].said);
    }
}

static void test_cron(void)
{
    static const struct change cron[] = {{"/run/systemd/system/x", NULL, false},
                                         {"/etc/cron.daily/apt-compat", "", false},
                                         {"/usr/sbin/cron", "", false},
                                         {STATUS, I("unattended-upgrades"), false}};
    check_said(armed, LKS_COUNT(armed), cron, LKS_COUNT(cron),
               "platform.upgrades=cron runs unattended-upgrade daily, from "
               "${distro_id}:${distro_codename} < /etc/cron.daily/apt-compat\n"
               "settings.unattended_upgrades=true < /etc/cron.daily/apt-compat\n");
}

static void test_shutdown(void)
{
    static const struct change changes[] = {
        {STATUS, I("unattended-upgrades"), false},
        {WANTED, NULL, false},
        {PARTS "/60site", "Unattended-Upgrade::InstallOnShutdown \"true\";", false},
        {"/etc/systemd/system/multi-user.target.wants/unattended-upgrades.service",
         "/lib/systemd/system/unattended-upgrades.service", true}};
    check_said(armed, LKS_COUNT(armed), changes, LKS_COUNT(changes),
               "platform.upgrades=unattended-upgrades.service upgrades at shutdown, from "
               "${distro_id}:${distro_codename} < " PARTS "/60site\n"
               "settings.unattended_upgrades=true < " PARTS "/60site\n");
}

/* Red Hat ------------------------------------------------------------------------------------ */

#define TIMER "/etc/systemd/system/timers.target.wants/dnf-automatic.timer"
#define LIST                                                                                       \
    "key,code,value\n/var/lib/rpm/rpmdb.sqlite,ok,"                                                \
    "dnf-automatic=4.14.0-25.el9.noarch kernel-core=5.14.0-570.el9.x86_64 "                        \
    "kmod-nvidia-open-dkms=3:580.95.05-1.el9.noarch nvidia-driver-cuda=3:580.95.05-1.el9.x86_64\n"

static const struct change rhel[] = {
    {"/var/lib/rpm/rpmdb.sqlite", "", false},
    {"/lockstep/rpm.csv", LIST, false},
    {"/etc/dnf/automatic.conf",
     "[commands]\nupgrade_type = default\napply_updates = yes\n[base]\ndebuglevel = 1\n", false},
    {"/etc/dnf/dnf.conf", "[main]\ngpgcheck=1\n", false},
    {TIMER, "/usr/lib/systemd/system/dnf-automatic.timer", true},
};

#define TRUE_DNF          "settings.unattended_upgrades=true < " TIMER "\n"
#define RUNS_DNF          "platform.upgrades=dnf-automatic.timer installs updates < " TIMER "\n"
#define DNF(group, value) "platform.upgrades@" group "=" value " < " TIMER "\n"
#define BOTH_DNF          "upgrades: kmod-nvidia-open-dkms, nvidia-driver-cuda"

static const struct {
    const char *name;
    struct change changes[2];
    const char *said;
} dnfs[] = {
    {"armed",
     {{0}},
     RUNS_DNF DNF("driver", BOTH_DNF) DNF("kernel", "upgrades: kernel-core") TRUE_DNF},
    {"excluded",
     {{"/etc/dnf/dnf.conf", "[main]\nexcludepkgs=kernel*,\n nvidia* \n", false}},
     RUNS_DNF DNF("driver", "upgrades: kmod-nvidia-open-dkms; leaves alone: nvidia-driver-cuda "
                            "(excluded or locked)")
         DNF("kernel", "leaves alone: kernel-core (excluded or locked)") TRUE_DNF},
    {"locked",
     {{"/etc/dnf/plugins/versionlock.list",
       "# Added lock\nkernel-core-0:5.14.0-570.el9.*\n!nvidia-driver-cuda-3:580.0-1.*\n", false}},
     RUNS_DNF DNF("driver", BOTH_DNF)
         DNF("kernel", "leaves alone: kernel-core (excluded or locked)") TRUE_DNF},
    {"locked in the newer form",
     {{"/etc/dnf/versionlock.toml",
       "version = \"1.0\"\n[[packages]]\nname = \"kernel-core\"\n[[packages.conditions]]\n",
       false}},
     RUNS_DNF DNF("driver", BOTH_DNF)
         DNF("kernel", "leaves alone: kernel-core (excluded or locked)") TRUE_DNF},
    {"only downloads",
     {{"/etc/dnf/automatic.conf", "[commands]\napply_updates = no\n", false}},
     FALSE("dnf-automatic.timer is enabled, but apply_updates is not yes "
           "(/etc/dnf/automatic.conf)")},
    {"not configured",
     {{"/etc/dnf/automatic.conf", NULL, false}},
     FALSE("dnf-automatic.timer is enabled, but apply_updates is not yes "
           "(/etc/dnf/automatic.conf)")},
    {"no timer",
     {{TIMER, NULL, false}},
     FALSE("no timer of dnf-automatic is enabled (/etc/systemd/system)")},
    {"masked",
     {{"/etc/systemd/system/dnf-automatic.timer", "/dev/null", true}},
     FALSE("dnf-automatic.timer is masked (/etc/systemd/system/dnf-automatic.timer)")},
    {"not installed",
     {{"/lockstep/rpm.csv", "key,code,value\n/var/lib/rpm/rpmdb.sqlite,ok,bash=5-1.x86_64\n",
       false}},
     FALSE("dnf-automatic is not installed (rpm)")},
};

static void test_dnf(void)
{
    for (size_t i = 0; i < LKS_COUNT(dnfs); i++) {
        lks_test_case("%s", dnfs[i].name);
        check_said(rhel, LKS_COUNT(rhel), dnfs[i].changes, 2, dnfs[i].said);
    }
}

static void test_others(void)
{
    lks_test_case("no package manager");
    check_said(NULL, 0, NULL, 0, FALSE("no package database"));
    lks_test_case("a database that cannot be read");
    static const struct change broken[] = {{"/var/lib/rpm/Packages", "", false}};
    check_said(NULL, 0, broken, 1,
               "settings.unattended_upgrades?/var/lib/rpm: is in the format of Berkeley DB, and "
               "there is no rpm to ask < /var/lib/rpm/Packages\n");
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){{"upgrades: apt", test_apt},
                                                   {"upgrades: cron", test_cron},
                                                   {"upgrades: at shutdown", test_shutdown},
                                                   {"upgrades: dnf", test_dnf},
                                                   {"upgrades: others", test_others},
                                                   {0}});
}
