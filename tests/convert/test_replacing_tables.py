"""A replaced table on a server keeps its grants, indexes, comments and views; if this is impossible, an error names them."""

from __future__ import annotations

import threading
from typing import Any

import polars as pl
import pytest
import sqlalchemy as sa

from discreet.convert import read_source, write_target
from discreet.errors import SourceError
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

OLD = pl.DataFrame({"id": [1, 2], "town": ["Rome", "Oslo"], "pay": [10, 20]})
NEW = pl.DataFrame({"id": [3, 4, 5], "town": ["Lima", "Lima", None], "pay": [1, 2, 3]})


def engine(url: str) -> sa.Engine:
    driver = url.replace("postgresql:", "postgresql+psycopg:").replace("mysql:", "mysql+pymysql:")
    return sa.create_engine(driver, poolclass=sa.NullPool)


def run(url: str, *statements: str) -> None:
    with engine(url).begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


def rows(url: str, query: str) -> list[Any]:
    with engine(url).connect() as connection:
        return [tuple(row) for row in connection.exec_driver_sql(query)]


def write(frame: pl.DataFrame, url: str, **options: Any) -> None:
    write_target(Microdata(frame), url, **options)


def read(url: str) -> pl.DataFrame:
    return read_source(url, Policy()).frame


@pytest.fixture
def people(postgresql: str) -> str:
    run(
        postgresql,
        "DROP TABLE IF EXISTS people CASCADE",
        "DROP ROLE IF EXISTS reader",
        "DROP ROLE IF EXISTS holder",
        "CREATE ROLE reader",
        "CREATE ROLE holder",
    )
    write(OLD, f"{postgresql}#people")
    run(
        postgresql,
        "GRANT SELECT ON people TO reader",
        "GRANT UPDATE (pay) ON people TO reader",
        "COMMENT ON TABLE people IS 'who lives where'",
        "COMMENT ON COLUMN people.town IS 'where'",
        "CREATE INDEX by_town ON people (town)",
        "CREATE UNIQUE INDEX by_id ON people (id)",
        "ALTER TABLE people ENABLE ROW LEVEL SECURITY",
        "ALTER TABLE people FORCE ROW LEVEL SECURITY",
        "CREATE POLICY northern ON people USING (town = 'Oslo')",
        "CREATE VIEW towns AS SELECT town, count(*) AS n FROM people GROUP BY town",
        "GRANT SELECT ON towns TO reader",
        "CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.pay := 0; RETURN NEW; END'"
        if not rows(postgresql, "SELECT 1 FROM pg_proc WHERE proname = 'spoil'")
        else "SELECT 1",
        "CREATE TRIGGER spoils BEFORE INSERT ON people FOR EACH ROW EXECUTE FUNCTION spoil()",
        "ALTER TABLE people OWNER TO holder",
    )
    return postgresql


_TABLE_ID = "'people'::regclass"
PROPERTY_QUERIES = (
    "SELECT relacl::text, relrowsecurity, relforcerowsecurity, relowner::regrole::text FROM pg_class WHERE relname = 'people'",
    "SELECT obj_description(oid) FROM pg_class WHERE relname = 'people'",
    (
        f"SELECT attname, attacl::text FROM pg_attribute WHERE attrelid = {_TABLE_ID} "
        "AND attname IN ('town', 'pay', 'id') ORDER BY 1"
    ),
    f"SELECT col_description(attrelid, attnum) FROM pg_attribute WHERE attrelid = {_TABLE_ID} AND attname = 'town'",
    "SELECT relname, relacl::text FROM pg_class WHERE relname = 'towns'",
    "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'people' ORDER BY 1",
    "SELECT policyname, qual FROM pg_policies WHERE tablename = 'people'",
    f"SELECT tgname, tgenabled FROM pg_trigger WHERE tgrelid = {_TABLE_ID}",
)


def postgresql_properties(url: str) -> list[Any]:
    return [rows(url, query) for query in PROPERTY_QUERIES]


