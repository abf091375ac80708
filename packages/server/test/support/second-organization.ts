import { hashDirectory } from '@bothost/runtime/directory-hash';
import { createAgentFromProjectDirectory } from '../../src/agents/from-directory.ts';
import { createApiKey } from '../../src/organizations/keys.ts';
import type { DatabaseAddress } from '../../src/store/address.ts';
import { newId } from '../../src/store/uuid.ts';
import { openTestConnections } from './test-database.ts';

export type SecondOrganization = {
  readonly name: string;
  readonly privateKey: string;
  readonly publicKey: string;
  /** Creates an agent of this organization from the bot in a directory. The reconciler starts the agent within a second. */
  readonly serve: (path: string) => Promise<void>;
  readonly close: () => Promise<void>;
};

/** Inserts another organization of the same service into the database, with keys but without members. */
export async function insertSecondOrganization(
  service: { readonly database: { readonly address: DatabaseAddress } },
  name = 'neighbours',
): Promise<SecondOrganization> {
  const db = await openTestConnections(service.database);
  const now = () => new Date();
  const maxConversationLevel = 'transcript' as const;
  const context = { db, now, newId, hashDirectory, maxConversationLevel };
  const organizationId = newId();
  const region = 'us-west';
  const row = { id: organizationId, name, verbose_name: name, default_region: region, created_at: now() };
  await db.insertInto('organizations').values(row).execute();
  const key = async (kind: 'private' | 'public') =>
    (await createApiKey(context, { organizationId }, { kind, name: 'second' })).key;
  return {
    name,
    privateKey: await key('private'),
    publicKey: await key('public'),
    serve: async (path) => void (await createAgentFromProjectDirectory(context, organizationId, region, path)),
    close: () => db.destroy(),
  };
}
