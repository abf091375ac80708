import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import { openTreeRemover } from '@bothost/runtime/remove-tree';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { createArchive } from '../../test/support/archive.ts';
import { createTestDatabaseRows } from '../../test/support/test-rows.ts';
import { newId } from '../store/uuid.ts';
import { createBuildDirectories } from './build-directories.ts';
import { createUploadReceiver } from './receive.ts';
import { requireUpload } from './upload-rows.ts';
import { signUploadToken } from './upload-token.ts';

it('rejects an upload with shutting-down if the server closes before the archive is verified, and keeps the archive', async () => {
  const rows = await createTestDatabaseRows();
  const folder = await mkdtemp(join(tmpdir(), 'bothost-uploads-'));
  onTestFinished(async () => {
    await rows.close();
    await rm(folder, { recursive: true, force: true });
  });
  const bytes = createArchive({ path: 'index.js', body: 'x' });
  const removeTree = openTreeRemover({
    quarantineDirectory: join(folder, 'quarantine'),
    logger: pino({ level: 'silent' }),
  });
  const closing = new AbortController();
  const context = {
    db: rows.db,
    now: () => new Date(),
    host: { region: 'us-west' },
    directories: await createBuildDirectories(folder, removeTree),
    uploadTokenKey: Buffer.alloc(32),
    disk: { require: () => undefined },
  };
  const upload = await requireUpload(rows.db, {
    id: newId(),
    organization_id: await rows.organization(),
    region: 'us-west',
    announced: true,
    state: 'open',
    content_hash: createHash('sha256').update(gunzipSync(bytes)).digest('hex'),
    context_hash: null,
    size_bytes: bytes.length,
    created_at: new Date(),
    updated_at: new Date(),
  });
  const token = signUploadToken(context.uploadTokenKey, upload.id, new Date(Date.now() + 60_000));
  const append = createUploadReceiver({ ...context, closing: closing.signal }).append(
    upload.id,
    token,
    0,
    Readable.from([bytes]),
  );
  closing.abort();
  await expect(append).rejects.toMatchObject({ reason: 'shutting-down' });
  const receiver = createUploadReceiver({ ...context, closing: new AbortController().signal });
  expect(await receiver.readProgress(upload.id, token)).toMatchObject({ receivedBytes: bytes.length, complete: true });
});
