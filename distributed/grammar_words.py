"""The words of the grammar corpus: who, does what, to what; and the sentence patterns, wrong beside right."""

from dataclasses import dataclass
from typing import Literal

Person = Literal["first", "third", "other"]


@dataclass(frozen=True)
class Subject:
    """Who: `first` takes am, `third` takes is and an s, `other` takes are."""

    text: str
    person: Person


@dataclass(frozen=True)
class Verb:
    """A verb's five forms, the past that a beginner invents for it, and the objects it goes with."""

    base: str
    third: str
    past: str
    participle: str
    ing: str
    regular: str
    objects: tuple[str, ...]


@dataclass(frozen=True)
class Template:
    """A wrong sentence and its correction, patterns over the forms. `tense` names what the correction teaches."""

    key: str
    tense: str
    wrong: str
    right: str


SUBJECTS = (
    Subject("i", "first"),
    *(
        Subject(text, "third")
        for text in ("he", "she", "tom", "anna", "the boy", "my sister", "our teacher", "the dog")
    ),
    *(Subject(text, "other") for text in ("you", "we", "they", "the girls", "my friends", "her parents")),
)

_VERBS = """
go goes went gone going goed: to school, home, to work, to the park, there
eat eats ate eaten eating eated: , apples, an apple, bread, the soup, breakfast
see sees saw seen seeing seed: the film, a bird, the sea, tom, it
take takes took taken taking taked: the bus, a photo, the book, a break, it
give gives gave given giving gived: a book to anna, it back, me a gift, us money
write writes wrote written writing writed: a letter, the book, a poem, to me
drive drives drove driven driving drived: a car, the bus, to work, home
drink drinks drank drunk drinking drinked: water, milk, the tea, some juice
sing sings sang sung singing singed: , a song, in the choir, to us
swim swims swam swum swimming swimmed: , in the sea, in the lake, every week
come comes came come coming comed: home, to school, here, to the party
run runs ran run running runned: , home, in the park, a race
buy buys bought bought buying buyed: bread, a car, apples, the tickets
bring brings brought brought bringing bringed: a gift, the book, some water, it here
think thinks thought thought thinking thinked: about it, of home, about school
teach teaches taught taught teaching teached: us, a class, music, my friend
catch catches caught caught catching catched: a fish, the ball, the bus
find finds found found finding finded: the key, a coin, it, the way
make makes made made making maked: a cake, the bed, some tea, a plan
build builds built built building builded: a house, the wall, a boat
send sends sent sent sending sended: a letter, an email, it home
lose loses lost lost losing losed: the key, the game, a coin, it
sleep sleeps slept slept sleeping sleeped: , at home, in the car, all day
keep keeps kept kept keeping keeped: the book, a dog, it here
leave leaves left left leaving leaved: home, the house, the party, it there
meet meets met met meeting meeted: us, a friend, the teacher, them there
sell sells sold sold selling selled: the car, apples, a house, books
tell tells told told telling telled: us, a story, the truth
read reads read read reading readed: , a book, the letter, a story
like likes liked liked liking liket: apples, the film, music, it here
play plays played played playing plaied: , music, football, in the park, with us
want wants wanted wanted wanting wantid: a dog, the book, some water, it
watch watches watched watched watching watchd: the film, birds, a game
walk walks walked walked walking walkt: , home, to school, in the park
cook cooks cooked cooked cooking cookt: , soup, the fish, at home
help helps helped helped helping helpt: us, anna, at home, the boy
"""


def _verb(line: str) -> Verb:
    forms, objects = line.split(":")
    base, third, past, participle, ing, regular = forms.split()
    return Verb(base, third, past, participle, ing, regular, tuple(text.strip() for text in objects.split(",")))


VERBS = tuple(_verb(line) for line in _VERBS.strip().splitlines())

