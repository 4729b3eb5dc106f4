/* Looking rows up. */
#include "model/facts/class.h"

#include <string.h>

/* A component may be called as stacks call firmware. */
static struct lks_str plain(struct lks_str name)
{
    size_t prefix = strlen("firmware/");
    if (!lks_str_starts(name, "firmware/"))
        return name;
    return (struct lks_str){name.ptr + prefix, name.len - prefix};
}

const struct lks_branch *lks_facts_branch(const struct lks_facts *facts, int number)
{
    for (size_t i = 0; i < facts->branches.count; i++) {
        if (facts->branches.rows[i].number == number)
            return &facts->branches.rows[i];
    }
    return NULL;
}

const struct lks_driver *lks_facts_driver(const struct lks_facts *facts, struct lks_str version)
{
    for (size_t i = 0; i < facts->drivers.count; i++) {
        if (lks_version_cmp(facts->drivers.rows[i].version, version, LKS_VERSION_DOTTED) == 0)
            return &facts->drivers.rows[i];
    }
    return NULL;
}

const struct lks_advisory *lks_facts_advisory(const struct lks_facts *facts, struct lks_str id)
{
    for (size_t i = 0; i < facts->advisories.count; i++) {
        if (lks_str_eq_nocase(facts->advisories.rows[i].id, id))
            return &facts->advisories.rows[i];
    }
    return NULL;
}

const struct lks_component_kind *lks_facts_component(const struct lks_facts *facts,
                                                     struct lks_str name)
{
    name = plain(name);
    for (size_t i = 0; i < facts->components.count; i++) {
        if (lks_str_eq(facts->components.rows[i].name, name))
            return &facts->components.rows[i];
    }
    return NULL;
}

const struct lks_component_kind *lks_facts_component_alias(const struct lks_facts *facts,
                                                           struct lks_str alias)
{
    for (size_t i = 0; i < facts->components.count; i++) {
        if (lks_words_have(facts->components.rows[i].aliases, alias))
            return &facts->components.rows[i];
    }
    return NULL;
}

const struct lks_setting_kind *lks_facts_setting(const struct lks_facts *facts, struct lks_str name)
{
    for (size_t i = 0; i < facts->settings.count; i++) {
        if (lks_str_eq(facts->settings.rows[i].name, name))
            return &facts->settings.rows[i];
    }
    return NULL;
}

const struct lks_change_class *lks_facts_change_class(const struct lks_facts *facts,
                                                      struct lks_str name)
{
    for (size_t i = 0; i < facts->change_classes.count; i++) {
        if (lks_str_eq(facts->change_classes.rows[i].name, name))
            return &facts->change_classes.rows[i];
    }
    return NULL;
}

const struct lks_change_class *lks_facts_change_covers(const struct lks_facts *facts,
                                                       enum lks_change_covers covers)
{
    for (size_t i = 0; i < facts->change_classes.count; i++) {
        if (facts->change_classes.rows[i].covers == covers)
            return &facts->change_classes.rows[i];
    }
    return NULL;
}

const struct lks_update_class *lks_facts_update_class(const struct lks_facts *facts,
                                                      struct lks_str name)
{
    for (size_t i = 0; i < facts->update_classes.count; i++) {
        if (lks_str_eq(facts->update_classes.rows[i].name, name))
            return &facts->update_classes.rows[i];
    }
    return NULL;
}

const struct lks_firmware_update *lks_facts_firmware(const struct lks_facts *facts,
                                                     struct lks_str component)
{
    component = plain(component);
    for (size_t i = 0; i < facts->firmware_updates.count; i++) {
        if (lks_str_eq(facts->firmware_updates.rows[i].component, component))
            return &facts->firmware_updates.rows[i];
    }
    return NULL;
}

const struct lks_gate_preset *lks_facts_gate_preset(const struct lks_facts *facts,
                                                    struct lks_str name)
{
    for (size_t i = 0; i < facts->gate_presets.count; i++) {
        if (lks_str_eq(facts->gate_presets.rows[i].name, name))
            return &facts->gate_presets.rows[i];
    }
    return NULL;
}

const struct lks_class *lks_facts_class(const struct lks_facts *facts, struct lks_str name)
{
    for (size_t i = 0; i < facts->classes.count; i++) {
        if (lks_str_eq(facts->classes.rows[i].name, name))
            return &facts->classes.rows[i];
    }
    return NULL;
}

enum lks_version_scheme lks_facts_scheme(const struct lks_facts *facts, struct lks_str component)
{
    const struct lks_component_kind *kind = lks_facts_component(facts, component);
    return kind != NULL ? kind->scheme : LKS_VERSION_FIRMWARE;
}
