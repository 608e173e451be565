"""Which settings hold a secret by their name, and which values are none: ways to one, masks, flags.

The last noun of a name says what its value is: `db_password` is a password, `password_hint` a hint.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-zñ]+|\d+")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PASSWORDS = _words(
    """password passwords passwd passwort passphrase passcode pwd contraseña contrasena kennwort
    motdepasse senha wachtwoord"""
)
_SECRETS = _words("secret apikey authkey privkey dbpass keypass userpass mailpass dbpwd rootpw")
_ENDINGS = ("password", "passwd", "passphrase", "apikey", "accesskey", "secretkey", "secret")
_KEYS = _words(
    """access account api app auth client consumer crypto database db encrypt encryption hmac jwt
    license master priv private secret service session shared signing storage"""
)
"""What makes a secret of a key."""

_TOKENS = _words(
    """access api auth authentication bearer bot deploy discord github gitlab hf npm oauth personal
    pypi refresh registry secret slack telegram vault"""
)
_PASSES = _words(
    """admin auth database db email ftp http imap key ldap login mail mysql pg postgres proxy redis
    root smtp ssh ssl user"""
)
_SHORT = _words("pass pw")
"""Short for password; alone they may mean something else."""

_NAMED_SECRETS = _words(
    "ca cert certificate certs config credentials env key keys password pull ssh ssl tls token"
)
"""Words before `secret` that say what the object of a cluster holds which has this name."""

_ABOUT = _words(
    """allow ask change changed confirm create disable disabled edit empty enable enabled encrypt
    encrypted enter existing expired external forgot forgotten generate generated has hash hashed
    hide incorrect invalid is last lost mask masked max maximum min minimum mismatch missing need
    needs no prompt random recover remember repeat require required requires reset reveal rotate
    save sealed show store strong toggle update use validate verify weak without wrong"""
)
"""Words before the noun that make a question, a button or a rule of it."""

_BEHIND = _words(
    """admin backup base base64 b64 ci clear current data db default dev development hex live local
    main new old plain plaintext primary prod production qa raw root secondary stage staging string
    test testing text user value"""
)
"""Words behind the noun that say which one it is."""

_NO_VALUES = _words(
    """true false yes no on off null none nil undefined optional required enabled disabled auto
    random string str text varchar number boolean object any n/a inherit redacted masked hidden"""
)
_WEAK = _words(
    """admin changeit changeme change-me change_me demo dummy example fake foo bar insecure
    mypassword mysecret pass passwd password placeholder pwd replaceme replace-me root sample secret
    supersecret test testing token user username"""
)
_LEADS_ELSEWHERE = re.compile(
    r"""\$(?:[{(]|[A-Za-z_]\w*(?:$|[/:;.@-])|\w+\$|\$)|%[(\w]|/|\./|\.\./|~/|[A-Za-z]:\\|\{\{|\{%|<[^<>]*>$|\[[^]]*\]$|\^|inherit$
    |(?:file|vault|keyring|keychain|ssm|sops|cred|credentials|env|secretref|conjur|doppler|infisical):
    |(?:go)?pass:[\w.@-]+(?:/[\w.@-]+)+$
    |\{(?:env|file|vault|secret):|\$__\w+\{|\#\{[^{}]*\}\#?$|__[A-Z]\w*__$|@@?[A-Z]\w*@@?$
    |(?:[\w.-]+/)*secrets?/[\w./-]+$|ref\+|arn:|projects/[^/]+/secrets/|@Microsoft\.KeyVault
    |(?:process\.env|os\.environ|env|secrets|vars?|local|data|module|settings|config|self|this|lookup)
     [.(\[]
    |[a-zA-Z][\w+.-]*://(?![^\s/?\#@:]*:[^\s/?\#@]*@)""",
    re.VERBOSE | re.IGNORECASE,
)
"""How a value begins that says where the secret is, and is none."""

_CLOSED = re.compile(
    r"ENC(?:\[[^]]+\]|\([^)]+\))|encrypted:|scram-sha-\d+\$|\{(?:cipher|s?sha\d*|s?md5|crypt|bcrypt|noop|argon2|pbkdf2)\}|pgp:|enc:|(?:scrypt|pbkdf2"
    r"|argon2|bcrypt|sha\d+|md5)[:$-]|-----BEGIN (?:PGP|AGE)|age1",
    re.IGNORECASE,
)
"""How a value begins that is encrypted, or a hash."""

_DOCUMENTED = re.compile(r"[A-Za-z0-9+/]{8,}EXAMPLE(?:KEY)?")
"""Keys that the documentation of AWS made up; no other key ends so."""

_OBJECT_NAME = re.compile(r"[a-z]+(?:-[a-z0-9]+)*")
_MASK = re.compile(r"[x*•.#?_-]{3,}", re.IGNORECASE)
_SENTENCE = re.compile(r"\S+\s.*[?!.:…]|[A-Z]\w*(?: [a-z]\w*)+|[^\x00-\x7f]+")
_VERSION = re.compile(r"[~^<>=v ]*\d+(?:\.(?:\d+|x|\*))+(?:[-+.\w]*)?(?: .*)?")
_ENV_NAME = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_FILL_IN = re.compile(
    r"your[-_ ].*|.*[-_ ]here|(?:my|some|the|a|an|test|example|dummy|fake|sample|dev|local)[-_ ]?"
    r"(?:\w*[-_ ])?(?:password|secret|key|token|pass|pwd)\w*"
    r"|(?:insert|replace|change|fill|put|generate|choose|create|use|set|enter)[-_ ].*",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def kind_of_secret(name: str) -> str:
    """Return what a setting of this name holds: "password", "key", "token", or "" for no secret."""
    words = [part.lower() for part in _PART.findall(name)]
    while words and (words[-1] in _BEHIND or words[-1].isdigit()):
        words.pop()
    if not words or not _ABOUT.isdisjoint(words):
        return ""
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last in _PASSWORDS or last in _SECRETS or last.endswith(_ENDINGS):
        return "key" if last.endswith("key") else "password"
    if last in _SHORT and (before in _PASSES or len(words) == 1):
        return "password" if before else "token"
    if last == "key" and before in _KEYS:
        return "key"
    return "token" if last == "token" and before in _TOKENS else ""


def names_an_object(name: str, value: Any) -> bool:
    """Return whether a setting names the object of a cluster that holds a secret (`pullSecret`)."""
    words = [part.lower() for part in _PART.findall(name)][-2:]
    fits = len(words) == 2 and words[1] == "secret" and words[0] in _NAMED_SECRETS
    return fits and isinstance(value, str) and bool(_OBJECT_NAME.fullmatch(value))


def is_in_clear(kind: str, value: Any, *, example: bool = False) -> bool:
    """Return whether a value of such a kind is a secret itself; an `example` may have dummies."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    text = str(value).strip()
    if not isinstance(value, str):
        return kind == "password" and len(text) >= 4
    if leads_elsewhere(text) or text.lower() in _NO_VALUES or _MASK.fullmatch(text):
        return False
    if _VERSION.fullmatch(text):
        return False
    if not any(map(str.isalnum, text)) or _ENV_NAME.fullmatch(text) or _SENTENCE.fullmatch(text):
        return False
    if example and is_dummy(text):
        return False
    return kind == "password" or _is_random(kind, text)


def leads_elsewhere(value: str) -> bool:
    """Return whether a value is a way to a secret, encrypted, or too short to be one."""
    return len(value) < 2 or bool(_LEADS_ELSEWHERE.match(value) or _CLOSED.match(value))


_SAYS_SO = re.compile(
    r"not[-_ ]?(?:(?:so|a|very|really)[-_ ]?)?secret|(?:change|replace)[-_ ]?(?:it|me|this)"
    r"|placeholder"
)


def is_documented(value: str) -> bool:
    """Return whether a value is a key that the documentation of AWS shows."""
    return _DOCUMENTED.fullmatch(value) is not None


def is_dummy(value: str) -> bool:
    """Return whether a value is to be replaced: a word without a number, or one that says it."""
    if is_documented(value):
        return True
    word = value.lower()
    bare = word.rstrip("0123456789!")
    if word in _WEAK or bare in _WEAK or _FILL_IN.fullmatch(value) or _SAYS_SO.search(word):
        return True
    return len(value) <= 16 and re.fullmatch(r"[a-z]+(?:[-_ ][a-z]+)*", word) is not None


def _is_random(kind: str, text: str) -> bool:
    if any(map(str.isspace, text)):
        return False
    mixed = any(map(str.isdigit, text)) and any(map(str.isalpha, text))
    if kind == "token":
        return mixed and len(text) >= 12
    return (mixed and len(text) >= 6) or len(text) >= 16
