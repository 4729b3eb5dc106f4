/* The fields of records about roles and credentials of people. For record_fields.c alone, whose
 * words it is in. */
#ifndef LKS_MODEL_RECORD_FIELDS_ACCESS_H
#define LKS_MODEL_RECORD_FIELDS_ACCESS_H

static const struct lks_record_field granted_fields[] = {
    TEXT(granted, identity, "The identity that has the role."),
    WORD(granted, role, lks_role_words, "The role."),
    TEXT(granted, site, "At this site only."),
    TEXT(granted, pool, "In this pool only."),
    BY(granted),
    MINTERS(2, granted),
    ROOT(2, granted),
};
static const struct lks_record_field ungranted_fields[] = {
    TEXT(ungranted, identity, "The identity that loses the role."),
    WORD(ungranted, role, lks_role_words, "The role."),
    TEXT(ungranted, site, "At this site only."),
    TEXT(ungranted, pool, "In this pool only."),
    BY(ungranted),
};
static const struct lks_record_field api_token_fields[] = {
    TEXT(api_token, id, "The token's name."),
    TEXT(api_token, identity, "The identity of the holder."),
    HIDDEN(api_token, hash, "The digest of the token's secret."),
    TIME(api_token, expires, "Until when it is good; for ever where missing."),
    BY(api_token),
    MINTERS(2, api_token),
    ROOT(2, api_token),
    SINCE(2, api_token, life, NUMBER,
          "How long it is good from when its holder renews it, in milliseconds."),
    SINCE(3, api_token, issuer, TEXT,
          "The identity provider that its holder logged in with; missing where it was made."),
    SINCE(
        3, api_token, grants, TEXT,
        "Roles that the login gives, by the groups of its holder: ROLE or ROLE@POOL, separated by "
        "blanks."),
};
static const struct lks_record_field api_token_gone_fields[] = {
    TEXT(api_token_gone, id, "The token that is no longer taken."),
    BY(api_token_gone),
};
static const struct lks_record_field token_renewed_fields[] = {
    TEXT(token_renewed, id, "The token's name."),
    TIME(token_renewed, expires, "Until when it is good now."),
    BY(token_renewed),
};
static const struct lks_record_field person_certified_fields[] = {
    TEXT(person_certified, identity, "The identity of the holder."),
    TEXT(person_certified, serial, "Its serial number."),
    TEXT(person_certified, fingerprint, "The digest of its bytes."),
    TIME(person_certified, expires, "Until when it is good."),
    TEXT(person_certified, minter,
         "The identity that certified them; of a renewed one, the "
         "first."),
    TEXT(person_certified, minters,
         "The people by whom the minter's credential came to be, separated by blanks."),
    TRUTH(person_certified, root, "Whether the minter is root on a controller's own socket."),
    NUMBER(person_certified, life,
           "How long one is good that its holder has it renewed by, in milliseconds."),
    TEXT(person_certified, renews, "The serial number of the one that it renews."),
    BY(person_certified),
};
static const struct lks_record_field person_revoked_fields[] = {
    TEXT(person_revoked, serial, "The certificate that is no longer taken."),
    BY(person_revoked),
};

#define ABOUT_granted          "A role was granted."
#define ABOUT_ungranted        "A role was revoked."
#define ABOUT_api_token        "An API token was made, or a person logged in."
#define ABOUT_api_token_gone   "An API token is gone."
#define ABOUT_token_renewed    "The holder of an API token renewed it, or logged out."
#define ABOUT_person_certified "A person got a certificate, or renewed one."
#define ABOUT_person_revoked   "A person's certificate is no longer taken."

#endif
