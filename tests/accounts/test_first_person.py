"""Where only the first person may sign up, two at the same instant are one."""

import threading

import pytest
from django.db import connection
from django.test import Client

from accounts.models import User


@pytest.mark.django_db(transaction=True)
def test_two_who_sign_up_at_the_same_instant_are_one_owner() -> None:
    start = threading.Barrier(4)

    def sign_up(number: int) -> None:
        try:
            client = Client()
            start.wait()
            client.post(
                "/accounts/signup/",
                {
                    "name": f"Person {number}",
                    "email": f"person{number}@example.org",
                    "password1": "correct horse battery",
                },
            )
        finally:
            connection.close()

    threads = [threading.Thread(target=sign_up, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert User.objects.count() == 1
    assert User.objects.get().workspaces.count() == 1
