//! Token shapes: prefix, byte set and length.
//!
//! The formats are published by the services.

/// Hex digits.
pub(super) const HEX: u8 = 1;
/// Digits and letters.
pub(super) const ALNUM: u8 = 2;
/// [`ALNUM`], `-` and `_`.
pub(super) const URL: u8 = 3;
/// [`URL`] and `.`.
pub(super) const DOTTED: u8 = 4;
/// Digits, letters, `+`, `/` and `=`.
pub(super) const BASE64: u8 = 5;
/// Digits and capital letters.
pub(super) const UPPER: u8 = 6;
/// [`DOTTED`], [`BASE64`], `~` and `%`.
pub(super) const ANY: u8 = 7;

/// The format of a kind of token.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    /// The prefix, case-sensitive. A row of the table may have several, separated by spaces.
    pub(super) prefix: &'static str,
    /// The set of bytes after the prefix.
    pub(super) set: u8,
    /// The minimum and maximum number of bytes after the prefix.
    pub(super) min: usize,
    pub(super) max: usize,
    pub(super) kind: &'static str,
}

const fn shape(prefix: &'static str, set: u8, min: usize, max: usize, kind: &'static str) -> Shape {
    Shape { prefix, set, min, max, kind }
}

/// Every shape with each of its prefixes, in the order in which they are tried.
pub(super) fn shapes() -> impl Iterator<Item = Shape> {
    SHAPES.iter().flat_map(|shape| shape.prefix.split(' ').map(|prefix| Shape { prefix, ..*shape }))
}

/// The maximum length of tokens that have no maximum of their own.
const MAX_TOKEN: usize = 4 << 10;

