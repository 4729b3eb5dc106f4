#include "probe/network/nic.h"

#include "codec/format/kv.h"
#include "probe/network/dcb.h"
#include "probe/network/ethtool.h"

#include <stdio.h>

#define PRIORITIES 8

enum link { LINK_UNKNOWN, LINK_ETHERNET, LINK_INFINIBAND };

/* A port while it is read. */
struct port {
    struct lks_probe *p;
    const struct lks_nic *nic;
    struct lks_str of;
    char dir[LKS_NIC_DIR_SIZE + 16];   /* its directory */
    char link_path[LKS_NIC_PATH_SIZE]; /* of the file that says what kind of link it is */
    char interface[LKS_NIC_NAME_SIZE];
    enum link link;
    bool state_known, up;
};

static const char *interface_path(char out[LKS_NIC_PATH_SIZE], const char *interface,
                                  const char *file)
{
    snprintf(out, LKS_NIC_PATH_SIZE, "/sys/class/net/%s/%s", interface, file);
    return out;
}

/* Interfaces ---------------------------------------------------------------------------------- */

static bool skip_digits(struct lks_str *s)
{
    size_t n = 0;
    while (n < s->len && s->ptr[n] >= '0' && s->ptr[n] <= '9')
        n++;
    s->ptr += n;
    s->len -= n;
    return n > 0;
}

/* "p0" and, for a port that is split, "p0s1"; others are such as "pf0vf3". */
bool lks_nic_is_port(struct lks_probe *p, const char *interface)
{
    char path[LKS_NIC_PATH_SIZE], line[LKS_ROOT_LINE_MAX];
    struct lks_err err = {0};
    if (lks_root_line(p->root, interface_path(path, interface, "phys_port_name"), line, &err) !=
        LKS_OK)
        return true; /* most drivers have no such name */
    struct lks_str name = {line + 1, strlen(line) - 1};
    if (line[0] != 'p' || !skip_digits(&name))
        return false;
    if (name.len > 0 && name.ptr[0] == 's') {
        name = (struct lks_str){name.ptr + 1, name.len - 1};
        return skip_digits(&name) && name.len == 0;
    }
    return name.len == 0;
}

/* Ports of RDMA devices count from 1, those of interfaces from 0. */
static bool is_of_port(struct lks_probe *p, const char *interface, unsigned port)
{
    char path[LKS_NIC_PATH_SIZE], line[LKS_ROOT_LINE_MAX];
    struct lks_err err = {0};
    uint64_t number = 0;
    if (lks_root_line(p->root, interface_path(path, interface, "dev_port"), line, &err) != LKS_OK)
        return port == 1;
    return lks_str_number(lks_str_from(line), UINT32_MAX, &number) && number + 1 == port;
}

void lks_nic_find_interface(struct lks_probe *p, const struct lks_pci *pci, unsigned port,
                            char out[LKS_NIC_NAME_SIZE])
{
    char path[LKS_PCI_PATH_SIZE], name[LKS_NIC_NAME_SIZE];
    struct lks_names names;
    struct lks_err err = {0};
    out[0] = '\0';
    lks_pci_path(path, pci->address, "net");
    if (lks_root_list(p->root, path, p->arena, &names, &err) != LKS_OK)
        return;
    for (size_t i = 0; i < names.count && out[0] == '\0'; i++) {
        if (names.list[i].len >= sizeof(name))
            continue;
        snprintf(name, sizeof(name), "%" LKS_STR_FMT, LKS_STR_ARG(names.list[i]));
        if (lks_nic_is_port(p, name) && is_of_port(p, name, port))
            memcpy(out, name, sizeof(name));
    }
}

void lks_nic_number(struct lks_probe *p, const char *name, struct lks_str of, const char *path)
{
    char line[LKS_ROOT_LINE_MAX];
    struct lks_err err = {0};
    uint64_t number;
    if (lks_root_line(p->root, path, line, &err) != LKS_OK)
        lks_probe_failed(p, name, of, path, &err);
    else if (!lks_str_number(lks_str_from(line), UINT32_MAX, &number))
        lks_probe_unmeasured(p, name, of, path, "%s: '%.32s' is no number", path, line);
    else
        lks_probe_value(p, name, of, LKS_STR(""), lks_str_from(line), path);
}

