import pg from 'pg';
import { createClientConfig } from '../../src/store/address.ts';

/** Returns the rows of all tables as text. */
export async function dumpDatabase(address: Parameters<typeof createClientConfig>[0]): Promise<string> {
  const db = new pg.Client(createClientConfig(address));
  await db.connect();
  try {
    const tables = await db.query<{ name: string }>(
      `select quote_ident(relname) as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`,
    );
    const dumps: string[] = [];
    for (const { name } of tables.rows) {
      const { rows } = await db.query<{ row: string }>(`select t::text as row from ${name} t`);
      dumps.push(...rows.map(({ row }) => row));
    }
    return dumps.join('\n');
  } finally {
    await db.end();
  }
}
