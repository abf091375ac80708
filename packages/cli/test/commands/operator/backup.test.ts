import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runProgram } from '../../run-program.ts';

const operatorToken = 'ab'.repeat(32);

/** Runs `operator backup` with an existing backup file, against a server with the request listener `answer`. */
async function backUp(answer: RequestListener) {
  const directory = await mkdtemp(join(tmpdir(), 'backup-'));
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.close();
    await rm(directory, { recursive: true });
  });
  await writeFile(join(directory, 'backup.tar'), 'earlier');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const outcome = await runProgram(['operator', 'backup', 'backup.tar', '--api-url', origin], {
    variables: { BOTCLI_OPERATOR_TOKEN: operatorToken },
    directory,
  });
  const files = await readdir(directory);
  return { ...outcome, files, content: await readFile(join(directory, 'backup.tar'), 'utf8') };
}

test.each<[string, RequestListener, string]>([
  [
    'ends the connection',
    (_, response) => response.write('x'.repeat(2_000), () => response.destroy()),
    'ended the backup before it was complete',
  ],
  ['sends no backup', (_, response) => response.end('hello'), 'not a bothost backup'],
  [
    'refuses the token',
    (_, response) => {
      response.statusCode = 401;
      response.end('{"error": "Not valid.", "code": "401", "reason": "key-invalid"}');
    },
    'does not accept the operator token',
  ],
])('backup keeps the existing backup file if the service %s', async (_, answer, message) => {
  const { status, stderr, files, content } = await backUp(answer);
  expect(stderr).toContain(message);
  expect({ status, files, content }).toEqual({ status: 1, files: ['backup.tar'], content: 'earlier' });
});

test('backup refuses to write an archive to a terminal', async () => {
  const { status, stderr } = await runProgram(['operator', 'backup', '-'], { terminal: true });
  expect(status).toBe(2);
  expect(stderr).toContain('cannot be written to a terminal');
});