/* Link ---------------------------------------------------------------------------------------- */

/* Whose link is known all the same where it is no fabric port: it says what else to ask. */
static void say_link(struct port *port)
{
    static const char name[] = "settings.nic.link_type";
    char line[LKS_ROOT_LINE_MAX];
    struct lks_err err = {0};
    const char *is = NULL;
    static const struct {
        const char *says, *name;
        enum link link;
    } links[] = {{"Ethernet", "ethernet", LINK_ETHERNET},
                 {"InfiniBand", "infiniband", LINK_INFINIBAND}};
    enum lks_code code = lks_root_line(port->p->root, port->link_path, line, &err);
    for (size_t i = 0; code == LKS_OK && i < LKS_COUNT(links); i++) {
        if (strcmp(line, links[i].says) == 0) {
            port->link = links[i].link;
            is = links[i].name;
        }
    }
    if (!port->nic->fabric)
        return;
    if (code != LKS_OK)
        lks_probe_failed(port->p, name, port->of, port->link_path, &err);
    else if (is != NULL)
        lks_probe_value(port->p, name, port->of, LKS_STR(""), lks_str_from(is), port->link_path);
    else
        lks_probe_unmeasured(port->p, name, port->of, port->link_path,
                             "%s: a link of the kind '%.32s'", port->link_path, line);
}

/* The word after the number in "2: INIT", in small letters; empty for what is none. */
static struct lks_str state_word(struct port *port, const char *file, uint64_t *number,
                                 struct lks_err *err)
{
    char path[LKS_NIC_PATH_SIZE], line[LKS_ROOT_LINE_MAX];
    struct lks_str head, word;
    if (lks_root_line(port->p->root, lks_probe_nic_path(path, port->dir, file), line, err) !=
        LKS_OK)
        return LKS_STR("");
    if (!lks_str_cut(lks_str_from(line), ':', &head, &word) || lks_str_trim(word).len == 0 ||
        !lks_str_number(head, UINT8_MAX, number)) {
        err->code = lks_fail(err, LKS_E_INVALID, "%s: '%.32s' is no state", path, line);
        return LKS_STR("");
    }
    for (char *c = line; *c != '\0'; c++)
        *c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
    struct lks_str kept = lks_arena_copy(port->p->arena, lks_str_trim(word));
    return kept.ptr != NULL ? kept : LKS_STR("");
}

/* A port that is not active says what it is instead, and what its line is doing. */
static void say_state(struct port *port)
{
    enum { ACTIVE = 4 };
    char path[LKS_NIC_PATH_SIZE];
    struct lks_err err = {0}, line_err = {0};
    uint64_t number = 0, line_number;
    struct lks_str word = state_word(port, "state", &number, &err);
    (void)lks_probe_nic_path(path, port->dir, "state");
    if (word.len == 0) {
        lks_probe_failed(port->p, "nic.state", port->of, path, &err);
        return;
    }
    port->state_known = true;
    port->up = number == ACTIVE;
    if (port->up) {
        lks_probe_value(port->p, "nic.state", port->of, LKS_STR(""), LKS_STR("up"), path);
        return;
    }
    struct lks_str line = state_word(port, "phys_state", &line_number, &line_err);
    struct lks_str text =
        lks_arena_format(port->p->arena, "%" LKS_STR_FMT "%s%" LKS_STR_FMT, LKS_STR_ARG(word),
                         line.len > 0 ? ", " : "", LKS_STR_ARG(line));
    lks_probe_value(port->p, "nic.state", port->of, LKS_STR(""), text.ptr != NULL ? text : word,
                    path);
}

