"""The formats of keys that can be recognised by themselves, as the providers that issue them document them.

Each expression matches the whole key, or the secret part of the match is the group `secret`. That no letter stands
before the key is for the caller to check: expressions that begin with literal characters are searched faster.
"""

import re

_END = r"(?![A-Za-z0-9_-])"

KEY_FORMATS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "private key",  # also without its end, as when somebody copied a part
        re.compile(
            r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----)){0,20000}"
            r"(?:-----END [A-Z0-9 ]{0,40}-----)?"
        ),
    ),
    ("Dossier API key", re.compile(r"dsr_[A-Za-z0-9_-]{8}_[A-Za-z0-9_-]{43}" + _END)),
    ("AWS access key", re.compile(r"(?:A3T[A-Z0-9]|ABIA|ACCA|AKIA|ASIA)(?!X{8})[A-Z0-9]{16}" + _END)),
    ("GitHub token", re.compile(r"(?:gh[pousr]_[A-Za-z0-9]{36,251}|github_pat_[A-Za-z0-9_]{22,255})" + _END)),
    (
        "GitLab token",
        re.compile(r"(?:gl(?:pat|dt|ft|soat|rt|cbt|imt|ptt|agent)-|GR1348941)[A-Za-z0-9_.-]{20,1024}" + _END),
    ),
    ("Slack token", re.compile(r"xox[abeoprs]-(?=[A-Za-z-]*\d)[A-Za-z0-9-]{10,250}|xapp-\d-[A-Za-z0-9-]{10,250}")),
    (
        "Slack webhook address",
        re.compile(r"https://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9_/]{20,200}", re.IGNORECASE),
    ),
    (
        "Discord webhook address",
        re.compile(r"https://discord(?:app)?\.com/api/webhooks/\d{17,20}/[A-Za-z0-9_-]{60,80}"),
    ),
    ("Discord token", re.compile(r"[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}" + _END)),
    ("Stripe key", re.compile(r"(?:[rs]k_(?:live|test)|whsec)_[A-Za-z0-9]{24,247}" + _END)),
    ("Square key", re.compile(r"(?:sq0csp-[A-Za-z0-9_-]{43}|sq0atp-[A-Za-z0-9_-]{22}|EAAA[A-Za-z0-9_-]{60})" + _END)),
    ("Anthropic key", re.compile(r"sk-ant-[A-Za-z0-9_-]{24,200}")),
    ("OpenAI key", re.compile(r"sk-(?!ant-)(?:[A-Za-z]+-)?(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{32,250}")),
    ("Google API key", re.compile(r"AIza[A-Za-z0-9_-]{35}" + _END)),
    ("Google OAuth secret", re.compile(r"GOCSPX-[A-Za-z0-9_-]{28}" + _END)),
    ("Hugging Face token", re.compile(r"hf_[A-Za-z0-9]{30,50}" + _END)),
    ("npm token", re.compile(r"npm_[A-Za-z0-9]{36}" + _END)),
    ("PyPI token", re.compile(r"pypi-AgE[A-Za-z0-9_-]{50,500}")),
    ("SendGrid key", re.compile(r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}" + _END)),
    ("Twilio key", re.compile(r"SK[0-9a-f]{32}" + _END)),
    ("Mailchimp key", re.compile(r"[0-9a-f]{32}-us\d{1,2}" + _END)),
    ("Mailgun key", re.compile(r"key-[0-9a-f]{32}" + _END)),
    ("Linear key", re.compile(r"lin_(?:api|oauth)_[A-Za-z0-9]{32,64}" + _END)),
    ("Notion token", re.compile(r"ntn_[A-Za-z0-9]{40,60}" + _END)),
    ("Postman key", re.compile(r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}" + _END)),
    ("Grafana token", re.compile(r"gl(?:sa|c)_[A-Za-z0-9_]{32,200}={0,2}")),
    ("Vault token", re.compile(r"hv[sbr]\.[A-Za-z0-9_-]{24,300}")),
    ("Telegram bot token", re.compile(r"(?:bot)?(?P<secret>\d{8,10}:AA[A-Za-z0-9_-]{33})" + _END)),
    ("Azure storage key", re.compile(r"AccountKey=(?P<secret>[A-Za-z0-9+/]{86}==)")),
    ("DigitalOcean token", re.compile(r"do[opr]_v1_[0-9a-f]{64}" + _END)),
    ("Shopify token", re.compile(r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}" + _END)),
    ("JSON Web Token", re.compile(r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,}" + _END)),
)
