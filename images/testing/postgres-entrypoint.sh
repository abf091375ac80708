# Creates the database on the first start, then runs PostgreSQL.
set -eu
PATH=$(echo /usr/lib/postgresql/*/bin):$PATH
export PATH
as_postgres() { setpriv --reuid=postgres --regid=postgres --init-groups "$@"; }
chown postgres: "$PGDATA"
chmod 0700 "$PGDATA"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  password=$(mktemp)
  cat "$POSTGRES_PASSWORD_FILE" >"$password"
  chown postgres: "$password"
  as_postgres initdb --username="$POSTGRES_USER" --pwfile="$password" --auth=scram-sha-256 --auth-local=trust -E UTF8 >/dev/null
  rm "$password"
  echo "host all all all scram-sha-256" >>"$PGDATA/pg_hba.conf"
  as_postgres postgres --single -E postgres >/dev/null <<SQL
CREATE DATABASE "$POSTGRES_DB"
SQL
fi
exec setpriv --reuid=postgres --regid=postgres --init-groups postgres -c listen_addresses='*' -c unix_socket_directories=/tmp