@pytest.mark.servers
def test_a_replaced_postgresql_table_keeps_all_its_properties(people: str) -> None:
    before = postgresql_properties(people)
    write(NEW, f"{people}#people")
    assert read(f"{people}#people").equals(NEW)  # no trigger changed a row, no policy kept one out
    assert postgresql_properties(people) == before
    assert sorted(rows(people, "SELECT coalesce(town, ''), n FROM towns")) == [("", 1), ("Lima", 2)]
    assert not rows(people, "SELECT relname FROM pg_class WHERE relname LIKE 'discreet%%'")
    assert "Rome" not in str(
        rows(people, "SELECT most_common_vals::text, histogram_bounds::text FROM pg_stats WHERE tablename = 'people'")
    )


@pytest.mark.servers
def test_columns_without_dependents_can_be_added_dropped_and_retyped(people: str) -> None:
    before = postgresql_properties(people)
    changed = NEW.with_columns(pl.lit("x").alias("more"), pl.lit(0.5).alias("rate"))
    write(changed, f"{people}#people")
    assert read(f"{people}#people").equals(changed)
    assert postgresql_properties(people) == before
    run(people, "ALTER TABLE people ADD COLUMN plain int, ALTER COLUMN rate TYPE text")
    write(changed, f"{people}#people")
    assert read(f"{people}#people").equals(changed)
    assert postgresql_properties(people) == before


@pytest.mark.servers
@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (
            NEW.drop("town"),
            r"index .*by_town needs the column 'town', which the new table does not have \(and 2 more\)",
        ),
        (NEW.drop("id"), r"index .*by_id needs the column 'id', which the new table does not have"),
        (NEW.with_columns(town=pl.lit(1.5)), r"policy northern on table people needs the column 'town', which is no longer text"),
    ],
)
def test_a_dependent_that_would_be_lost_is_an_error_unless_drop_dependents(
    people: str, frame: pl.DataFrame, message: str
) -> None:
    before = postgresql_properties(people)
    with pytest.raises(SourceError, match=message) as caught:
        write(frame, f"{people}#people")
    assert "--drop-dependents" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert read(f"{people}#people").equals(OLD)
    assert postgresql_properties(people) == before
    write(frame, f"{people}#people", drop_dependents=True)
    assert read(f"{people}#people").select(frame.columns).equals(frame)
    after = postgresql_properties(people)
    assert after[0] == before[0]
    assert ("town" in frame.columns and frame["town"].dtype == pl.String) == bool(after[4])


@pytest.mark.servers
def test_a_foreign_key_that_refers_to_the_rows_is_an_error_that_names_it(people: str) -> None:
    run(people, "ALTER TABLE people ADD UNIQUE (id)", "DROP TABLE IF EXISTS visits", "CREATE TABLE visits (who bigint)",
        "ALTER TABLE visits ADD CONSTRAINT of_whom FOREIGN KEY (who) REFERENCES people (id)")  # fmt: skip
    with pytest.raises(SourceError, match="foreign key of_whom of the table visits refers to its rows"):
        write(NEW, f"{people}#people")
    write(NEW, f"{people}#people", drop_dependents=True)
    assert read(f"{people}#people").equals(NEW)
    run(people, "DROP TABLE visits")


@pytest.mark.servers
def test_a_violated_constraint_is_an_error_unless_drop_dependents(people: str) -> None:
    run(people, "ALTER TABLE people ADD CONSTRAINT poor CHECK (pay < 100)", "ALTER TABLE people ALTER COLUMN pay SET NOT NULL")
    rich = NEW.with_columns(pay=pl.Series([1000, None, 1], dtype=pl.Int64))
    with pytest.raises(SourceError, match="cannot be written"):
        write(rich, f"{people}#people")
    assert read(f"{people}#people").equals(OLD)
    write(rich, f"{people}#people", drop_dependents=True)
    assert read(f"{people}#people").equals(rich)


