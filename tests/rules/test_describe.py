"""Cron in words: the whole expression, and each field's box."""

import pytest

from routines_app.rules.cron import compile_cron
from routines_app.rules.describe import describe, describe_crons, explain_fields, without_seconds

WORDS = [
    ("*/25 * * * *", "every hour at :00, :25 and :50; then only ten minutes to the next"),
    ("*/40 * * * *", "every hour at :00 and :40; then only twenty minutes to the next"),
    ("*/59 * * * *", "every hour at :00 and :59; then only one minute to the next"),
    ("*/15 * * * *", "every fifteen minutes"),
    ("* * * * *", "every minute"),
    ("* * * * * *", "every second"),
    ("*/30 * * * * *", "every thirty seconds"),
    ("10,20 * * * * *", "every minute, at 10 and 20 seconds"),
    ("* 0 9 * * *", "every day at nine in the morning, at every second"),
    ("5 * * * *", "every hour at :05"),
    ("*/15 8-17 * * 1-5", "every fifteen minutes from 8:00 to 17:45, on weekdays"),
    ("*/10 2 * * *", "every ten minutes from 2:00 to 2:50"),
    ("0 8-18 * * 1-5", "every hour from 8:00 to 18:00, on weekdays"),
    ("0 */4 * * *", "every four hours, from midnight"),
    ("5,25 8,10,14,15 * * *", "at :05 and :25 of the hours 8, 10, 14 and 15"),
    (
        "0 */5 * * *",
        "every day at midnight, five in the morning, ten in the morning, three in the afternoon "
        "and eight in the evening; then only four hours to the next",
    ),
    (
        "15 30 9 * * MON-FRI",
        "every weekday at half past nine and 15 seconds in the morning",
    ),
    ("15 40 9 * * *", "every day at 9:40:15"),
    (
        "0 9 13 * 5",
        "on the 13th of every month, and also every Friday, at nine in the morning. "
        "Cron means either, not both",
    ),
    (
        "0 0 */2 * MON",
        "on every other day from the 1st to the 31st of every month, when that is a Monday, "
        "at midnight",
    ),
    ("0 9 1,15 3,6 *", "on the 1st and the 15th of March and June at nine in the morning"),
    ("0 9 1-7 * *", "on the 1st to the 7th of every month at nine in the morning"),
    ("0 9 L * *", "on the last day of every month at nine in the morning"),
    ("0 9 L-3 2 *", "on the day three days before the last of February at nine in the morning"),
    ("0 9 LW * *", "on the last working day of every month at nine in the morning"),
    ("0 9 15W * *", "on the working day nearest to the 15th of every month at nine in the morning"),
    (
        "0 9 * * 1#1,5L",
        "on the first Monday and the last Friday of every month at nine in the morning",
    ),
    ("0 9 * 3 *", "every day in March at nine in the morning"),
    ("0 9 * APR-SEP 1", "every Monday in April to September at nine in the morning"),
    ("0 15 8 4 7 ? 2030", "on the 4th of July at quarter past eight in the morning in 2030"),
    ("0 0 8 1 1 * 2026-2099", "on the 1st of January at eight in the morning in 2026 to 2099"),
]


@pytest.mark.parametrize(("text", "words"), WORDS)
def test_an_expression_is_said_in_words(text: str, words: str) -> None:
    assert describe(compile_cron(text)) == words


def test_several_expressions_are_said_together() -> None:
    crons = [compile_cron("0 9 1 * 2-4"), compile_cron("0 8 * * 1-5")]
    assert describe_crons(crons).endswith("; and every weekday at eight in the morning")


def test_each_field_has_its_box() -> None:
    boxes = explain_fields(compile_cron("15 30 9 ? JAN MON-FRI"))
    assert [(box.field, box.text, box.words) for box in boxes] == [
        ("second", "15", "at 15 seconds"),
        ("minute", "30", "half past"),
        ("hour", "9", "nine"),
        ("day of the month", "?", "any day of the month"),
        ("month", "JAN", "January"),
        ("weekday", "MON-FRI", "Mon to Fri"),
    ]


@pytest.mark.parametrize(
    ("text", "index", "words"),
    [
        ("*/25 * * * *", 0, "at :00, :25 and :50"),
        ("30 1,13 * * 6,0", 1, "1 and 13"),
        ("30 8-17 * * 6,0", 1, "8 to 17"),
        ("30 */6 * * 6,0", 1, "every six hours"),
        ("30 1,13 * * 6,0", 4, "Sat and Sun"),
        ("0 9 * * 5L", 4, "the last Friday"),
        ("0 9 L,1 * *", 2, "the 1st and the last day"),
        ("0 0 9 * * * 2030,2031", 6, "2030 and 2031"),
        ("0 0 9 * * * *", 6, "any year"),
    ],
)
def test_a_box_says_what_its_field_means(text: str, index: int, words: str) -> None:
    assert explain_fields(compile_cron(text))[index].words == words


def test_six_fields_offer_the_five_without_seconds() -> None:
    assert without_seconds(compile_cron("15 30 9 * * MON-FRI")) == "30 9 * * MON-FRI"
    assert without_seconds(compile_cron("*/15 30 9 * * *")) is None
    assert without_seconds(compile_cron("30 9 * * *")) is None
