/* The rules that zones have for the time to come, and the zones of each: the last line of each file
 * of the zone database (2025b), which is written for just that and in the public domain. A site
 * whose clocks have changed since then writes the rule itself. */
#include "codec/time/tz.h"

const struct lks_tz_zone lks_tz_zones[] = {
    {"GMT0", "Africa/Abidjan Africa/Accra Africa/Bamako Africa/Banjul Africa/Bissau Africa/Conakry "
             "Africa/Dakar Africa/Freetown Africa/Lome Africa/Monrovia Africa/Nouakchott "
             "Africa/Ouagadougou Africa/Sao_Tome America/Danmarkshavn Atlantic/Reykjavik "
             "Atlantic/St_Helena GMT"},
    {"EAT-3",
     "Africa/Addis_Ababa Africa/Asmara Africa/Dar_es_Salaam Africa/Djibouti Africa/Kampala "
     "Africa/Mogadishu Africa/Nairobi Indian/Antananarivo Indian/Comoro Indian/Mayotte"},
    {"CET-1", "Africa/Algiers Africa/Tunis"},
    {"WAT-1", "Africa/Bangui Africa/Brazzaville Africa/Douala Africa/Kinshasa Africa/Lagos "
              "Africa/Libreville Africa/Luanda Africa/Malabo Africa/Ndjamena Africa/Niamey "
              "Africa/Porto-Novo"},
    {"CAT-2", "Africa/Blantyre Africa/Bujumbura Africa/Gaborone Africa/Harare Africa/Juba "
              "Africa/Khartoum Africa/Kigali Africa/Lubumbashi Africa/Lusaka Africa/Maputo "
              "Africa/Windhoek"},
    {"EET-2EEST,M4.5.5/0,M10.5.4/24", "Africa/Cairo"},
    {"<+01>-1", "Africa/Casablanca Africa/El_Aaiun"},
    {"CET-1CEST,M3.5.0,M10.5.0/3",
     "Africa/Ceuta Arctic/Longyearbyen Europe/Amsterdam Europe/Andorra Europe/Belgrade "
     "Europe/Berlin Europe/Bratislava Europe/Brussels Europe/Budapest Europe/Busingen "
     "Europe/Copenhagen Europe/Gibraltar Europe/Ljubljana Europe/Luxembourg Europe/Madrid "
     "Europe/Malta Europe/Monaco Europe/Oslo Europe/Paris Europe/Podgorica Europe/Prague "
     "Europe/Rome Europe/San_Marino Europe/Sarajevo Europe/Skopje Europe/Stockholm "
     "Europe/Tirane Europe/Vaduz Europe/Vatican Europe/Vienna Europe/Warsaw Europe/Zagreb "
     "Europe/Zurich"},
    {"SAST-2", "Africa/Johannesburg Africa/Maseru Africa/Mbabane"},
    {"EET-2", "Africa/Tripoli Europe/Kaliningrad"},
    {"HST10HDT,M3.2.0,M11.1.0", "America/Adak"},
    {"AKST9AKDT,M3.2.0,M11.1.0",
     "America/Anchorage America/Juneau America/Metlakatla America/Nome America/Sitka "
     "America/Yakutat"},
    {"AST4", "America/Anguilla America/Antigua America/Aruba America/Barbados America/Blanc-Sablon "
             "America/Curacao America/Dominica America/Grenada America/Guadeloupe "
             "America/Kralendijk America/Lower_Princes America/Marigot America/Martinique "
             "America/Montserrat America/Port_of_Spain America/Puerto_Rico America/Santo_Domingo "
             "America/St_Barthelemy America/St_Kitts America/St_Lucia America/St_Thomas "
             "America/St_Vincent America/Tortola"},
    {"<-03>3", "America/Araguaina America/Argentina/Buenos_Aires America/Argentina/Catamarca "
               "America/Argentina/Cordoba America/Argentina/Jujuy America/Argentina/La_Rioja "
               "America/Argentina/Mendoza America/Argentina/Rio_Gallegos America/Argentina/Salta "
               "America/Argentina/San_Juan America/Argentina/San_Luis America/Argentina/Tucuman "
               "America/Argentina/Ushuaia America/Asuncion America/Bahia America/Belem "
               "America/Cayenne America/Coyhaique America/Fortaleza America/Maceio "
               "America/Montevideo America/Paramaribo America/Punta_Arenas America/Recife "
               "America/Santarem America/Sao_Paulo Antarctica/Palmer Antarctica/Rothera "
               "Atlantic/Stanley"},
    {"EST5", "America/Atikokan America/Cancun America/Cayman America/Jamaica America/Panama"},
    {"CST6", "America/Bahia_Banderas America/Belize America/Chihuahua America/Costa_Rica "
             "America/El_Salvador America/Guatemala America/Managua America/Merida "
             "America/Mexico_City America/Monterrey America/Regina America/Swift_Current "
             "America/Tegucigalpa"},
    {"<-04>4",
     "America/Boa_Vista America/Campo_Grande America/Caracas America/Cuiaba America/Guyana "
     "America/La_Paz America/Manaus America/Porto_Velho"},
    {"<-05>5", "America/Bogota America/Eirunepe America/Guayaquil America/Lima America/Rio_Branco"},
    {"MST7MDT,M3.2.0,M11.1.0",
     "America/Boise America/Cambridge_Bay America/Ciudad_Juarez America/Denver "
     "America/Edmonton America/Inuvik"},
    {"CST6CDT,M3.2.0,M11.1.0",
     "America/Chicago America/Indiana/Knox America/Indiana/Tell_City America/Matamoros "
     "America/Menominee America/North_Dakota/Beulah America/North_Dakota/Center "
     "America/North_Dakota/New_Salem America/Ojinaga America/Rankin_Inlet America/Resolute "
     "America/Winnipeg"},
    {"MST7", "America/Creston America/Dawson America/Dawson_Creek America/Fort_Nelson "
             "America/Hermosillo America/Mazatlan America/Phoenix America/Whitehorse"},
    {"EST5EDT,M3.2.0,M11.1.0",
     "America/Detroit America/Grand_Turk America/Indiana/Indianapolis "
     "America/Indiana/Marengo America/Indiana/Petersburg America/Indiana/Vevay "
     "America/Indiana/Vincennes America/Indiana/Winamac America/Iqaluit "
     "America/Kentucky/Louisville America/Kentucky/Monticello America/Nassau "
     "America/New_York America/Port-au-Prince America/Toronto"},
    {"AST4ADT,M3.2.0,M11.1.0",
     "America/Glace_Bay America/Goose_Bay America/Halifax America/Moncton America/Thule "
     "Atlantic/Bermuda"},
    {"CST5CDT,M3.2.0/0,M11.1.0/1", "America/Havana"},
    {"PST8PDT,M3.2.0,M11.1.0", "America/Los_Angeles America/Tijuana America/Vancouver"},
    {"<-03>3<-02>,M3.2.0,M11.1.0", "America/Miquelon"},
    {"<-02>2", "America/Noronha Atlantic/South_Georgia"},
    {"<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "America/Nuuk America/Scoresbysund"},
    {"<-04>4<-03>,M9.1.6/24,M4.1.6/24", "America/Santiago"},
    {"NST3:30NDT,M3.2.0,M11.1.0", "America/St_Johns"},
    {"<+08>-8", "Antarctica/Casey Asia/Brunei Asia/Irkutsk Asia/Kuala_Lumpur Asia/Kuching "
                "Asia/Singapore Asia/Ulaanbaatar"},
    {"<+07>-7", "Antarctica/Davis Asia/Bangkok Asia/Barnaul Asia/Ho_Chi_Minh Asia/Hovd "
                "Asia/Krasnoyarsk Asia/Novokuznetsk Asia/Novosibirsk Asia/Phnom_Penh Asia/Tomsk "
                "Asia/Vientiane Indian/Christmas"},
    {"<+10>-10", "Antarctica/DumontDUrville Asia/Ust-Nera Asia/Vladivostok Pacific/Chuuk "
                 "Pacific/Port_Moresby"},
    {"AEST-10AEDT,M10.1.0,M4.1.0/3",
     "Antarctica/Macquarie Australia/Hobart Australia/Melbourne Australia/Sydney"},
    {"<+05>-5",
     "Antarctica/Mawson Antarctica/Vostok Asia/Almaty Asia/Aqtau Asia/Aqtobe Asia/Ashgabat "
     "Asia/Atyrau Asia/Dushanbe Asia/Oral Asia/Qostanay Asia/Qyzylorda Asia/Samarkand "
     "Asia/Tashkent Asia/Yekaterinburg Indian/Kerguelen Indian/Maldives"},
    {"NZST-12NZDT,M9.5.0,M4.1.0/3", "Antarctica/McMurdo Pacific/Auckland"},
    {"<+03>-3", "Antarctica/Syowa Asia/Aden Asia/Amman Asia/Baghdad Asia/Bahrain Asia/Damascus "
                "Asia/Kuwait Asia/Qatar Asia/Riyadh Europe/Istanbul Europe/Minsk"},
    {"<+00>0<+02>-2,M3.5.0/1,M10.5.0/3", "Antarctica/Troll"},
    {"<+12>-12", "Asia/Anadyr Asia/Kamchatka Pacific/Fiji Pacific/Funafuti Pacific/Kwajalein "
                 "Pacific/Majuro Pacific/Nauru Pacific/Tarawa Pacific/Wake Pacific/Wallis"},
    {"<+04>-4", "Asia/Baku Asia/Dubai Asia/Muscat Asia/Tbilisi Asia/Yerevan Europe/Astrakhan "
                "Europe/Samara Europe/Saratov Europe/Ulyanovsk Indian/Mahe Indian/Mauritius "
                "Indian/Reunion"},
    {"EET-2EEST,M3.5.0/0,M10.5.0/0", "Asia/Beirut"},
    {"<+06>-6", "Asia/Bishkek Asia/Dhaka Asia/Omsk Asia/Thimphu Asia/Urumqi Indian/Chagos"},
    {"<+09>-9", "Asia/Chita Asia/Dili Asia/Khandyga Asia/Yakutsk Pacific/Palau"},
    {"<+0530>-5:30", "Asia/Colombo"},
    {"EET-2EEST,M3.5.0/3,M10.5.0/4",
     "Asia/Famagusta Asia/Nicosia Europe/Athens Europe/Bucharest Europe/Helsinki "
     "Europe/Kyiv Europe/Mariehamn Europe/Riga Europe/Sofia Europe/Tallinn Europe/Vilnius"},
    {"EET-2EEST,M3.4.4/50,M10.4.4/50", "Asia/Gaza Asia/Hebron"},
    {"HKT-8", "Asia/Hong_Kong"},
    {"WIB-7", "Asia/Jakarta Asia/Pontianak"},
    {"WIT-9", "Asia/Jayapura"},
    {"IST-2IDT,M3.4.4/26,M10.5.0", "Asia/Jerusalem"},
    {"<+0430>-4:30", "Asia/Kabul"},
    {"PKT-5", "Asia/Karachi"},
    {"<+0545>-5:45", "Asia/Kathmandu"},
    {"IST-5:30", "Asia/Kolkata"},
    {"CST-8", "Asia/Macau Asia/Shanghai Asia/Taipei"},
    {"<+11>-11", "Asia/Magadan Asia/Sakhalin Asia/Srednekolymsk Pacific/Bougainville Pacific/Efate "
                 "Pacific/Guadalcanal Pacific/Kosrae Pacific/Noumea Pacific/Pohnpei"},
    {"WITA-8", "Asia/Makassar"},
    {"PST-8", "Asia/Manila"},
    {"KST-9", "Asia/Pyongyang Asia/Seoul"},
    {"<+0330>-3:30", "Asia/Tehran"},
    {"JST-9", "Asia/Tokyo"},
    {"<+0630>-6:30", "Asia/Yangon Indian/Cocos"},
    {"<-01>1<+00>,M3.5.0/0,M10.5.0/1", "Atlantic/Azores"},
    {"WET0WEST,M3.5.0/1,M10.5.0", "Atlantic/Canary Atlantic/Faroe Atlantic/Madeira Europe/Lisbon"},
    {"<-01>1", "Atlantic/Cape_Verde"},
    {"ACST-9:30ACDT,M10.1.0,M4.1.0/3", "Australia/Adelaide Australia/Broken_Hill"},
    {"AEST-10", "Australia/Brisbane Australia/Lindeman"},
    {"ACST-9:30", "Australia/Darwin"},
    {"<+0845>-8:45", "Australia/Eucla"},
    {"<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "Australia/Lord_Howe"},
    {"AWST-8", "Australia/Perth"},
    {"UTC0", "Etc/UTC UTC"},
    {"EET-2EEST,M3.5.0,M10.5.0/3", "Europe/Chisinau"},
    {"IST-1GMT0,M10.5.0,M3.5.0/1", "Europe/Dublin"},
    {"GMT0BST,M3.5.0/1,M10.5.0", "Europe/Guernsey Europe/Isle_of_Man Europe/Jersey Europe/London"},
    {"MSK-3", "Europe/Kirov Europe/Moscow Europe/Simferopol Europe/Volgograd"},
    {"<+13>-13", "Pacific/Apia Pacific/Fakaofo Pacific/Kanton Pacific/Tongatapu"},
    {"<+1245>-12:45<+1345>,M9.5.0/2:45,M4.1.0/3:45", "Pacific/Chatham"},
    {"<-06>6<-05>,M9.1.6/22,M4.1.6/22", "Pacific/Easter"},
    {"<-06>6", "Pacific/Galapagos"},
    {"<-09>9", "Pacific/Gambier"},
    {"ChST-10", "Pacific/Guam Pacific/Saipan"},
    {"HST10", "Pacific/Honolulu"},
    {"<+14>-14", "Pacific/Kiritimati"},
    {"<-0930>9:30", "Pacific/Marquesas"},
    {"SST11", "Pacific/Midway Pacific/Pago_Pago"},
    {"<-11>11", "Pacific/Niue"},
    {"<+11>-11<+12>,M10.1.0,M4.1.0/3", "Pacific/Norfolk"},
    {"<-08>8", "Pacific/Pitcairn"},
    {"<-10>10", "Pacific/Rarotonga Pacific/Tahiti"},
};

const size_t lks_tz_zone_count = LKS_COUNT(lks_tz_zones);
