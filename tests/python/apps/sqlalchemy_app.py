"""A GROUP BY of SQLAlchemy; prints the answer, and which library gave it."""
import sqlalchemy as sa

engine = sa.create_engine("sqlite://")
sale = sa.Table("sale", sa.MetaData(), sa.Column("region", sa.Text), sa.Column("amount", sa.Integer))
with engine.begin() as connection:
    sale.metadata.create_all(connection)
    connection.execute(sale.insert(), [{"region": "nesw"[i % 4], "amount": i % 97} for i in range(20000)])
    query = sa.select(sale.c.region, sa.func.sum(sale.c.amount), sa.func.count()).group_by(sale.c.region).order_by(sale.c.region)
    print(connection.execute(query).fetchall())
    try:
        print("hp_version", connection.execute(sa.text("SELECT hp_version()")).scalar())
    except sa.exc.OperationalError:
        print("hp_version none")
