/** Serves a bare Fastify route that reads a session and its metrics by primary key and sends the rows. */
import type { AddressInfo } from 'node:net';
import { fastify } from 'fastify';
import pg from 'pg';

const [host, user, database] = process.argv.slice(2);
const pool = new pg.Pool({ host, user, database, port: 5432, max: 20 });
const text = `select sessions.*, to_json(session_metrics) as metrics from sessions
  left join session_metrics on session_metrics.session_id = sessions.id where sessions.id = $1`;
const app = fastify();
app.get<{ Params: { id: string } }>('/sessions/:id', async (request) => {
  return (await pool.query(text, [request.params.id])).rows[0];
});
await app.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`${(app.server.address() as AddressInfo).port}\n`);