/* "400 Gb/sec (4X NDR)" */
static bool rate_of(struct lks_str line, struct lks_str *out)
{
    struct lks_str rate, rest, whole, tenths;
    uint64_t number;
    if (!lks_str_cut(line, ' ', &rate, &rest) || !lks_str_starts(rest, "Gb/sec"))
        return false;
    bool fraction = lks_str_cut(rate, '.', &whole, &tenths);
    if (!lks_str_number(whole, UINT16_MAX, &number) ||
        (fraction && !lks_str_number(tenths, 9, &number)))
        return false;
    *out = rate;
    return true;
}

/* Megabits per second as gigabits: 400000 is 400, 2500 is 2.5. */
static bool speed_of(struct lks_str line, char out[16])
{
    uint64_t mbps;
    if (!lks_str_number(line, UINT64_C(100) * 1000 * 1000, &mbps) || mbps == 0)
        return false;
    unsigned tenths = (unsigned)(mbps % 1000 / 100);
    int len = snprintf(out, 16, "%u", (unsigned)(mbps / 1000));
    if (tenths > 0)
        snprintf(out + len, 16 - (size_t)len, ".%u", tenths);
    return true;
}

/* What the interface says comes first on Ethernet: of speeds it has no name for the RDMA side says
 * another one. */
static void say_speed(struct port *port)
{
    char path[LKS_NIC_PATH_SIZE], line[LKS_ROOT_LINE_MAX], speed[16];
    struct lks_err err = {0};
    struct lks_str rate;
    if (!port->up) {
        (void)lks_probe_nic_path(path, port->dir, "state");
        if (port->state_known)
            lks_probe_value(port->p, "devices.nic_gbps", port->of, LKS_STR(""), LKS_STR("0"), path);
        else
            lks_probe_unmeasured(port->p, "devices.nic_gbps", port->of, path,
                                 "whether the link is up could not be read");
        return;
    }
    if (port->link == LINK_ETHERNET && port->interface[0] != '\0' &&
        lks_root_line(port->p->root, interface_path(path, port->interface, "speed"), line, &err) ==
            LKS_OK &&
        speed_of(lks_str_from(line), speed)) {
        lks_probe_value(port->p, "devices.nic_gbps", port->of, LKS_STR(""), lks_str_from(speed),
                        path);
        return;
    }
    (void)lks_probe_nic_path(path, port->dir, "rate");
    if (lks_root_line(port->p->root, path, line, &err) != LKS_OK)
        lks_probe_failed(port->p, "devices.nic_gbps", port->of, path, &err);
    else if (!rate_of(lks_str_from(line), &rate))
        lks_probe_unmeasured(port->p, "devices.nic_gbps", port->of, path, "%s: '%.32s' is no rate",
                             path, line);
    else
        lks_probe_value(port->p, "devices.nic_gbps", port->of, LKS_STR(""), rate, path);
}

/* Options ------------------------------------------------------------------------------------- */

/* One number of an answer of the driver's; absent where it does not answer such a question. */
static void say_answer(struct port *port, enum lks_ethtool question, const char *key,
                       const char *name)
{
    char evidence[LKS_ETHTOOL_EVIDENCE_SIZE];
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0}, value = {0};
    struct lks_err err = {0};
    uint64_t number;
    lks_buf_init(&answer, LKS_ROOT_LINE_MAX);
    lks_buf_init(&value, LKS_ROOT_LINE_MAX);
    lks_ethtool_evidence(question, port->interface, evidence);
    enum lks_code code = lks_ethtool_ask(port->p->root, question, port->interface, &answer, &err);
    if (code == LKS_E_UNAVAILABLE)
        lks_probe_absent(port->p, name, port->of, evidence);
    else if (code != LKS_OK)
        lks_probe_failed(port->p, name, port->of, evidence, &err);
    else if (!lks_kv_get(lks_buf_view(&answer), key, &value) ||
             !lks_str_number(lks_buf_view(&value), UINT32_MAX, &number))
        lks_probe_unmeasured(port->p, name, port->of, evidence, "%s: no number for %s", evidence,
                             key);
    else
        lks_probe_value(port->p, name, port->of, LKS_STR(""), lks_buf_view(&value), evidence);
}

