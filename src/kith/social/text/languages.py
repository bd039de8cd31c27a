"""Languages posts are written in, by their ISO 639 codes, perhaps with a region."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kith.base.errors import Complaint

_CODE = re.compile(r"(?P<code>[a-z]{2,3})(?:-[A-Za-z]{2,4})?\Z")
MOST_CHOSEN = 200  # more than there are here; with their regions there are a hundred times as many

# Two letters where there are two, and the few with three that people here post in.
NAMES = {
    "aa": "Afar", "ab": "Abkhaz", "af": "Afrikaans", "ak": "Akan", "am": "Amharic", "an": "Aragonese",
    "ar": "Arabic", "as": "Assamese", "ast": "Asturian", "av": "Avaric", "ay": "Aymara", "az": "Azerbaijani",
    "ba": "Bashkir", "be": "Belarusian", "bg": "Bulgarian", "bi": "Bislama", "bm": "Bambara", "bn": "Bengali",
    "bo": "Tibetan", "br": "Breton", "bs": "Bosnian", "ca": "Catalan", "ce": "Chechen", "ch": "Chamorro",
    "ckb": "Sorani Kurdish", "co": "Corsican", "cr": "Cree", "cs": "Czech", "csb": "Kashubian", "cv": "Chuvash",
    "cy": "Welsh", "da": "Danish", "de": "German", "dv": "Divehi", "dz": "Dzongkha", "ee": "Ewe", "el": "Greek",
    "en": "English", "eo": "Esperanto", "es": "Spanish", "et": "Estonian", "eu": "Basque", "fa": "Persian",
    "ff": "Fula", "fi": "Finnish", "fil": "Filipino", "fj": "Fijian", "fo": "Faroese", "fr": "French",
    "frs": "East Frisian", "fy": "Western Frisian", "ga": "Irish", "gd": "Scottish Gaelic", "gl": "Galician",
    "gsw": "Swiss German", "gu": "Gujarati", "gv": "Manx", "ha": "Hausa", "he": "Hebrew", "hi": "Hindi",
    "hr": "Croatian", "hsb": "Upper Sorbian", "ht": "Haitian", "hu": "Hungarian", "hy": "Armenian",
    "ia": "Interlingua", "id": "Indonesian", "ig": "Igbo", "io": "Ido", "is": "Icelandic", "it": "Italian",
    "iu": "Inuktitut", "ja": "Japanese", "jbo": "Lojban", "jv": "Javanese", "ka": "Georgian", "kab": "Kabyle",
    "kk": "Kazakh", "kl": "Kalaallisut", "km": "Khmer", "kn": "Kannada", "ko": "Korean", "ku": "Kurmanji Kurdish",
    "kw": "Cornish", "ky": "Kyrgyz", "la": "Latin", "lb": "Luxembourgish", "lg": "Ganda", "li": "Limburgish",
    "ln": "Lingala", "lo": "Lao", "lt": "Lithuanian", "lv": "Latvian", "mg": "Malagasy", "mi": "Māori",
    "mk": "Macedonian", "ml": "Malayalam", "mn": "Mongolian", "mr": "Marathi", "ms": "Malay", "mt": "Maltese",
    "my": "Burmese", "nb": "Norwegian Bokmål", "nds": "Low German", "ne": "Nepali", "nl": "Dutch",
    "nn": "Norwegian Nynorsk", "no": "Norwegian", "nv": "Navajo", "oc": "Occitan", "om": "Oromo", "or": "Oriya",
    "os": "Ossetian", "pa": "Punjabi", "pl": "Polish", "ps": "Pashto", "pt": "Portuguese", "qu": "Quechua",
    "rm": "Romansh", "ro": "Romanian", "ru": "Russian", "rw": "Kinyarwanda", "sa": "Sanskrit", "sc": "Sardinian",
    "sco": "Scots", "sd": "Sindhi", "se": "Northern Sami", "si": "Sinhala", "sk": "Slovak", "sl": "Slovenian",
    "sm": "Samoan", "sn": "Shona", "so": "Somali", "sq": "Albanian", "sr": "Serbian", "st": "Southern Sotho",
    "su": "Sundanese", "sv": "Swedish", "sw": "Swahili", "szl": "Silesian", "ta": "Tamil", "te": "Telugu",
    "tg": "Tajik", "th": "Thai", "ti": "Tigrinya", "tk": "Turkmen", "tl": "Tagalog", "tn": "Tswana", "to": "Tonga",
    "tok": "Toki Pona", "tr": "Turkish", "tt": "Tatar", "ug": "Uyghur", "uk": "Ukrainian", "ur": "Urdu",
    "uz": "Uzbek", "vai": "Vai", "vi": "Vietnamese", "wa": "Walloon", "wo": "Wolof", "xh": "Xhosa", "yi": "Yiddish",
    "yo": "Yoruba", "yue": "Cantonese", "zgh": "Standard Moroccan Tamazight", "zh": "Chinese", "zu": "Zulu",
}  # fmt: skip


def complaint_about(codes: Sequence[str]) -> Complaint | None:
    """What is wrong with languages that somebody has chosen."""
    if len(codes) > MOST_CHOSEN:
        return Complaint(f"has too many entries (maximum is {MOST_CHOSEN})", "too_many")
    return None if all(map(is_language, codes)) else Complaint("is not a language we know", "inclusion")


def is_language(code: str) -> bool:
    match = _CODE.match(code)
    return match is not None and match["code"] in NAMES
