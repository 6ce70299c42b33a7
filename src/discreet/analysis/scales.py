"""Ordered scales of words, from the lowest step to the highest: commas separate steps, bars separate names of the same step."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    """One ordered scale."""

    name: str
    steps: str
    least: int = 3
    """How many of its steps a column must have to be recognised as this scale."""


SCALES = (
    Scale("low to high", """
        none|nothing|zero, very low|sehr niedrig|tres faible|muy bajo,
        low|niedrig|gering|faible|bajo|baja|basso|laag|matala|lag|lav,
        medium|med|moderate|mid|middle|mittel|moyen|medio|media|gemiddeld|keski|normal|average,
        high|hoch|eleve|alto|alta|hoog|korkea|hog|hoy, very high|sehr hoch|tres eleve|muy alto""", 2),
    Scale("agreement", """
        strongly disagree|totally disagree|stimme gar nicht zu|pas du tout d accord|muy en desacuerdo,
        disagree|stimme nicht zu|pas d accord|en desacuerdo, somewhat disagree|slightly disagree|stimme eher nicht
        zu, neutral|neither agree nor disagree|undecided|teils teils|neither, somewhat agree|slightly agree|stimme
        eher zu, agree|stimme zu|d accord|de acuerdo, strongly agree|totally agree|stimme voll zu|tout a fait d
        accord|muy de acuerdo"""),
    Scale("frequency", """
        never|nie|jamais|nunca|mai|nooit|ei koskaan|aldrig, almost never,
        rarely|seldom|selten|rarement|raramente|zelden|harvoin, sometimes|occasionally|manchmal|parfois|a veces|a
        volte|soms|joskus|ibland, often|frequently|usually|oft|souvent|a menudo|spesso|vaak|usein, almost always,
        always|immer|toujours|siempre|sempre|altijd|aina|alltid"""),
    Scale("satisfaction", """
        very dissatisfied|sehr unzufrieden, dissatisfied|unzufrieden, neutral|neither|neither satisfied nor
        dissatisfied, satisfied|zufrieden, very satisfied|sehr zufrieden"""),
    Scale("quality", """
        very poor|very bad|sehr schlecht, poor|bad|schlecht|mauvais|malo, fair|so so|acceptable|regular,
        good|gut|bon|bueno, very good|sehr gut|tres bon|muy bueno, excellent|ausgezeichnet|excelente"""),
    Scale("severity", """
        none|no, minimal, mild|minor|leicht|leger|leve, moderate|mittel|modere|moderado,
        severe|major|schwer|grave, critical|extreme, fatal|death"""),
    Scale("size", """
        xxs, xs|extra small, s|small|klein|petit|pequeno|piccolo, m|medium|mittel|moyen|mediano|medio,
        l|large|gross|grand|grande, xl|extra large, xxl, xxxl"""),
    Scale("importance", """
        not important|unimportant, slightly important, moderately important|somewhat important, important, very
        important, extremely important"""),
    Scale("stage", """
        0|stage 0, i|stage i|stage 1, ii|stage ii|stage 2, iii|stage iii|stage 3, iv|stage iv|stage 4, v|stage v"""),
    Scale("age of life", """
        newborn|neonate, infant|baby, toddler, child|kind|enfant, teen|teenager|adolescent|youth, young adult,
        adult, middle aged, senior|elderly|older adult"""),
    Scale("school marks", """
        f, e, d-, d, d+, c-, c, c+, b-, b, b+, a-, a, a+""", 5),
    Scale("months", """
        jan|january|januar|janvier|enero|gennaio|tammikuu, feb|february|februar|fevrier|febrero|febbraio|helmikuu,
        mar|march|marz|maerz|mars|marzo|maaliskuu, apr|april|avril|abril|aprile|huhtikuu,
        may|mai|mayo|maggio|toukokuu|maj, jun|june|juni|juin|junio|giugno|kesakuu,
        jul|july|juli|juillet|julio|luglio|heinakuu, aug|august|aout|agosto|elokuu,
        sep|sept|september|septembre|septiembre|settembre|syyskuu,
        oct|okt|october|oktober|octobre|octubre|ottobre|lokakuu, nov|november|novembre|noviembre|marraskuu,
        dec|dez|december|dezember|decembre|diciembre|dicembre|joulukuu"""),
    Scale("weekdays", """
        mon|monday|mo|montag|lundi|lunes|lunedi|maanantai,
        tue|tues|tuesday|di|dienstag|mardi|martes|martedi|tiistai,
        wed|wednesday|mi|mittwoch|mercredi|miercoles|mercoledi|keskiviikko,
        thu|thur|thurs|thursday|do|donnerstag|jeudi|jueves|giovedi|torstai,
        fri|friday|fr|freitag|vendredi|viernes|venerdi|perjantai,
        sat|saturday|sa|samstag|samedi|sabado|sabato|lauantai,
        sun|sunday|so|sonntag|dimanche|domingo|domenica|sunnuntai"""),
    Scale("schooling", """
        children|no schooling|none|no formal education|illiterate|less than 1st grade|ohne abschluss,
        preschool|kindergarten|pre school, 1st 4th|1st 2nd 3rd or 4th grade|1st grade, 5th 6th|5th or 6th
        grade|primary|primary school|elementary|elementary school|grundschule|primaire|primaria, 7th 8th|7th and
        8th grade|7th or 8th grade|middle school, 9th|9th grade|lower secondary|hauptschule, 10th|10th
        grade|realschule|secondary i, 11th|11th grade|less than high school|some high school, 12th|12th grade|12th
        grade no diploma, hs grad|high school|high school graduate|high school grad|hs|ged|secondary|upper
        secondary|secondary school|abitur|baccalaureat|bac|secundaria|bachillerato, some college|some college but
        no degree|some university|postsecondary, assoc voc|associates degree occup
        /vocational|vocational|vocational training|trade school|ausbildung|lehre, assoc acdm|associates degree
        academic program|associate|associates|associate degree|associate s degree,
        college|university|tertiary|hochschule|universidad|college graduate, bachelors|bachelor|bachelor
        s|bachelor s degree|bachelors degree|bachelors degree ba ab
        bs|ba|bs|bsc|licence|licenciatura|undergraduate, masters|master|master s|master s degree|masters
        degree|masters degree ma ms meng med msw mba|ma|ms|msc|mba|diplom|magister|graduate|postgraduate, prof
        school|professional|professional degree|prof school degree md dds dvm llb jd|md|jd,
        doctorate|phd|doctoral|doctorate degree phd edd|doctor|promotion|doctorat"""),
)  # fmt: skip