static const struct {
    const char *name;
    enum lks_ethtool question;
    const char *key;
} options[] = {
    {"settings.nic.options.rx_ring", LKS_ETHTOOL_RING, "rx"},
    {"settings.nic.options.tx_ring", LKS_ETHTOOL_RING, "tx"},
    {"settings.nic.options.rx_pause", LKS_ETHTOOL_PAUSE, "rx"},
    {"settings.nic.options.tx_pause", LKS_ETHTOOL_PAUSE, "tx"},
};

static void say_options(struct port *port)
{
    char path[LKS_NIC_PATH_SIZE];
    if (port->interface[0] == '\0') {
        lks_pci_path(path, port->nic->pci.address, "net");
        lks_probe_absent(port->p, "settings.nic.options.mtu", port->of, path);
        return;
    }
    (void)interface_path(path, port->interface, "mtu");
    lks_nic_number(port->p, "settings.nic.options.mtu", port->of, path);
    for (size_t i = 0; i < LKS_COUNT(options); i++)
        say_answer(port, options[i].question, options[i].key, options[i].name);
}

/* Congestion ---------------------------------------------------------------------------------- */

static void say_pfc(struct port *port)
{
    static const char name[] = "settings.nic.pfc";
    char evidence[96];
    LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = {0}, value = {0};
    struct lks_err err = {0};
    lks_buf_init(&answer, LKS_ROOT_LINE_MAX);
    lks_buf_init(&value, LKS_ROOT_LINE_MAX);
    snprintf(evidence, sizeof(evidence), "dcb pfc %s", port->interface);
    enum lks_code code = lks_dcb_pfc(port->p->root, port->interface, &answer, &err);
    if (code != LKS_OK)
        lks_probe_unmeasured(port->p, name, port->of, evidence, "%s", err.msg);
    else if (!lks_kv_get(lks_buf_view(&answer), "enabled", &value))
        lks_probe_unmeasured(port->p, name, port->of, evidence, "%s: says nothing of priorities",
                             evidence);
    else
        lks_probe_value(port->p, name, port->of, LKS_STR(""), lks_buf_view(&value), evidence);
}

/* Which priorities one side of congestion control is on for, as a set of bits. */
static enum lks_code read_side(struct port *port, const char *side, unsigned *out,
                               struct lks_err *err)
{
    unsigned set = 0;
    for (unsigned i = 0; i < PRIORITIES; i++) {
        char path[LKS_NIC_PATH_SIZE], file[64], line[LKS_ROOT_LINE_MAX];
        uint64_t on;
        snprintf(file, sizeof(file), "ecn/%s/enable/%u", side, i);
        if (lks_root_line(port->p->root, interface_path(path, port->interface, file), line, err) !=
            LKS_OK)
            return err->code;
        if (!lks_str_number(lks_str_from(line), 1, &on))
            return lks_fail(err, LKS_E_INVALID, "%s: '%.32s' is neither 0 nor 1", path, line);
        set |= (unsigned)on << i;
    }
    *out = set;
    return LKS_OK;
}

static void say_priorities(struct port *port, const char *name, unsigned set, const char *evidence)
{
    char list[2 * PRIORITIES + 1] = "";
    size_t len = 0;
    for (unsigned i = 0; i < PRIORITIES; i++) {
        if ((set >> i & 1) != 0)
            len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%u", len > 0 ? " " : "", i);
    }
    lks_probe_value(port->p, name, port->of, LKS_STR(""), lks_str_from(list), evidence);
}

/* Adapters up to ConnectX-6 know one algorithm. Later ones can run others, and no file of the
 * driver says which one they do. */
static bool knows_only_dcqcn(const struct lks_pci *pci)
{
    static const unsigned ids[] = {0x1013, 0x1015, 0x1017, 0x1019, 0x101b, 0xa2d2};
    for (size_t i = 0; i < LKS_COUNT(ids); i++) {
        if (pci->vendor == LKS_PCI_MELLANOX && pci->device == ids[i])
            return true;
    }
    return false;
}