TEMPLATES = (
    Template("invented past", "past", "{s} {regular} {o}", "{s} {past} {o}"),
    Template("invented past, yesterday", "past", "yesterday {s} {regular} {o}", "yesterday {s} {past} {o}"),
    Template("base for past", "past", "yesterday {s} {base} {o}", "yesterday {s} {past} {o}"),
    Template("third for past", "past", "last week {s} {third} {o}", "last week {s} {past} {o}"),
    Template("agreement", "present", "{s} {disagreeing} {o}", "{s} {present} {o}"),
    Template("agreement with always", "present", "{s} always {disagreeing} {o}", "{s} always {present} {o}"),
    Template("agreement, every day", "present", "every day {s} {disagreeing} {o}", "every day {s} {present} {o}"),
    Template("form in ing for habit", "present", "every day {s} {ing} {o}", "every day {s} {present} {o}"),
    Template("has for have, base", "perfect", "{s} {have_wrong} {base} {o}", "{s} {have} {participle} {o}"),
    Template(
        "has for have",
        "perfect",
        "{s} {have_wrong} already {participle} {o}",
        "{s} {have} already {participle} {o}",
    ),
    Template("base after have", "perfect", "{s} {have} just {base} {o}", "{s} {have} just {participle} {o}"),
    Template(
        "invented participle", "perfect", "{s} {have} never {regular} {o}", "{s} {have} never {participle} {o}"
    ),
    Template("dont for doesn't", "not now", "{s} {dont_wrong} {base} {o}", "{s} {dont} {base} {o}"),
    Template("bare not", "not now", "{s} not {base} {o}", "{s} {dont} {base} {o}"),
    Template("no apostrophe", "not now", "{s} {dont_bare} {base} {o}", "{s} {dont} {base} {o}"),
    Template("past after didnt", "not then", "{s} didnt {past} {o}", "{s} didn't {base} {o}"),
    Template("past after did not", "not then", "{s} did not {past} {o}", "{s} did not {base} {o}"),
    Template("is for are", "progressive", "{s} {be_wrong} {ing} {o}", "{s} {be} {ing} {o}"),
    Template("no be", "progressive", "{s} {ing} {o} now", "{s} {be} {ing} {o} now"),
    Template("base after be", "progressive", "{s} {be} {base} {o} now", "{s} {be} {ing} {o} now"),
    Template("third after will", "future", "{s} will {third} {o}", "{s} will {base} {o}"),
    Template("past for future", "future", "tomorrow {s} {past} {o}", "tomorrow {s} will {base} {o}"),
    Template("third after can", "modal", "{s} can {third} {o}", "{s} can {base} {o}"),
    Template("past after must", "modal", "{s} must {past} {o}", "{s} must {base} {o}"),
    Template("do for does", "question", "{do_wrong} {s} {base} {o}?", "{do} {s} {base} {o}?"),
    Template("past after did", "question", "did {s} {past} {o}?", "did {s} {base} {o}?"),
    Template("third after did", "question", "did {s} {third} {o}?", "did {s} {base} {o}?"),
    Template("right past", "past", "yesterday {s} {past} {o}", "yesterday {s} {past} {o}"),
    Template("right present", "present", "{s} {present} {o}", "{s} {present} {o}"),
    Template("right perfect", "perfect", "{s} {have} {participle} {o}", "{s} {have} {participle} {o}"),
    Template("right question", "question", "{do} {s} {base} {o}?", "{do} {s} {base} {o}?"),
)


def forms(subject: Subject, verb: Verb, thing: str) -> dict[str, str]:
    """Every field a template may name, for one subject, verb and object."""
    third = subject.person == "third"
    be = {"first": "am", "third": "is", "other": "are"}[subject.person]
    return {
        "s": subject.text,
        "o": thing,
        **{name: getattr(verb, name) for name in ("base", "third", "past", "participle", "ing", "regular")},
        "present": verb.third if third else verb.base,
        "disagreeing": verb.base if third else verb.third,
        "be": be,
        "be_wrong": "is" if be == "are" else "are",
        "have": "has" if third else "have",
        "have_wrong": "have" if third else "has",
        "do": "does" if third else "do",
        "do_wrong": "do" if third else "does",
        "dont": "doesn't" if third else "don't",
        "dont_wrong": "dont" if third else "doesnt",
        "dont_bare": "doesnt" if third else "dont",
    }
