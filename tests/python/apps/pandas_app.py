"""A GROUP BY whose answer pandas reads; prints it, and which library gave it."""
import sqlite3

import pandas as pd

connection = sqlite3.connect(":memory:")
pd.DataFrame({"region": ["nesw"[i % 4] for i in range(20000)], "amount": [i % 97 for i in range(20000)]}).to_sql("sale", connection)
print(pd.read_sql("SELECT region, sum(amount) s, count(*) n FROM sale GROUP BY region ORDER BY region", connection).values.tolist())
try:
    print("hp_version", pd.read_sql("SELECT hp_version() v", connection).v[0])
except pd.errors.DatabaseError:
    print("hp_version none")