@pytest.mark.servers
def test_a_column_type_that_a_view_needs_is_kept_if_the_values_fit(people: str) -> None:
    run(people, "DROP VIEW towns", "DROP POLICY northern ON people", "ALTER TABLE people ALTER COLUMN town TYPE varchar(20)",
        "CREATE VIEW towns AS SELECT town, id FROM people")  # fmt: skip
    write(NEW, f"{people}#people")
    assert rows(people, "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'people'::regclass "
                        "AND attname = 'town'") == [("character varying(20)",)]  # fmt: skip
    assert read(f"{people}#people").equals(NEW)
    with pytest.raises(SourceError, match="value too long"):
        write(NEW.with_columns(town=pl.lit("x" * 30)), f"{people}#people")
    assert read(f"{people}#people").equals(NEW)


@pytest.mark.servers
def test_a_concurrent_reader_always_sees_the_old_or_the_new_table(people: str) -> None:
    counts: list[int] = []
    failures: list[Exception] = []
    done = threading.Event()

    def count_rows() -> None:
        with engine(people).connect() as connection:
            while not done.is_set():
                try:
                    counts.append(connection.exec_driver_sql("SELECT count(*) FROM people").scalar())
                    connection.commit()
                except Exception as error:  # noqa: BLE001 - asserted by the test
                    failures.append(error)
                    return

    reader = threading.Thread(target=count_rows)
    reader.start()
    for number in range(6):
        write((OLD, NEW)[number % 2], f"{people}#people")
    done.set()
    reader.join()
    assert not failures
    assert set(counts) <= {2, 3}


@pytest.fixture
def citizens(mysql: str) -> str:
    run(mysql, "DROP VIEW IF EXISTS towns", "DROP TABLE IF EXISTS visits", "DROP TABLE IF EXISTS citizens",
        "CREATE TABLE citizens (id BIGINT NOT NULL PRIMARY KEY, town VARCHAR(20) COMMENT 'it''s where', "
        "pay BIGINT COMMENT 'a year') COMMENT 'who lives where' CHARACTER SET utf8mb4",
        "CREATE INDEX by_town ON citizens (town)",
        "INSERT INTO citizens VALUES (1, 'Rome', 10), (2, 'Oslo', 20)",
        "CREATE VIEW towns AS SELECT town, count(*) AS n FROM citizens GROUP BY town",
        "CREATE OR REPLACE USER reader@'%%'", "GRANT SELECT ON test_data.citizens TO reader@'%%'",
        "GRANT SELECT (pay) ON test_data.citizens TO reader@'%%'")  # fmt: skip
    return mysql


def mysql_properties(url: str) -> list[Any]:
    place = "TABLE_SCHEMA = 'test_data' AND TABLE_NAME = 'citizens'"
    return [
        rows(url, f"SELECT TABLE_COMMENT FROM information_schema.TABLES WHERE {place}"),
        rows(url, f"SELECT COLUMN_NAME, COLUMN_COMMENT FROM information_schema.COLUMNS WHERE {place} AND COLUMN_COMMENT <> ''"),
        rows(url, f"SELECT INDEX_NAME, COLUMN_NAME FROM information_schema.STATISTICS WHERE {place} ORDER BY 1, 2"),
        rows(url, f"SELECT GRANTEE, PRIVILEGE_TYPE FROM information_schema.TABLE_PRIVILEGES WHERE {place} ORDER BY 1, 2"),
        rows(url, f"SELECT GRANTEE, PRIVILEGE_TYPE FROM information_schema.COLUMN_PRIVILEGES WHERE {place} ORDER BY 1, 2"),
    ]


@pytest.mark.servers
def test_a_replaced_mysql_table_keeps_all_its_properties(citizens: str) -> None:
    before = mysql_properties(citizens)
    changed = NEW.with_columns(pl.lit("x").alias("more"), pay=pl.lit(0.5))
    for frame in (NEW, changed, NEW):
        write(frame, f"{citizens}#citizens")
        assert read(f"{citizens}#citizens").select(frame.columns).equals(frame)
        assert mysql_properties(citizens) == before
    assert sorted(rows(citizens, "SELECT coalesce(town, ''), n FROM towns")) == [("", 1), ("Lima", 2)]
    assert not rows(citizens, "SHOW TABLES LIKE 'discreet%%'")