const SHAPES: &[Shape] = &[
    shape("AKIA ASIA ABIA ACCA", UPPER, 16, 16, "aws_key"),
    shape("ABSK", BASE64, 100, MAX_TOKEN, "aws_key"),
    shape("ghp_ gho_ ghu_ ghs_ ghr_", ALNUM, 36, MAX_TOKEN, "github_token"),
    shape("github_pat_", URL, 22, MAX_TOKEN, "github_token"),
    shape(
        "glpat- gldt- glrt- glptt- glcbt- glft- glsoat- glimt- GR1348941",
        URL,
        20,
        MAX_TOKEN,
        "gitlab_token",
    ),
    shape("glagent- gloas-", URL, 40, MAX_TOKEN, "gitlab_token"),
    shape("xoxb- xoxp- xoxa- xoxe- xoxr- xoxs- xoxc-", URL, 15, MAX_TOKEN, "slack_token"),
    shape("xoxe.", DOTTED, 20, MAX_TOKEN, "slack_token"),
    shape("xoxd-", ANY, 20, MAX_TOKEN, "slack_token"),
    shape("xapp-", URL, 20, MAX_TOKEN, "slack_token"),
    shape("sk- tvly-", URL, 20, MAX_TOKEN, "api_key"),
    shape("AIza", URL, 35, MAX_TOKEN, "google_key"),
    shape("ya29.", DOTTED, 20, MAX_TOKEN, "google_token"),
    shape("GOCSPX-", URL, 28, MAX_TOKEN, "google_key"),
    shape("sk_live_ sk_test_ rk_live_ rk_test_", ALNUM, 16, MAX_TOKEN, "stripe_key"),
    shape("whsec_", BASE64, 24, MAX_TOKEN, "webhook"),
    shape("npm_", ALNUM, 36, MAX_TOKEN, "npm_token"),
    shape("pypi-", URL, 50, MAX_TOKEN, "pypi_token"),
    shape("cio", ALNUM, 32, 32, "crates_io_token"),
    shape("rubygems_", HEX, 48, 48, "api_key"),
    shape("dckr_pat_ dckr_oat_", URL, 20, MAX_TOKEN, "docker_token"),
    shape("hf_ api_org_", ALNUM, 30, MAX_TOKEN, "api_key"),
    shape("gsk_ pplx- phc_ phx_", ALNUM, 40, MAX_TOKEN, "api_key"),
    shape("xai-", ALNUM, 60, MAX_TOKEN, "api_key"),
    shape("r8_", ALNUM, 37, 40, "api_key"),
    shape("fw_", ALNUM, 24, 24, "api_key"),
    shape("nvapi-", URL, 60, MAX_TOKEN, "api_key"),
    shape("lsv2_ jina_ duffel_", URL, 40, MAX_TOKEN, "api_key"),
    shape("e2b_ shippo_live_ shippo_test_", HEX, 40, 40, "api_key"),
    shape("fal_ mdb_sa_sk_", URL, 30, MAX_TOKEN, "api_key"),
    shape("shpat_ shpca_ shppa_ shpss_ shptka_", HEX, 32, 32, "shopify_token"),
    shape("dop_v1_ doo_v1_ dor_v1_", HEX, 64, 64, "digitalocean_token"),
    shape("ATATT ATCTT", ANY, 60, MAX_TOKEN, "atlassian_token"),
    shape("ATBB", ALNUM, 24, 40, "atlassian_token"),
    shape("BBDC-", BASE64, 30, MAX_TOKEN, "atlassian_token"),
    shape("dapi", HEX, 32, 34, "databricks_token"),
    shape("hvs. hvb. hvr.", URL, 20, MAX_TOKEN, "vault_token"),
    shape("dp.pt. dp.ct. dp.sa. dp.scim.", ALNUM, 40, MAX_TOKEN, "doppler_token"),
    shape("dp.st.", DOTTED, 40, MAX_TOKEN, "doppler_token"),
    shape("lin_api_ lin_oauth_", ALNUM, 32, MAX_TOKEN, "linear_token"),
    shape("secret_", ALNUM, 43, 43, "notion_token"),
    shape("ntn_", ALNUM, 40, MAX_TOKEN, "notion_token"),
    shape("figd_ figu_", URL, 36, MAX_TOKEN, "figma_token"),
    shape("glsa_", URL, 32, MAX_TOKEN, "grafana_token"),
    shape("glc_", BASE64, 32, MAX_TOKEN, "grafana_token"),
    shape("NRAK- NRAL-", ALNUM, 27, MAX_TOKEN, "new_relic_key"),
    shape("NRII-", URL, 32, MAX_TOKEN, "new_relic_key"),
    shape("NRJS-", HEX, 19, 19, "new_relic_key"),
    shape("NRRA-", HEX, 42, 42, "new_relic_key"),
    shape("sntrys_", ANY, 40, MAX_TOKEN, "sentry_token"),
    shape("sntryu_", HEX, 64, 64, "sentry_token"),
    shape("v1.0-", URL, 120, MAX_TOKEN, "cloudflare_token"),
    shape("cfut_ cfat_", ALNUM, 40, MAX_TOKEN, "cloudflare_token"),
    shape("EAAA", URL, 56, 80, "square_token"),
    shape("sq0atp-", URL, 22, MAX_TOKEN, "square_token"),
    shape("sq0csp-", URL, 40, MAX_TOKEN, "square_token"),
    shape("EAA", ALNUM, 100, MAX_TOKEN, "facebook_token"),
    shape("pscale_tkn_ pscale_pw_ pscale_oauth_", DOTTED, 30, MAX_TOKEN, "planetscale_token"),
    shape("sbp_", ALNUM, 40, MAX_TOKEN, "supabase_token"),
    shape("sb_secret_", URL, 20, MAX_TOKEN, "supabase_token"),
    shape("PMAK-", URL, 50, MAX_TOKEN, "postman_key"),
    shape("pul-", HEX, 40, 40, "pulumi_token"),
    shape("tskey-", URL, 20, MAX_TOKEN, "tailscale_key"),
    shape("SG.", DOTTED, 40, MAX_TOKEN, "sendgrid_key"),
    shape("xkeysib- xsmtpsib-", URL, 60, MAX_TOKEN, "sendinblue_key"),
    shape("key-", HEX, 32, 32, "mailgun_key"),
    shape("SK", HEX, 32, 32, "twilio_key"),
    shape("HRKU-", URL, 36, MAX_TOKEN, "heroku_key"),
    shape("FLWSECK_TEST- FLWSECK-", HEX, 32, MAX_TOKEN, "api_key"),
    shape("pat-na1- pat-eu1-", HEX, 36, 36, "hubspot_token"),
    shape("pat", DOTTED, 79, 79, "airtable_token"),
    shape("CFPAT-", URL, 40, MAX_TOKEN, "contentful_token"),
    shape("ops_eyJ", ANY, 200, MAX_TOKEN, "onepassword_token"),
    shape("AGE-SECRET-KEY-", UPPER, 50, 70, "age_key"),
    shape("AGE-PLUGIN-", URL, 40, MAX_TOKEN, "age_key"),
    shape("nfp_ nfc_", ALNUM, 36, MAX_TOKEN, "netlify_token"),
    shape("vcp_ vck_", ALNUM, 40, MAX_TOKEN, "vercel_token"),
    shape("fo1_", URL, 40, MAX_TOKEN, "fly_token"),
    shape("fm1r_ fm2_", BASE64, 60, MAX_TOKEN, "fly_token"),
    shape("rnd_", ALNUM, 28, MAX_TOKEN, "render_token"),
    shape("CCIPAT_", URL, 40, MAX_TOKEN, "circleci_token"),
    shape("bkua_", HEX, 40, 40, "buildkite_token"),
    shape("sgp_", URL, 40, MAX_TOKEN, "sourcegraph_token"),
    shape("slk_", HEX, 64, 64, "sourcegraph_token"),
    shape("squ_ sqp_ sqa_", HEX, 40, 40, "sonar_token"),
    shape("snyk_", URL, 36, MAX_TOKEN, "snyk_token"),
    shape("AKCp", ALNUM, 69, 80, "artifactory_key"),
    shape("cmVmdGtu", ALNUM, 56, MAX_TOKEN, "artifactory_key"),
    shape("CLOJARS_", ALNUM, 60, 60, "api_key"),
    shape("oy2", ALNUM, 43, 43, "nuget_key"),
    shape("API-", UPPER, 26, 30, "octopus_key"),
    shape("pnu_", ALNUM, 36, 36, "prefect_key"),
    shape("rdme_", ALNUM, 70, 70, "readme_key"),
    shape("ico-", ALNUM, 32, 32, "infracost_key"),
    shape("dt0c01. dt0s01.", DOTTED, 80, MAX_TOKEN, "dynatrace_token"),
    shape("EZAK EZTK", ALNUM, 54, 54, "easypost_key"),
    shape("fio-u-", URL, 60, 64, "api_key"),
    shape("sdk- mob-", HEX, 36, 36, "launchdarkly_key"),
    shape("sm_sat_", ALNUM, 16, MAX_TOKEN, "api_key"),
    shape("tfp_", URL, 40, MAX_TOKEN, "typeform_token"),
    shape("cog_", ALNUM, 32, MAX_TOKEN, "api_key"),
    shape("re_", URL, 24, 40, "resend_key"),
    shape("live_", ALNUM, 35, 60, "api_key"),
    shape("test_", ALNUM, 35, 35, "api_key"),
    shape("access-production- access-sandbox-", HEX, 36, 36, "plaid_token"),
    shape("ATTA", ALNUM, 64, 80, "trello_token"),
    shape("pk.eyJ sk.eyJ", DOTTED, 40, MAX_TOKEN, "mapbox_token"),
    shape("LTAI", ALNUM, 16, 26, "alibaba_key"),
    shape("AKID", ALNUM, 28, 36, "tencent_key"),
    shape("YCA", URL, 36, 36, "yandex_key"),
    shape("AQVN", URL, 35, 38, "yandex_key"),
    shape("t1.", DOTTED, 80, MAX_TOKEN, "yandex_token"),
    shape("y0_", URL, 40, MAX_TOKEN, "yandex_token"),
    shape("SWMTKN-1-", URL, 60, MAX_TOKEN, "docker_token"),
    shape("xprv9 xprvA yprvA zprvA tprv8", ALNUM, 90, 120, "wallet_key"),
];
