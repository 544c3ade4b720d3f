"""Words of the pages: every one in every language, none in the code that no file has, none in no use."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest

from dealer.duplication.verdict import BoardState, Reason
from dealer.health import Trouble
from drivers.api import Action
from firmware_bridge.service.desk_view import ATTENTION_WORDS
from firmware_bridge.web.bundle import BundleError, bundle, declared_in, in_order, lean
from firmware_bridge.web.pages import PAGES, SCRIPTS, page_files, read_files, served_files
from firmware_bridge.web.words import chosen, read_words, words_for
from terminals.entry import CAUSES
from terminals.movement.happenings import KINDS
from terminals.settings import DEFAULT
from terminals.store.desk import DeviceState
from terminals.store.values import EventKind
from terminals.sync.sense import WARNINGS
from terminals.sync.tables import CellState

FILES = read_files()
LANGUAGES = sorted(name for name in FILES if name.startswith("messages/"))
ENGLISH = json.loads(FILES["messages/en.json"])
SCRIPT_FILES = sorted(name for name in FILES if name.endswith(".js"))
DESK = [name for name in SCRIPT_FILES if name.startswith("desk") or name in ("base.js", "charts.js")]
CODE = {name: re.sub(r"^\s*//.*$", "", FILES[name].decode(), flags=re.MULTILINE) for name in SCRIPT_FILES}


@pytest.mark.parametrize("name", LANGUAGES)
def test_a_language_has_every_word_with_the_same_places(name: str) -> None:
    words = json.loads(FILES[name])
    assert set(words) == set(ENGLISH)
    for key, text in words.items():
        assert text.strip(), key
        assert sorted(re.findall(r"\{\w+\}", text)) == sorted(re.findall(r"\{\w+\}", ENGLISH[key])), key


def asked_for(code: str) -> tuple[set[str], set[str]]:
    """Keys, and beginnings of keys, that a script asks for: t("key"), t(one ? "key" : "other"), t(`part.${name}`)."""
    keys, beginnings = set(), set()
    for at in (found.end() for found in re.finditer(r"(?<![\w.$])t\(", code)):
        depth, end = 1, at
        while depth and (depth > 1 or code[end] != ","):
            depth += (code[end] in "([{") - (code[end] in ")]}")
            end += 1
        argument = code[at:end]
        beginnings |= set(re.findall(r"`([\w.-]+)\$\{", argument))
        keys |= set(re.findall(r"""(?:^|[?:|]\s*)"([\w.'-]+)\"""", argument))
    beginnings |= {f"{one}." for one in re.findall(r"""\btold\(\s*"([\w-]+)\"""", code)}
    keys |= set(re.findall(r"""(?:label|key): "([\w.-]+)\"""", code))
    return keys, beginnings


@pytest.mark.parametrize("name", SCRIPT_FILES)
def test_every_word_that_a_script_asks_for_is_there(name: str) -> None:
    keys, beginnings = asked_for(CODE[name])
    assert keys <= set(ENGLISH), keys - set(ENGLISH)
    for start in beginnings:
        assert any(key.startswith(start) for key in ENGLISH), start


def test_every_word_is_asked_for_somewhere() -> None:
    whole = "\n".join([*CODE.values(), *(FILES[name].decode() for name in FILES if name.endswith(".html"))])
    literals = set(re.findall(r"""["'`{]([\w.'-]+)["'`}]""", whole)) | {"language-name"}
    beginnings = {start for code in CODE.values() for start in asked_for(code)[1]}
    beginnings |= set(re.findall(r"`([\w-]+[.-])\$\{", whole))
    beginnings |= {"said.", "heard."}  # sentences, see said() in base.js
    unused = {k for k in ENGLISH if k not in literals and not any(k.startswith(start) for start in beginnings)}
    assert unused == set()


def test_codes_of_the_service_have_words_in_every_language() -> None:
    wanted = {f"attention.{code}" for code in ATTENTION_WORDS} | {f"warning.{code}" for code in WARNINGS}
    wanted |= {f"cause.{code}" for code in CAUSES}
    wanted |= {f"setting.{name}" for name, value in DEFAULT.as_dict().items() if isinstance(value, bool)}
    wanted |= {f"why.{reason.value}" for reason in Reason} | {f"board-state.{state.value}" for state in BoardState}
    wanted |= {f"do.{action.name.lower()}" for action in Action if action} | {f"trouble.{one.value}" for one in Trouble}
    wanted |= {f"state.{state.value}" for state in CellState} | {f"event.{kind.value}" for kind in EventKind}
    wanted |= {f"device.{state.value}" for state in DeviceState} | {
        f"plan.{kind}" for kind in KINDS if kind != "undone"
    }
    assert wanted <= set(ENGLISH), wanted - set(ENGLISH)


TECHNICAL = {
    "Assigned",
    "Assigned (split)",
    "Not played",
    "AbortController",
    "BroadcastChannel",
    "Browser",
    "Content-Type",
    "DELETE",
    "Enter",
    "Escape",
    "Pass",
    "Space",
}


