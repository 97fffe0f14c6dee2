import pytest

from isoglot.corpora.wiki.brackets import HIDDEN_NAMESPACES
from isoglot.corpora.wiki.markup import paragraphs

CASES: dict[str, tuple[str, ...]] = {
    "bold and italic type": ("'''Bold''' and ''italic'' and '''''both''''' type.", "Bold and italic and both type."),
    "an apostrophe before bold type": ("L''''arc''' et l''arc''.", "L'arc et larc."),
    "italic type that is left empty": ("full name ''{{transl|ar|x}}'' of ''<ref>a</ref>'' him", "full name of him"),
    "a link": ("A [[dog]] of [[Paris (France)|Paris]].", "A dog of Paris."),
    "a link trail": ("Two [[dog]]s and a [[Schaltgetriebe]]welle.", "Two dogs and a Schaltgetriebewelle."),
    "a title with a colon": ("[[2001: A Space Odyssey]] is a film.", "2001: A Space Odyssey is a film."),
    "the pipe trick": ("[[Boston (band)|]] of [[Boston, Lincolnshire|]].", "Boston of Boston."),
    "a link to a section": ("See [[#Rules]] and [[Game#Rules|its rules]].", "See Rules and its rules."),
    "type within a link": ("Read [[Optics|''Optics'']] now.", "Read Optics now."),
    "a label over two lines": ("A [[b|long\nlabel]] here.", "A long label here."),
    "a category": ("Text.[[Category:Cats|*]]\n[[Catégorie:Chats]][[Kategorie:Katzen]][[分类:猫]]", "Text."),
    "a link to a category": ("See [[:Category:Cats]] and [[:fr:Chat|the French]].", "See Cats and the French."),
    "interlanguage links": ("Text.\n[[fr:Chat]]\n[[zh-min-nan:Niau]]\n[[simple:Cat]]", "Text."),
    "a link to a sister project": ("The word [[wikt:cat]], [[s:fr:Chat|poem]].", "The word cat, poem."),
    "a picture": ("[[File:A.jpg|thumb|A [[cat]] and [[dog|dogs]]{{clear}}]]Text.", "Text."),
    "a picture in a caption": ("[[Image:A.jpg|A [[File:B.png|20px]] in [[C|it]]]]Text.", "Text."),
    "an external link in a caption": ("[[File:A.jpg|From [http://b.org C]]]Text [[d]]].", "Text d]."),
    "names of pictures in several languages": (
        "[[Fichier:a.jpg|vignette|Un [[chat]]]][[Datei:b.jpg|mini]][[Файл:c.jpg|мини|Кот]][[文件:d.jpg|缩略图]]Text.",
        "Text.",
    ),
    "names in any case and with spaces": ("[[ file :a.jpg]][[IMAGE:b.jpg]][[tập tin:c.jpg]]Text.", "Text."),
    "a template": ("A {{citation needed|date=May 2020}} claim.", "A claim."),
    "nested templates": ("{{a|{{b|{{c}}|[[d]]}}\n|e={{f}}\n}}Text.", "Text."),
    "a parameter and a function": ("{{{1|}}}{{#if:{{{x|}}}|y|{{z}}}}Text.", "Text."),
    "templates that show their text": (
        "{{lang|la|veni}}, {{nowrap|1=10 m}} or {{convert|5|km|mi}}; {{formatnum:1234}}.",
        "veni, 10 m or 5 km; 1234.",
    ),
    "a table": ('{| class="wikitable"\n! a !! b\n|-\n| [[c]] || {{d}}\n|}\nText.', "Text."),
    "a nested table": ("Text.\n:{|\n| a\n{|\n| b\n|}\n| c\n|}\nMore.", "Text.", "More."),
    "a table in a template": ("{{wide|\n{|\n| a\n|}}}Text.", "Text."),
    "a template that ends with an empty argument": ("{{box\n| a = b\n|}}Text.", "Text."),
    "a table in HTML": ("<table><tr><td>a<table><tr><td>b</td></tr></table></td></tr></table>Text.", "Text."),
    "references": (
        'One.<ref>A [[b]] {{c}}</ref> Two.<ref name="x" /> Three.<ref name=y>d</ref><REF>e</REF >',
        "One. Two. Three.",
    ),
    "a list of references": ('Text.\n<references>\n<ref name="a">b</ref>\n</references>', "Text."),
    "content that is no text": (
        "A<math>x<y</math>B<code>c</code>D<syntaxhighlight lang=c>a[[b]]</syntaxhighlight>"
        "E<timeline>f</timeline>G<score>h</score><gallery>\nFile:a.jpg|B\n</gallery>I",
        "ABDEGI",
    ),
    "text that nowiki protects": ("<nowiki>[[a]] {{b}} '''c''' &lt;d></nowiki>", "[[a]] {{b}} '''c''' <d>"),
    "a list mark that nowiki protects": ("<nowiki>*</nowiki> is a star", "* is a star"),
    "comments": ("A<!-- [[b]] <ref> -->B<!-- two\nlines -->C", "ABC"),
    "other tags": ('H<sub>2</sub>O <span style="x">is</span> <b>wet</b><br/>here', "H2O is wet here"),
    "blocks": ("<p>One.</p><blockquote>Two.</blockquote><div>Three.</div>", "One.", "Two.", "Three."),
    "headings and lists in HTML": ("<h2>Head</h2>Text.<ul><li>item</li></ul>More.", "Text.", "More."),
    "what only looks like a tag": ("x<y, a <bc> d", "x<y, a <bc> d"),
    "entities": ("10&nbsp;km &amp; &#x41;&#66; &lt;b&gt; AT&T &amp;nbsp; &eacute;", "10 km & AB <b> AT&T &nbsp; é"),
    "external links": (
        "[https://a.org The page], [//b.org Same], [mailto:c@d.e Mail], [http://a.org].",
        "The page, Same, Mail.",
    ),
    "bare addresses": ("See (http://a.org/b_(c)) or https://a.org/d. 网址http://a.org。", "See or. 网址。"),
    "headings": ("=One=\n== Two ==\nText = text.\n===Three=== \n", "Text = text."),
    "lists": ("Members:\n* a\n** b\n# c\n: d\n; e: f\nEnd.", "Members:", "End."),
    "a name that begins with a star": ("'''*NSYNC''' was a band.", "*NSYNC was a band."),
    "magic words": ("__NOTOC__Text__БЕЗ_ОГЛ__ of __init__", "Text of __init__"),
    "rules and indents": (" Indented.\n----\nText.\n----More.", "Indented.", "Text.", "More."),
    "brackets left empty": (
        "Moscow ({{lang-ru|Москва}}; {{IPA|x}}) is. Bo ({{IPA|y}}, born 1950 {{age}}) is ({{x}}; {{y}}, he).",
        "Moscow is. Bo (born 1950) is (he).",
    ),
    "commas left over": ("He {{x}}, {{y}}, {{z}}, came. So {{x}} .", "He, came. So."),
    "brackets of code": ("Call main() and a[].", "Call main() and a[]."),
    "lines without letters": ("{{x}}\n.\n—\n1914\n( ; )\nText.", "Text."),
    "other line breaks": ("One\u2028line &#10;or two\ttabs.", "One line", "or two tabs."),
    "no text": ("",),
    "templates of French": (
        "Du {{s-|XIX}}, né le {{date|26|février|1802}}{{Note|groupe=n}} à {{unité|10|km}} d'[[Ornans]]. {{1er}} tome.",
        "Du XIXe siècle, né le 26 février 1802 à 10 km d'Ornans. 1er tome.",
    ),
    "templates of Russian": (
        "'''Ле́на''' ({{lang-sah|Өлүөнэ}}) — [[река]]{{sfn|Иванов|2001}}, близ {{нп5|Город|города|en|City}}.",
        "Ле́на — река, близ города.",
    ),
    "variants of Chinese": (
        "'''快速連-{zh-hans:接;zh-hant:線}-'''（{{lang-en|QUIC}}，1950年）是"  # noqa: RUF001
        "-{zh-cn:计算机; zh-tw:電腦;}-[[网络|-{A|zh-tw:協定;\nzh-cn:协议}-]]。"
        "-{H|zh-cn:a;zh-tw:b}-名为-{原文}-和-{R|甲:乙}-的{{link-en|草案|Draft}}。",
        "快速連接（1950年）是计算机协议。名为原文和甲:乙的草案。",  # noqa: RUF001
    ),
    "an article": (
        "{{Infobox person\n| name = Ada\n| born = {{birth date|1815|12|10}}\n}}\n[[File:A.jpg|thumb|Ada in [[1840]]]]\n"
        "'''Ada''' ({{née|Byron}}; 10&nbsp;December 1815) was a [[mathematics|mathematician]].<ref>{{cite}}</ref>\n"
        "==Life==\n{{main|Life of Ada}}\nShe wrote ''[[Notes (1843)|Notes]]''.{{#tag:ref|In 1843.}}\n* [[One]]\n"
        '{| class="wikitable"\n! a !! b\n|-\n| c || d\n|}\n{{SORTIERUNG:Ada}}\n[[Category:A]]',
        "Ada (10 December 1815) was a mathematician.",
        "She wrote Notes.",
    ),
    "a template without end": ("{{Infobox\n| a = b\nText.\n\nMore.", "Infobox", "Text.", "More."),
    "a template without end before a heading": ("{{box\n== A ==\nText. {{b}} }}", "box", "Text."),
    "ends without a beginning": ("A }} b ]] c.\n|}\n</ref>Text.", "A b c.", "Text."),
    "a link without end": ("A [[b c [[d]] e.\n\nText.", "A b c d e.", "Text."),
    "a link that would end in another paragraph": ("[[File:a.jpg|b\n\nText.\n\nMore]] x.", "Text.", "More x."),
    "a link without end in a template": ("{{a|[[b}}Text.", "Text."),
    "a template without end in a link": ("[[File:a.jpg|{{b]]\nText {{c}}.", "Text."),
    "a table without end": ("{|\n| a\n== B ==\nText.", "Text."),
    "a reference without end": ("A.<ref>b [[c]]\nText.<ref>d</ref> More.<ref>e", "A.", "Text. More."),
    "a reference within a reference": ("A.<ref>b<ref name=c /> d</ref> Text.<ref name=e/ > More.", "A. Text. More."),
    "tags without end": ("A <ref name=b\nText.<nowiki>''c\nMore.", "A name=b", "Text.''c", "More."),
    "a comment without end": ("A <!-- b\nText.", "A", "Text."),
    "variants without end": ("A -{zh-hans:b;c", "A zh-hans:b;c"),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_markup_becomes_text_and_where_it_is_broken_loses_none_but_its_own(case: tuple[str, ...]) -> None:
    wikitext, *expected = case
    assert paragraphs(wikitext) == expected


def test_a_wiki_may_have_names_of_its_own() -> None:
    assert paragraphs("[[Bildo:a.jpg|b]]Text.") == ["bText."]
    assert paragraphs("[[Bildo:a.jpg|b]]Text.", hidden=HIDDEN_NAMESPACES | {"bildo"}) == ["Text."]