@pytest.mark.servers
@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (NEW.drop("town"), r"index by_town needs the column 'town' as it was \(and 1 more\)"),
        (NEW.drop("id"), "index PRIMARY needs the column 'id' as it was"),
        (NEW.with_columns(town=pl.lit(1.5)), "index by_town needs the column 'town' as it was"),
    ],
)
def test_a_mysql_index_that_would_be_lost_is_an_error_unless_drop_dependents(
    citizens: str, frame: pl.DataFrame, message: str
) -> None:
    before = mysql_properties(citizens)
    with pytest.raises(SourceError, match=message):
        write(frame, f"{citizens}#citizens")
    assert read(f"{citizens}#citizens").equals(OLD)
    assert mysql_properties(citizens) == before
    write(frame, f"{citizens}#citizens", drop_dependents=True)
    assert read(f"{citizens}#citizens").select(frame.columns).equals(frame)
    assert mysql_properties(citizens)[3:] == before[3:]
    assert bool(rows(citizens, "SHOW TABLES LIKE 'towns'")) == ("town" in frame.columns)


@pytest.mark.servers
def test_triggers_foreign_keys_and_views_of_a_mysql_table_are_named_in_the_error(citizens: str) -> None:
    run(citizens, "CREATE TRIGGER spoils BEFORE INSERT ON citizens FOR EACH ROW SET NEW.pay = 0")
    with pytest.raises(SourceError, match="trigger spoils belongs to the old table"):
        write(NEW, f"{citizens}#citizens")
    run(citizens, "DROP TRIGGER spoils", "CREATE TABLE visits (who BIGINT, CONSTRAINT of_whom FOREIGN KEY (who) "
                  "REFERENCES citizens (id))")  # fmt: skip
    with pytest.raises(SourceError, match="foreign key of_whom of the table visits refers to its rows"):
        write(NEW, f"{citizens}#citizens")
    run(citizens, "DROP INDEX by_town ON citizens")
    with pytest.raises(SourceError, match="view towns needs the column 'town'"):
        write(NEW.drop("town"), f"{citizens}#citizens")
    write(NEW.drop("town"), f"{citizens}#citizens", drop_dependents=True)
    assert read(f"{citizens}#citizens").equals(NEW.drop("town"))
    assert not rows(citizens, "SHOW TABLES LIKE 'discreet%%'")


@pytest.mark.servers
def test_a_value_that_does_not_fit_an_existing_column_is_an_error_and_the_old_table_stays(citizens: str) -> None:
    with pytest.raises(SourceError, match="cannot be written"):
        write(NEW.with_columns(town=pl.lit("x" * 30)), f"{citizens}#citizens")
    assert read(f"{citizens}#citizens").equals(OLD)


@pytest.mark.servers
@pytest.mark.parametrize("server", ["postgresql", "mysql"])
def test_an_existing_table_of_a_server_needs_overwrite(request: pytest.FixtureRequest, server: str) -> None:
    url = f"{request.getfixturevalue(server)}#there"
    write(OLD, url)
    with pytest.raises(SourceError, match="#there exists; add --overwrite to replace it"):
        write(NEW, url, overwrite=False)
    assert read(url).equals(OLD)


@pytest.mark.servers
@pytest.mark.parametrize("server", ["postgresql", "mysql"])
def test_columns_without_dependents_get_the_order_of_the_data(request: pytest.FixtureRequest, server: str) -> None:
    url = f"{request.getfixturevalue(server)}#ordered"
    for columns in (["id", "town", "pay"], ["pay", "id", "town"], ["town", "id"], ["pay", "town", "id"]):
        write(NEW.select(columns), url)
        assert read(url).equals(NEW.select(columns))
