"""A GROUP BY of Django's ORM; prints the answer, and which library gave it."""
import django
from django.conf import settings

settings.configure(
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}, DEFAULT_AUTO_FIELD="django.db.models.AutoField"
)
django.setup()
from django.db import connection, models  # noqa: E402


class Sale(models.Model):
    region = models.TextField()
    amount = models.IntegerField()

    class Meta:
        app_label = "shop"


with connection.schema_editor() as editor:
    editor.create_model(Sale)
Sale.objects.bulk_create(Sale(region="nesw"[i % 4], amount=i % 97) for i in range(20000))
print(list(Sale.objects.values_list("region").annotate(models.Sum("amount"), models.Count("id")).order_by("region")))
with connection.cursor() as cursor:
    try:
        print("hp_version", cursor.execute("SELECT hp_version()").fetchone()[0])
    except django.db.OperationalError:
        print("hp_version none")
