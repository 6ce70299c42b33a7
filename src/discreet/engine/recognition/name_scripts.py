"""Names of people in other scripts: Cyrillic and Greek letters as Latin ones, Chinese and Korean names by their family name."""

from __future__ import annotations

import re

from discreet.engine.recognition.name_rules import word_set

_CYRILLIC = {
    "а": "a", "б": "b", "в": "v", "г": "g", "д": "d", "е": "e", "ё": "e", "ж": "zh", "з": "z", "и": "i", "й": "y", "к": "k",
    "л": "l", "м": "m", "н": "n", "о": "o", "п": "p", "р": "r", "с": "s", "т": "t", "у": "u", "ф": "f", "х": "kh", "ц": "ts",
    "ч": "ch", "ш": "sh", "щ": "shch", "ъ": "", "ы": "y", "ь": "", "э": "e", "ю": "yu", "я": "ya", "і": "i", "ї": "yi",
    "є": "ye", "ґ": "g", "ў": "w",
}  # fmt: skip
_GREEK = {
    "α": "a", "β": "v", "γ": "g", "δ": "d", "ε": "e", "ζ": "z", "η": "i", "θ": "th", "ι": "i", "κ": "k", "λ": "l", "μ": "m",
    "ν": "n", "ξ": "x", "ο": "o", "π": "p", "ρ": "r", "σ": "s", "ς": "s", "τ": "t", "υ": "y", "φ": "f", "χ": "ch", "ψ": "ps",
    "ω": "o",
}  # fmt: skip
_LATIN = _CYRILLIC | _GREEK

HAN_FAMILY = frozenset(
    "王李张張刘劉陈陳杨楊黄黃赵趙吴吳周徐孙孫马馬朱胡郭何高林罗羅郑鄭梁谢謝宋唐许許韩韓冯馮邓鄧曹彭曾肖萧蕭田董袁潘于蒋蔣蔡余杜叶葉程苏蘇魏吕呂丁任沈姚卢盧"
    "姜崔钟鍾谭譚陆陸汪范金石廖贾賈夏韦韋付傅方白邹鄒孟熊秦邱江尹薛闫阎段雷侯龙龍史陶黎贺賀顾顧毛郝龚龔邵万萬钱錢严嚴"
)
"""Family names of about nine in ten people in China; they stand first."""
HAN_FAMILY_TWO = word_set(
    """
    佐藤 鈴木 高橋 田中 渡辺 伊藤 山本 中村 小林 加藤 吉田 山田 佐々 山口 松本 井上 木村 清水
    山崎 阿部 池田 橋本 山下 石川 中島 前田 藤田 小川 後藤 岡田 長谷 村上 近藤 石井 斎藤 坂本
    遠藤 青木 藤井 西村 福田 太田 三浦 藤原 松田 岡本 中川 中野 原田 小野 欧阳 司马 上官 诸葛
    """
)
"""Frequent family names of two characters, most of them Japanese."""
_HANGUL_FAMILY = frozenset(
    "김이박최정강조윤장임한오서신권황안송전홍유고문양손배백허남심노하곽성차주우구민류나진지엄채원천방공현함변염여추도소석선설마길"
)
_HAN_NAME = re.compile(r"[\u4e00-\u9fff]{2,4}")
_HANGUL_NAME = re.compile(r"[\uac00-\ud7a3]{2,4}")


def written_in_latin(text: str) -> str:
    """Small Cyrillic and Greek letters as Latin ones; everything else as it stands."""
    return text if text.isascii() else "".join(_LATIN.get(letter, letter) for letter in text)


def is_eastern_name(text: str) -> bool:
    """Whether a text is two to four Chinese characters or Korean syllables that begin with a frequent family name."""
    plain = text.strip().replace("·", "").replace(" ", "")
    if _HAN_NAME.fullmatch(plain):
        return plain[0] in HAN_FAMILY or plain[:2] in HAN_FAMILY_TWO
    return _HANGUL_NAME.fullmatch(plain) is not None and plain[0] in _HANGUL_FAMILY
