"""Words of replies in the languages in which judges answer: names of a rating, words for numbers,
units, subjects, negations, refusals. Pure data; the modules that read replies say how they are
used."""


def words_in(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Names of a rating in a form or a sentence.
RATING_NAMES = words_in(
    "score scores rating ratings rate rated grade mark answer response result evaluation verdict"
    " level judgement judgment assessment output value choice decision winner preference preferred"
    " label category class classification"
    " bewertung wertung gesamtbewertung endbewertung gesamtnote endnote punktzahl note antwort"
    " ergebnis urteil évaluation réponse notation puntuación puntaje calificación nota respuesta"
    " valoración pontuação avaliação punteggio voto valutazione giudizio оценка балл рейтинг"
    " الدرجة التقييم النتيجة beoordeling cijfer ocena puan 评分 得分 分数 打分 评价 评估 答案 結果"
    " 结果 评级 評分 評価 評点 点数 得点 スコア 回答 점수 평가 평점"
)
# Names that count where nothing has a closer one: a form may end with more than one criterion.
OVERALL = words_in(
    "overall total gesamt insgesamt globale general geral complessivo общая итог المجموع 总分"
    " 总体 综合 总评 總分 総合 총점 종합"
)
# Words that begin a conclusion, alone before a rating ("However: 3").
LEADS = words_in(
    "final finally therefore thus hence so however conclusion correction then instead"
    " conclusively also daher deshalb fazit donc enfin finale finalement conclusión por tanto"
    " conclusão quindi dunque итого 最终 最終 因此 所以 최종"
)
# Words that change nothing about what a name beside them means.
FILLERS = words_in(
    "the these its am was for on in to from would will can must should have it's that's there's"
    " with and based but yet has provided which case here below above following single single-"
    " number numeric numerical criterion metric metrics according all considering everything"
    " consideration taking into account personally sum now lui dem ihm summary's text's better"
    " option model's solid strong clear firm mostly good high low fair decent well weak mean die"
    " der das den des diese dieser dieses eine einen ein mit für von le la les l du de ce cette"
    " une un pour el los las este esta una con para o os da dos um uma il lo questo questa per di"
    " del della итоговая итоговый этот этого текста هو هي هذا النص 我的 的 本 该 文 这篇 这个"
    " 这篇文章 此 本文 会 会给出 の が を に この です 로 은 는 이 가 의 글 글의"
)
# Verbs of rating; between a subject and its rating.
RATING_VERBS = words_in(
    "rates scored give gives giving given assign assigned say put call earn receive get award"
    " awarded pick choose select go settle conclude consider assess evaluate evaluated judge think"
    " believe find prefer judged estimate würde bewerten vergeben geben halte attribue"
    " attribuerais donne donnerais mets noterais оценил бы ставил поставил заслуживает 给 給 给出"
    " 打 打出 评 つけます 付けます 드립니다 줍니다 주겠습니다"
)
# Verbs that only the judge is the subject of, in languages that leave out the pronoun.
FIRST_PERSON = words_in(
    "doy daría otorgo asigno dou daria atribuo do darei assegno attribuisco bewerte vergebe gebe"
    " оцениваю ставлю поставлю أعطي أمنح j'attribue"
)
JUDGE = words_in(
    "i i'd i'll i'm we we'd my our me us ich wir meine mein meiner je j nous ma mon yo mi eu"
    " minha meu io mia mio я мы моя мой أنا 我 本人 我们 私 僕 저는 나는 제"
)
# The same where it follows the rating.
VERBS_AFTER = (
    *("をつけ", "つけ", "を付け", "とします", "を与え", "줍니다", "주겠", "드립", "vergeben"),
    *("geben",),
)
# The rated object, where a sentence is about it.
RATED = words_in(
    "it this that writing text summary response output answer reply story dialogue conversation"
    " translation essay passage assistant zusammenfassung texte résumé texto resumen resumo testo"
    " riassunto текст 文章 文本 摘要 要約"
)
# Verbs by which a rated object has its rating; `it` and `this` may also be a rating.
OBJECT_VERBS = words_in(
    "is deserves deserve earns receives gets scores merits warrants ist verdient est mérite"
    " es merece é è merita"
)
# Between a rating's name and the rating in a sentence.
LINKS = words_in("is of at as a an be ist liegt est es é è là 是 为 為 は — rated scored")
# Copulas that join a name and its rating without any other sign.
COPULAS = ("is", "be", "ist", "est", "es", "é", "è", "为", "為", "是", "は", "는", "은")
UNITS = (
    *("points?", "pts?", "stars?", "punkte?n?", "sterne?n?", "étoiles?", "puntos?", "estrellas?"),
    *("pontos?", "estrelas?", "punti", "балл(?:а|ов)?", "点", "點", "分", "星", "점", "★", "⭐"),
)
# "4 of 5": between a rating and the highest point.
OUT_OF = ("/", "out of", "of", "von", "sur", "de", "sobre", "su", "из", "من")
# The highest point before a rating ("满分5分", "5点満点中", "5점 만점에").
TOP_FIRST = (
    r"(?:总分|總分|满分|滿分|満点)(?:为|是)?{top}[分点點]?(?:のうち|中)?",
    r"{top}点(?:満点)?(?:中|のうち|で)",
    r"{top}점 ?만점(?:에|중)?",
)
# Words that join the ends of a range, or two ratings.
TO = ("to", "bis", "à", "a", "至", "到")
AND = ("and", "und", "et", "y", "e", "和", "と")
OR = ("or", "oder", "ou", "o", "maybe", "then", "vs", "或")
# Words after a number that is a rating; before any other word it counts things ("2 sentences").
REASON_WORDS = (
    *("because", "since", "as", r"for(?!\s*\d)", "in this", "in my", "based on", "due", "given"),
    *("overall", "but", "with", "from me", "weil", "da", "denn", "car", "porque", "pois"),
    *("perché", "vergeben", "geben", "です", "だ", "입니다", "이다", "つけます", "をつけ"),
    *(r"(?:is|are) (?:my|the) (?:final |overall )?(?:rating|score|answer)", "is appropriate"),
    *("seems? (?:fair|right|appropriate)", "is (?:fair|right|warranted)", "が妥当"),
)
# A capitalised word after a rating at the start of a line, without a full stop ("4 The text …").
SENTENCE_WORDS = ("The", "This", "It", "I", "My", "Reason", "Reasons", "Explanation", "Because")
NEGATIONS = (
    *(r"\bnot\b", "n['’]t\\b", r"\bcannot\b", r"\bnever\b", r"\bunable\b", r"\bneither\b"),
    *(r"\bno\b(?!,)", r"\bnicht\b", r"\bkeine?n?\b", r"\bpas\b", r"\bnão\b", r"\bnon\b"),
    *(r"\bне\b", r"\bнет\b", "لا ", "لن ", "不", "無法", "无法", "没", "ない", "ません", "없"),
    *("few(?:er)? than", "other than", "instead of", "rather than", r"\bminus\b"),
)
# Before a number in its clause, these say what a rating can be, what it is not yet, or whose else
# it is.
POSSIBLE = (
    *("minimum", "maximum", "highest", "lowest", "at least", "at most", "provided score"),
    *("to achieve", r"\b(?:over|under|above|below)\s(?:an?\s)?$", "only available"),
    *("mindestens", "höchstens", "最高", "最低"),
    *(r"\bif\b", r"\bunless\b", r"\bcould\b", r"\bmight\b", r"\bmay\b", r"\bwere\b", r"\bhad\b"),
    *("would have", r"\balmost\b", "going to give", "wanted to", "tempted to", r"\bwenn\b"),
    *(r"\bfalls\b", r"\bsofern\b", r"^\W*(?:(?:wäre|hätte)n?|se)\b"),
    *(
        "könnte",
        r"\bsi\b",
        "pourrait",
        "podría",
        "poderia",
        "potrebbe",
        "если",
        "如果",
        "假如",
        "もし",
    ),
    *(r"\buser\b", r"\bhe\b", r"\bshe\b", r"\bthey\b", r"\bsome\b", r"\bothers\b"),
    *("critics?", "reviewers?", "readers?", r"\bauthors?\b", r"\bpeople\b", "instructions"),
    *("between", "more than", "less than", "up to"),
    *("higher than", "lower than", "better than", "worse than", r"\bexample\b"),
)
# After a number, these say when it would be the rating.
CONDITIONS = (
    *(r"(?:but only )?if\b", r"(?:unless|had|were|provided)\b", r"(?:falls|sofern)\b"),
    *(r"wenn\b(?! auch)", r"(?:wäre|hätte)n?\b", r"s[ei]\b", r"s['’]ils?\b", r"если\b", "如果"),
)
# Before a number, these replace an earlier rating by it, or would perhaps.
REVISIONS = (
    r"\b(?:(?:(?P<perhaps>I(?:['’]d| would))|(?:I|we|let me)(?:['’][lm]+)?(?: (?:now|will|must))?) "
    r"(?:chang|revis|correct|adjust|amend|lower|rais|reduc|increas|downgrad|upgrad)(?:e|ing)?"
    r"|(?:ändere|korrigiere|revidiere|senke|erhöhe|ich muss)(?: ich)?|je (?:change|corrige|révise)"
    r"|cambio|corrijo) (?:it|that|my|the|this|meine|ma|mi)\b(?: (?:initial|previous|earlier))?"
    r"(?P<of>[^.,;:\d\n]{0,40}?) (?:(?:down |up )?to|from|auf|à|pour|a|en) (?:an? |eine )?$",
    r"(?:评分|分数|得分|評分)(?:改为|改成|修正为|更正为|调整为|改為|調整為)$",
)
# Beside a rating's name, or before the sentence that states it, these do.
REVISED = (
    *(r"\b(?:up)?on (?:\w{3,9} )?(?:reflection|thoughts?|re-?reading)", r"\breconsidering"),
    *(r"\b(?:actually|wait|hmm+|correction|revised|updated|corrected|adjusted|amended)",),
    *(r"\b(?:korrigierte|revidierte|neue|korrektur|corrigée|révisée|corregida|revisada)",),
    *(r"\b(?:nach|après)(?: \w{3,15})? (?:überlegung|lesen|réflexion|relecture)",),
    *("修正[后後][的の]?", "更正", "訂正"),
)
NUMBER_WORDS = {
    word: number
    for words in (
        "zero one two three four five six seven eight nine ten",
        "null eins zwei drei vier fünf sechs sieben acht neun zehn",
        "zéro un deux trois quatre cinq six sept huit neuf dix",
        "cero uno dos tres cuatro cinco seis siete ocho nueve diez",
        "zero um dois três quatro cinco seis sete oito nove dez",
        "zero uno due tre quattro cinque sei sette otto nove dieci",
        "ноль один два три четыре пять шесть семь восемь девять десять",
        "صفر واحد اثنان ثلاثة أربعة خمسة ستة سبعة ثمانية تسعة عشرة",
        "零 一 二 三 四 五 六 七 八 九 十",
        "영 한 두 세 네 다섯 여섯 일곱 여덟 아홉 열",
    )
    for number, word in enumerate(words.split())
}
# Korean numbers that are also other words count only before this unit.
KOREAN_UNIT = r"(?=[^\S\n]?점)"
# Names of the paper's criteria in other languages and spellings.
SAME_CRITERIA = {
    "coherence": "coherency kohärenz cohérence coherencia coerenza coerência связность التماسك"
    " الترابط 连贯性 連貫性 一貫性 일관성",
    "fluency": "flüssigkeit fluidité fluidez fluidità fluência беглость الطلاقة 流畅性 流畅度"
    " 流暢性 流暢さ 유창성",
    "relevance": "relevancy relevanz pertinence relevancia rilevanza pertinenza relevância"
    " релевантность الصلة 相关性 相關性 関連性 관련성",
    "consistency": "konsistenz cohérence consistencia coerenza consistência согласованность"
    " الاتساق 一致性 一貫性 일치성",
}
REFUSALS = (
    *("I['’]?m sorry", "I am sorry", "sorry,", "I apologi[sz]e"),
    *("I (?:can(?:no|['’])t|won['’]t|am unable to|am not able to)",),
    *("cannot (?:rate|evaluate|assess|comply|help)", r"as an AI\b"),
    *("unable to (?:assist|comply|help|rate|evaluate)", "tut mir leid", "ich bedauere"),
    *(r"kann (?:ich |das |den |die |diesen |diese |dieses |hier |leider ){0,4}[^.\n]{0,40}nicht",),
    *("ich kann keine", r"als KI\b", r"je (?:suis|regrette)[^.\n]{0,10}désolée?"),
    *("je ne (?:peux|suis)", "lo siento", "no puedo", "desculpe", "não posso", "mi dispiace"),
    *("non posso", "я не могу", "к сожалению", "لا أستطيع", "لا يمكنني", "抱歉", "对不起"),
    *("對不起", "无法", "無法", "不能评", "作为(?:一个|一名)?(?:AI|人工智能)", "申し訳"),
    *("できません", "られません", "できかねます", "죄송", "수 없습니다"),
)
# Replies that ask for what is missing instead of answering.
REQUESTS = (
    *("please (?:provide|share|send|paste|give)", r"\byou\b[^?\n]{0,80}\?", "would you like me"),
    *("could you (?:please )?(?:provide|share|clarify)", "bitte (?:geben|senden|teilen)"),
    *("请提供", "請提供", "提供してください"),
)
