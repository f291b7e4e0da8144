"""Words of replies in the languages in which judges answer: names of a rating, words for numbers,
units, refusals. Pure data; parsing.py says how they are used."""

# Names of a rating in a form or a sentence.
RATING_NAMES = (
    *("score", "rating", "rate", "grade", "mark", "answer", "response", "result", "evaluation"),
    *("verdict", "bewertung", "wertung", "punktzahl", "note", "antwort", "évaluation", "réponse"),
    *("puntuación", "puntaje", "calificación", "nota", "respuesta", "pontuação", "avaliação"),
    *("punteggio", "voto", "valutazione", "оценка", "балл", "الدرجة", "التقييم"),
    *("评分", "得分", "分数", "打分", "评价", "评估", "答案", "評分", "評価", "評点", "点数"),
    *("得点", "スコア", "回答", "점수", "평가"),
)
# Words between a name and its rating, besides ":", "=", "|" and a dash.
COPULAS = ("is", "ist", "est", "es", "é", "è", "为", "為", "是", "は")
# The same, further after the name in a sentence.
LINKS = (
    *(
        "is",
        "was",
        "(?<!out )of",
        "at",
        "as",
        "would be",
        "should be",
        "ist",
        "liegt bei",
        "est",
        "es",
    ),
)
UNITS = (
    *("points?", "pts?", "stars?", "punkte?n?", "sterne?n?", "étoiles?", "puntos?", "estrellas?"),
    *("pontos?", "estrelas?", "点", "點", "分", "星", "점"),
)
# "4 of 5": between a rating and the highest point.
OUT_OF = ("/", "out of", "of", "von", "sur", "de", "sobre", "su", "из")
# Words that join the ends of a range, or two ratings.
TO = ("to", "bis", "à", "a", "至", "到")
AND = ("and", "und", "et", "y", "e", "和", "と")
OR = ("or", "oder", "ou", "o", "或")
# Words after a number that is a rating; before any other word it counts things ("2 sentences").
REASON_WORDS = (
    *(
        "because",
        "since",
        "as",
        r"for(?!\s*\d)",
        "in this",
        "in my",
        "based on",
        "due",
        "given",
        "overall",
        "but",
        "with",
    ),
    *("weil", "da", "denn", "car", "porque", "pois", "perché"),
)
# A capitalised word after a rating at the start of a line, without a full stop ("4 The text …").
SENTENCE_WORDS = ("The", "This", "It", "I", "My", "Reason", "Reasons", "Explanation", "Because")
# The rated object, where a sentence only says that it is a number ("The text is 4.").
RATED = ("writing", "text", "summary", "response", "output", "answer")
# Verbs of rating, before a number in the same sentence.
RATING_VERBS = (
    *("rate[ds]?", "scored", "scores", "give[ns]?", "gave", "assign(?:ed|s)?", "say"),
    *("there['’]s", "deserves?", "earns?", "receives?", "gets?", "award(?:ed|s)?"),
    *("bewerte[nt]?", "vergebe[nt]?", "gebe", "attribue", "donne", "doy", "dou"),
)
NEGATIONS = (
    *(r"\bnot\b", "n['’]t\\b", r"\bcannot\b", r"\bnever\b", r"\bunable\b", r"\bneither\b"),
    *(r"\bno\b", r"\bnicht\b", r"\bkeine?n?\b", r"\bpas\b", r"\bnão\b", "不", "無法", "无法"),
    *("没", "ない", "ません"),
)
# Before a number in its sentence, these say what a rating can be, not what it is.
POSSIBLE = (
    *(
        "minimum",
        "maximum",
        "highest",
        "lowest",
        "at least",
        "at most",
        "provided score",
        "to achieve",
        "only available",
    ),
    *("mindestens", "höchstens", "最高", "最低"),
)
NUMBER_WORDS = {
    word: number
    for words in (
        "zero one two three four five six seven eight nine ten",
        "null eins zwei drei vier fünf sechs sieben acht neun zehn",
        "zéro un deux trois quatre cinq six sept huit neuf dix",
        "cero uno dos tres cuatro cinco seis siete ocho nueve diez",
        "zero um dois três quatro cinco seis sete oito nove dez",
        "零 一 二 三 四 五 六 七 八 九 十",
    )
    for number, word in enumerate(words.split())
}
REFUSALS = (
    "I['’]?m sorry",
    "I am sorry",
    "I apologi[sz]e",
    "I (?:can(?:no|['’])t|won['’]t|am unable to|am not able to)",
    r"as an AI\b",
    "unable to (?:assist|comply|help|rate|evaluate)",
    "tut mir leid",
    "ich bedauere",
    "kann (?:ich |das |den |die |diesen |diese |dieses |hier |leider ){0,4}[^.\\n]{0,40}nicht",
    r"als KI\b",
    "je (?:suis|regrette)[^.\\n]{0,10}désolée?",
    "je ne (?:peux|suis)",
    "lo siento",
    "no puedo",
    "desculpe",
    "não posso",
    "抱歉",
    "对不起",
    "對不起",
    "无法",
    "無法",
    "不能评",
    "作为(?:一个|一名)?(?:AI|人工智能)",
    "申し訳",
    "できません",
    "できかねます",
    "죄송",
)