/* A priority is marked where the port both tells of congestion (np) and heeds it (rp). The files
 * are those of NVIDIA's own driver packages; the driver in the kernel does not have them. */
static void say_ecn(struct port *port)
{
    char evidence[LKS_NIC_PATH_SIZE];
    struct lks_err err = {0};
    unsigned notify = 0, react = 0;
    (void)interface_path(evidence, port->interface, "ecn");
    if (read_side(port, "roce_np", &notify, &err) != LKS_OK ||
        read_side(port, "roce_rp", &react, &err) != LKS_OK) {
        lks_probe_unmeasured(port->p, "settings.nic.ecn", port->of, evidence, "%s", err.msg);
        lks_probe_unmeasured(port->p, "settings.nic.congestion_control", port->of, evidence, "%s",
                             err.msg);
        return;
    }
    say_priorities(port, "settings.nic.ecn", notify & react, evidence);
    say_priorities(port, "settings.nic.options.roce_np", notify, evidence);
    say_priorities(port, "settings.nic.options.roce_rp", react, evidence);
    if (!knows_only_dcqcn(&port->nic->pci))
        lks_probe_unmeasured(port->p, "settings.nic.congestion_control", port->of, evidence,
                             "the adapter can run several algorithms and does not say which");
    else
        lks_probe_value(port->p, "settings.nic.congestion_control", port->of, LKS_STR(""),
                        react != 0 ? LKS_STR("dcqcn") : LKS_STR("none"), evidence);
}

/* InfiniBand has flow control of its own, and its congestion control is the subnet manager's. */
static void say_congestion(struct port *port)
{
    static const char *const names[] = {"settings.nic.congestion_control", "settings.nic.ecn",
                                        "settings.nic.pfc"};
    if (port->link == LINK_ETHERNET && port->interface[0] != '\0') {
        say_pfc(port);
        say_ecn(port);
        return;
    }
    for (size_t i = 0; i < LKS_COUNT(names); i++) {
        if (port->link == LINK_INFINIBAND)
            lks_probe_absent(port->p, names[i], port->of, port->link_path);
        else
            lks_probe_unmeasured(port->p, names[i], port->of, port->link_path,
                                 "the port has no Ethernet interface to ask");
    }
}

/* --------------------------------------------------------------------------------------------- */

void lks_nic_port(struct lks_probe *p, const struct lks_nic *nic, unsigned number)
{
    struct port port = {.p = p, .nic = nic};
    char path[LKS_NIC_PATH_SIZE];
    port.of = lks_arena_format(p->arena, "nic %s port %u", nic->name, number);
    if (port.of.ptr == NULL)
        port.of = nic->of;
    snprintf(port.dir, sizeof(port.dir), "%s/ports/%u", nic->dir, number);
    (void)lks_probe_nic_path(port.link_path, port.dir, "link_layer");
    lks_nic_find_interface(p, &nic->pci, number, port.interface);
    say_link(&port);
    say_state(&port);
    if (nic->fabric) {
        say_speed(&port);
        say_congestion(&port);
        say_options(&port);
    }
    if (port.interface[0] == '\0')
        return;
    if (port.link == LINK_ETHERNET)
        lks_probe_line(p, "nic.mac", port.of, interface_path(path, port.interface, "address"));
    lks_nic_module(p, port.of, port.interface, true);
}

void lks_nic_interface(struct lks_probe *p, const struct lks_nic *nic)
{
    char path[LKS_NIC_PATH_SIZE];
    lks_probe_line(p, "nic.mac", nic->of, lks_probe_nic_path(path, nic->dir, "address"));
    lks_probe_line(p, "nic.state", nic->of, lks_probe_nic_path(path, nic->dir, "operstate"));
    lks_nic_module(p, nic->of, nic->name, false);
}
