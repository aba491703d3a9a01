"""Settings for Django's own tests: two databases of SQLite, and a runner that writes a line a test."""

from django.test.runner import DiscoverRunner

DATABASES = {name: {"ENGINE": "django.db.backends.sqlite3"} for name in ("default", "other")}
SECRET_KEY = "for tests"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
USE_TZ = False
TEST_RUNNER = "django_settings.Runner"


class Runner(DiscoverRunner):
    def get_resultclass(self):
        from results_unittest import Result

        return Result

    def suite_result(self, suite, result, **kwargs):
        import sqlite3

        from results_unittest import facts

        facts(result, sqlite3.connect(":memory:").execute("SELECT sqlite_source_id()").fetchone()[0])
        return super().suite_result(suite, result, **kwargs)