@pytest.mark.parametrize("name", SCRIPT_FILES)
def test_no_word_is_written_into_a_script(name: str) -> None:
    code = CODE[name]
    # A capital and small letters, or a sentence: that is for people to read, and belongs into the message files.
    literals = re.findall(r'"((?:[^"\\\n]|\\.)*)"', code) + re.findall(r"`([^`]*)`", code)
    read = [text for text in literals if re.match(r"[A-Z][a-z]+\b", text) and text not in TECHNICAL]
    read += [text for text in literals if re.search(r"[a-z]{2,} [a-z]{2,}.*[.?!:]$", text)]
    # Text that is a child of an element, or a label of one.
    read += re.findall(r"""h\("\w+", \{[^{}]*\}, "([A-Za-z]{3}[^"]*)\"""", code)
    read += re.findall(r"""(?:"aria-label"|title|placeholder): "([A-Za-z]{4}[^"]*)\"""", code)
    read += re.findall(r"""textContent = "([A-Za-z][^"]*)\"""", code)
    read = [text for text in read if not text.startswith(("xxxx-", "AVE", "Bearer "))]
    assert read == []


class _Texts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.code = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.code = tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self.code = False

    def handle_data(self, data: str) -> None:
        if not self.code and data.strip():
            self.found.append(data.strip())


def test_a_page_has_no_words_but_those_of_the_message_files() -> None:
    for page in set(PAGES.values()):
        texts = _Texts()
        texts.feed(FILES[page].decode())
        assert [text for text in texts.found if not re.fullmatch(r"\{\{[\w.-]+\}\}|…", text)] == [], page
    served = page_files(served_files())
    for (page, code), data in served.items():
        html = data.decode()
        assert "{{" not in html, page
        assert f'<html lang="{code}">' in html
        block = json.loads(html.partition('id="words">')[2].partition("</script>")[0])
        assert block["language"] == code
        for script in DESK if page == "desk.html" else in_order(FILES, page.replace(".html", ".js")):
            keys, beginnings = asked_for(CODE[script])
            assert keys <= set(block["words"]), (page, script)
            assert all(any(key.startswith(s) for key in block["words"]) for s in beginnings - {"error."}), page
    sentences = {code: "said.Boards stay." in words_for("desk.html", one) for code, one in read_words(FILES).items()}
    assert sentences == {"en": False, "pl": True}, "sentences by their English words are of no use in English"
    assert "Biurko sędziego" in served["desk.html", "pl"].decode()


@pytest.mark.parametrize(
    ("header", "wanted"),
    [
        ("pl", "pl"),
        ("pl-PL,pl;q=0.9,en;q=0.8", "pl"),
        ("en-GB,pl;q=0.4", "en"),
        ("de,fr;q=0.8", "en"),
        ("de,pl;q=0.3", "pl"),
        ("pl;q=0, en;q=0.1", "en"),
        ("", "en"),
        ("pl;q=x,en", "en"),
        (",;;=,q=1;" * 100, "en"),
    ],
)
def test_the_browser_chooses_the_language(header: str, wanted: str) -> None:
    assert chosen(header, read_words(FILES)) == wanted


def test_modules_are_joined_in_the_order_of_their_needs_and_names_that_meet_are_refused() -> None:
    files = {
        "a.js": b'import { b } from "./b.js";\nimport "./c.js";\nexport const a = b + 1;\n',
        "b.js": b'import { c } from "./c.js";\n// words\nexport function b() { return c; }\n',
        "c.js": b"export let c = 1;\n",
    }
    assert in_order(files, "a.js") == ["c.js", "b.js", "a.js"]
    whole = bundle(files, "a.js").decode()
    assert "import" not in whole
    assert "export" not in whole
    assert "//" not in whole
    assert whole.index("let c") < whole.index("function b") < whole.index("const a")
    assert declared_in(
        'export const a = 1, b = [1, { c: 2, d: f(g, 2) }], e = "x, y";\nlet i = null, j;\nasync function k(l, m) {\n'
        "  const n = 1, o = 2;\n}\nexport class P {}\nconst q = (r, s) => { const t = 1; }, u = `v, ${w}, x`;\n"
    ) == ["k", "P", "a", "b", "e", "i", "j", "q", "u"]
    for text in (
        b"const z = 1, a = 2;\n",
        b"export const a = 2;\n",
        b'import d from "./d.js";\n',
        b"export { c };\n",
        b"export default 3;\n",
        b"export const c = `over\ntwo lines`;\n",
    ):
        with pytest.raises(BundleError):
            bundle({**files, "c.js": text}, "a.js")
    assert lean("a.js", "  // words\nif (a) {\n    b(`  c`);\n}\n") == "if (a) {\nb(`  c`);\n}\n"
    for page in SCRIPTS:
        assert b"import " not in bundle(FILES, f"{page}.js")
