"""Puts into LangGraph's AsyncPostgresStore: each caller sends its next one when the last one is answered.

Reads one JSON object: callers, seconds, label, value. Writes one: seconds, micros (one number a put), stored.
libpq's variables say which database.
"""

import asyncio
import json
import sys
from time import perf_counter

from langgraph.store.postgres import AsyncPostgresStore

TENANTS = 64


async def caller(store, place, until, plan, micros):
    namespace = (f"bench-{place % TENANTS}", f"person-{place}")
    number = 0
    while (begun := perf_counter()) < until:
        await store.aput(namespace, f"{plan['label']}-{place}-{number}", plan["value"])
        micros.append(int((perf_counter() - begun) * 1e6))
        number += 1


async def main():
    plan = json.load(sys.stdin)
    micros = []
    async with AsyncPostgresStore.from_conn_string("") as store:
        await store.setup()
        begun = perf_counter()
        until = begun + plan["seconds"]
        places = range(plan["callers"])
        await asyncio.gather(*(caller(store, place, until, plan, micros) for place in places))
        took = perf_counter() - begun
        sql = "select count(*) as stored from store where key like %s"
        cursor = await store.conn.execute(sql, (plan["label"] + "-%",))
        stored = (await cursor.fetchone())["stored"]
    json.dump({"seconds": took, "micros": micros, "stored": stored}, sys.stdout)


asyncio.run(main())
